//! An engine that is killed with -9 at random moments while an agent saves, renames and removes units and templates:
//! no half file, rows and files agree after the next start, and what was answered is all there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use db::file_versions;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::client::{Line, TestRequest};
use crate::kill::start;
use crate::test_store::{Base, PASSWORD, TestStore};

/// How often the engine is killed.
const KILLS: u32 = 50;

/// What an agent does; units are chosen among those that are there.
#[derive(Clone, Debug)]
enum Step {
    Add,
    Code(usize),
    Template(usize),
    Rename(usize),
    Remove(usize),
}

fn steps() -> impl Strategy<Value = Step> {
    let unit = 0..100_usize;
    prop_oneof![
        1 => Just(Step::Add),
        4 => unit.clone().prop_map(Step::Code),
        4 => unit.clone().prop_map(Step::Template),
        2 => unit.clone().prop_map(Step::Rename),
        1 => unit.prop_map(Step::Remove),
    ]
}

/// Units with their code and template, as they must be.
type Model = BTreeMap<String, (String, String)>;

/// What a step is called and does; `None` where there is nothing to do it to.
fn call(step: &Step, count: usize, model: &Model) -> Option<(&'static str, Value, Model)> {
    let mut then = model.clone();
    let chosen = |at: &usize| model.keys().nth(at % model.len().max(1)).cloned();
    // Long enough that half of it would be seen.
    let filler = "x".repeat(20_000);
    let path = |name: &str| format!("units/{name}.js");
    let template = |name: &str| format!("templates/default/units/{name}/main.htm");
    Some(match step {
        Step::Add => {
            let name = format!("shop_u{count}");
            let params = json!({"path": path(&name)});
            then.insert(name, (String::new(), String::new()));
            ("engine_unit_add", params, then)
        }
        Step::Code(at) => {
            let name = chosen(at)?;
            let code = format!("export const n{count} = '{filler}';\n");
            let params = json!({"path": path(&name), "content": code});
            then.get_mut(&name)?.0 = code;
            ("engine_unit_save", params, then)
        }
        Step::Template(at) => {
            let name = chosen(at)?;
            let text = format!("<p>{count}</p>{filler}");
            let params = json!({"path": template(&name), "content": text});
            then.get_mut(&name)?.1 = text;
            ("engine_html_save", params, then)
        }
        Step::Rename(at) => {
            let name = chosen(at)?;
            let new = format!("shop_r{count}");
            let params = json!({"path": path(&name), "new_path": path(&new)});
            let files = then.remove(&name)?;
            then.insert(new, files);
            ("engine_unit_rename", params, then)
        }
        Step::Remove(at) => {
            let name = chosen(at)?;
            then.remove(&name);
            ("engine_unit_remove", json!({"path": path(&name)}), then)
        }
    })
}

/// Units as they lie on the disk.
fn on_disk(root: &Path) -> Model {
    let mut model = Model::new();
    for entry in fs::read_dir(root.join("units")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = file.strip_suffix(".js").filter(|name| name.starts_with("shop_")) else { continue };
        let template = root.join("templates/default/units").join(name).join("main.htm");
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        model.insert(name.to_owned(), (text(root.join("units").join(&file)), text(template)));
    }
    model
}

/// Every file is what its newest row says.
fn rows_and_files_agree(store: &TestStore) {
    for version in store.db.read(file_versions::newest_of_all).unwrap() {
        let there = fs::read(store.root().join(&version.path)).ok();
        let hash = there.map(|bytes| blake3::hash(&bytes).to_hex().to_string());
        assert_eq!(hash, version.hash, "{}", version.path);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_saved_before_a_kill_is_whole() {
    let mut store = TestStore::on(Base::Sqlite).await.unwrap();
    store.stop().await;
    let mut random = TestRunner::deterministic();
    let (mut model, mut count, mut answered, mut cut) = (Model::new(), 0, 0, 0);
    for kill in 0..KILLS {
        let (child, port) = start(&store);
        let mut line = Line::to(("127.0.0.1", port)).await;
        rows_and_files_agree(&store);
        let signed = line.send(&TestRequest::sign_in("admin", PASSWORD).bytes()).await.result().unwrap();
        let delay = (1_000..250_000_u64).new_tree(&mut random).unwrap().current();
        let (first, began) = tokio::sync::oneshot::channel();
        let mut first = Some(first);
        let killing = tokio::spawn(async move {
            let mut child = child;
            began.await.unwrap();
            // The moment after the first answer is random; what is to be seen does not depend on it.
            tokio::time::sleep(Duration::from_micros(delay)).await;
            child.kill().unwrap();
            child.wait().unwrap();
        });
        let mut under_way = model.clone();
        loop {
            count += 1;
            let step = steps().new_tree(&mut random).unwrap().current();
            let Some((tool, params, then)) = call(&step, count, &model) else { continue };
            let request = TestRequest::tool(tool, params).with("session", signed["ticket"].clone());
            under_way.clone_from(&then);
            let Some(answer) = line.try_send(&request.bytes()).await else { break };
            answer.result().unwrap();
            answered += 1;
            model = then;
            if let Some(first) = first.take() {
                first.send(()).unwrap();
            }
        }
        killing.await.unwrap();
        let (mut child, _) = start(&store);
        rows_and_files_agree(&store);
        let there = on_disk(store.root());
        assert!(there == model || there == under_way, "kill {kill}: neither before nor after the last call");
        cut += u32::from(there != model);
        model = there;
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(answered >= KILLS, "{answered} calls were answered");
    println!("{answered} calls answered, {cut} done and not answered");
}
