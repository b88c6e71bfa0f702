//! The store's own tools: the documentation's example, the principal's grant, long pools.

use std::path::Path;

use serde_json::{Value, json};
use testkit::{Client, TestStore};

use crate::setup::store;

/// The first code block of a language behind a place of a page.
fn block<'a>(page: &'a str, after: &str, language: &str) -> &'a str {
    let (_, rest) = page.split_once(after).unwrap();
    let (_, rest) = rest.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("\n```").unwrap().0
}

fn ready(store: &TestStore<'_>, login: &str) -> (testkit::Trying, Client) {
    store.store_command("grant", &["--login", login, "AGENT_TOOL_RUN"]).unwrap();
    let trying = store.start(login).unwrap();
    let mut client = trying.connected().unwrap();
    client.read_critical_notes().unwrap();
    client.accept_rules("tool_list", json!({})).unwrap();
    (trying, client)
}

#[test]
fn the_example_of_the_documentation_works_and_its_tool_is_seen_at_once() {
    let store = store();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ai-tools.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_trying, mut client) = ready(&store, "irina");
    let before = client.done("tool_list", json!({})).unwrap();
    assert!(!before.to_string().contains("BRAND_NAMES"), "{before}");

    for (file, language) in [("units/brand_names.json", "json"), ("units/brand_names.js", "js")] {
        let content = block(&page, &format!("`{file}`"), language);
        std::fs::write(store.root().join(file), content).unwrap();
    }
    store.sql(block(&page, "The rows of the registry", "sql")).unwrap();
    let after = client.done("tool_list", json!({})).unwrap();
    let rows = after["tools"]["rows"].as_array().unwrap().clone();
    let row = rows.iter().find(|row| row[0] == "BRAND_NAMES").unwrap().clone();
    assert_eq!((&row[3], &row[4]), (&json!(["CmdLetters", "CmdRename"]), &json!([])));

    let call: Value = serde_json::from_str(block(&page, "may now call", "json")).unwrap();
    let name = store.cell("select name from brands where id = 1").unwrap();
    let done = client.done("tool_run", call).unwrap();
    assert_eq!(done["detail"]["before"], json!(name));
    assert_eq!(store.cell("select name from brands where id = 1").unwrap(), "Old Harbour");

    let letters = json!({"unit": "BRAND_NAMES", "command": "CmdLetters"});
    let done = client.done("tool_run", letters).unwrap();
    let table = &done["tables"]["letters"];
    assert_eq!(table["rows"], done["detail"]["letters"]);
    let lines = std::fs::read_to_string(table["file"].as_str().unwrap()).unwrap();
    let brands: u64 = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["brands"].as_u64().unwrap())
        .sum();
    assert_eq!(brands.to_string(), store.cell("select count(*) from brands").unwrap());

    // A command that is taken away is closed with the next call.
    store.sql("delete from ai_grants").unwrap();
    let refused = client.call("tool_run", json!({"unit": "BRAND_NAMES", "command": "CmdLetters"})).unwrap();
    assert!(refused.refused() && refused.data()["result"] == json!(false), "{}", refused.text());
    assert!(refused.text().contains("not granted to you"), "{}", refused.text());
}

#[test]
fn a_command_that_only_the_principal_has_runs_and_says_so() {
    let store = store();
    // The second event of the sample is for managers and names the owner, who has every command.
    store.sql("delete from ai_grants").unwrap();
    store.store_command("grant", &["--login", "irina", "AGENT_TOOL_RUN"]).unwrap();
    let trying = store.start("irina").unwrap();
    let call = json!({"unit": "PRODUCTS", "command": "CmdList", "params": {"limit": 1}});
    let mut command = trying.mcp_command();
    command.env("SHOPWRIGHT_EVENT", "2");
    let mut launched = Client::open(&mut command, "2025-11-25").unwrap();
    launched.done("session_connect", json!({})).unwrap();
    launched.read_critical_notes().unwrap();
    launched.accept_rules("tool_list", json!({})).unwrap();
    let list = launched.done("tool_list", json!({})).unwrap();
    let rows = list["tools"]["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row[3] == json!([]) && row[4] != json!([])), "{list}");
    assert_eq!(launched.done("tool_run", call.clone()).unwrap()["by"], json!("princ"));

    // An event for somebody else lends nothing.
    store.sql("update events set to_group = null, to_user = (select id from users where login = 'oleg') where id = 2").unwrap();
    let refused = launched.call("tool_run", call.clone()).unwrap();
    assert!(refused.text().contains("not granted to you"), "{}", refused.text());

    let mut ordinary = trying.connected().unwrap();
    ordinary.read_critical_notes().unwrap();
    ordinary.accept_rules("tool_list", json!({})).unwrap();
    let refused = ordinary.call("tool_run", call).unwrap();
    assert!(refused.text().contains("not granted to you"), "{}", refused.text());
}

#[test]
fn a_pool_takes_a_thousand_steps_and_not_one_more() {
    let store = store();
    let (_trying, mut client) = ready(&store, "irina");
    let step = |price: u32| {
        let price = format!("{price}.00");
        json!({"unit": "PRICES", "command": "CmdSet", "params": {"variant": 1, "price": price}})
    };
    let mut steps: Vec<Value> = (1..=1001).map(step).collect();
    let before = store.dump(&[]).unwrap();
    let text = client.refused("tool_pool", json!({"pool": steps})).unwrap();
    assert!(text.starts_with("A pool has at most 1000 steps, and this one has 1001"), "{text}");
    assert_eq!(store.dump(&[]).unwrap(), before);

    // A step takes 25 ms on PostgreSQL: a thousand of them would come near the time limit of a call on a busy machine.
    let is_postgres = std::env::var("TEST_ON").is_ok_and(|on| on == "postgres");
    let most = if is_postgres { 300 } else { 1000 };
    steps.drain(..steps.len() - most);
    steps[most - 1] = step(1000);
    let done = client.done("tool_pool", json!({"pool": steps})).unwrap();
    assert_eq!((&done["result"], done["steps"].as_array().unwrap().len()), (&json!(true), most));
    let price = "select amount from prices where variant_id = 1 and valid_from is null order by min_quantity";
    assert_eq!(store.cell(price).unwrap(), "100000");

    // The last step fails: those before it are gone too.
    steps.drain(..most - 100);
    steps[99] = json!({"unit": "PRODUCTS", "command": "CmdCard", "params": {"id": 999_999}});
    steps[98] = step(5);
    let stopped = client.call("tool_pool", json!({"pool": steps})).unwrap();
    assert!(stopped.refused() && stopped.data()["result"] == json!(false), "{}", stopped.text());
    assert_eq!(store.cell(price).unwrap(), "100000");
}
