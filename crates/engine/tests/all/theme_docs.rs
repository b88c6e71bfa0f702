//! Every example of `docs/theme.md`, laid over the sample store's own units and templates.

use std::path::Path;

use db::rows;
use serde_json::Value;

use crate::client::get;
use crate::goods::{fill, lay_files, write};
use crate::test_store::{Base, NOON, TestStore};
use crate::units::{log, put};

/// A store with goods and a page of text.
async fn store() -> TestStore {
    let store = TestStore::on(Base::Sqlite).await.unwrap();
    lay_files(&store);
    fill(&store);
    write(&store, |tx| {
        let page: [(&str, db::Value); 4] = [
            ("skey", "about".into()),
            ("name", "About us".into()),
            ("text", "<p>We forge.</p>".into()),
            ("state", "kShown".into()),
        ];
        let id = rows::insert(tx, "pages", &page)?;
        db::slugs::set(tx, "pages", id, "en", "about", NOON.parse().unwrap())
    });
    store
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_example_of_the_theme_does_what_it_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/theme.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut lines = page.lines();
    let mut current = store().await;
    let mut shown = 0;
    while let Some(line) = lines.next() {
        if line.starts_with("## ") {
            current = store().await;
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match info.split_once(' ') {
            Some(("contains", asked)) => {
                let path = asked.strip_prefix("GET ").unwrap();
                let answer = get(&current, path, "").await;
                let text = answer.text();
                assert_eq!(answer.status, 200, "{path}: {text} {:?}", log(&current));
                for part in block {
                    assert!(text.contains(part), "{path}: {part}: {text} {:?}", log(&current));
                }
                assert_eq!(log(&current), [] as [Value; 0], "{path}");
                shown += 1;
            }
            Some((_, path)) => put(&current, path, &block.join("\n")),
            None => panic!("a block that is no example: {info}"),
        }
    }
    assert!(shown >= 4, "{shown} examples");
}
