//! Nodes that start at once, and what one tells the other.

use std::collections::BTreeSet;

use serde_json::json;
use testkit::{Client, PATIENCE, Running, TestStore, TryOptions, Trying, get, run, wait_for};

use crate::setup::{Nodes, ask, fixture, ticket};

#[test]
fn ten_nodes_start_at_once_on_an_empty_database_and_one_migrates() {
    let Some(fixture) = fixture() else { return };
    let url = fixture.empty_database().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let nodes: Vec<Running> = (0..10)
        .map(|number| {
            let root = folder.path().join(number.to_string());
            std::fs::create_dir(&root).unwrap();
            let config = json!({"name": "Ten", "listen": "127.0.0.1:0", "database": url});
            std::fs::write(root.join("config.json"), config.to_string()).unwrap();
            Running::start(fixture.command().args(["serve", "--root"]).arg(root)).unwrap()
        })
        .collect();
    let mut migrated = 0;
    for node in &nodes {
        let line = node.line(PATIENCE).unwrap();
        let line =
            String::from_utf8(line.unwrap_or_else(|| panic!("a node ended: {}", node.errors()))).unwrap();
        let address = line.split_whitespace().last().unwrap();
        assert_eq!(get(&format!("{address}/core/ready")).unwrap().status, 200);
        let said = node.errors();
        assert!(!said.contains("WARN") && !said.contains("ERROR"), "{said}");
        migrated += usize::from(said.contains("Migrating the database"));
    }
    assert_eq!(migrated, 1);
    drop(nodes);
    fixture.drop_database(&url);
}

#[test]
fn a_table_in_work_on_one_node_is_in_work_on_the_other() {
    let Some(fixture) = fixture() else { return };
    let store = TestStore::new(fixture).unwrap();
    let nodes = Nodes::start(&store).unwrap();
    let [a, b] = [&nodes.nodes[0].url, &nodes.nodes[1].url];
    let password = &store.people().unwrap()["admin"];
    let program = ticket(a, "PROGRAM_SIGN_IN", "admin", password).unwrap();
    let take = json!({"tables": ["notes"], "what": "Spring prices", "seconds": 60});
    let taken = ask(a, &program, "PROGRAM_LEASE_TAKE", &take).unwrap();
    assert_eq!(taken["ok"], json!(true), "{taken}");
    // An MCP server that knows the other node only.
    store.move_to("admin", b).unwrap();
    let mut client = Client::open(&mut store.mcp_command(), "2025-11-25").unwrap();
    client.connect("leases").unwrap();
    let text = client.refused("memory_save", json!({"name": "x"})).unwrap();
    assert_eq!(testkit::transcript::refusal_name(&text), Some("table_in_work"), "{text}");
    assert!(text.contains("Spring prices"), "{text}");
    client.accept_rules("engine_db_locks", json!({})).unwrap();
    let locks = client.done("engine_db_locks", json!({})).unwrap();
    assert!(locks.to_string().contains("Spring prices"), "{locks}");
    // Freed at the other node, it is free here.
    client.done("engine_db_unlocks", json!({"tables": ["notes"]})).unwrap();
    let renew = json!({"tables": ["notes"], "holder": taken["data"]["holder"], "seconds": 60});
    let renewed = ask(a, &program, "PROGRAM_LEASE_RENEW", &renew).unwrap();
    assert_eq!(renewed["data"]["tables"], json!([]), "{renewed}");
    client.done("memory_save", json!({"name": "x"})).unwrap();
}

#[test]
fn a_ticket_a_block_and_a_right_are_the_same_on_both_nodes() {
    let Some(fixture) = fixture() else { return };
    let store = TestStore::new(fixture).unwrap();
    let nodes = Nodes::start(&store).unwrap();
    let [a, b] = [&nodes.nodes[0].url, &nodes.nodes[1].url];
    let password = &store.people().unwrap()["irina"];
    let irina = ticket(a, "AGENT_SESSION_CONNECT", "irina", password).unwrap();
    let list = |url: &str| ask(url, &irina, "AGENT_MEMORY_LIST", &json!({})).unwrap();
    assert_eq!(list(a)["data"], list(b)["data"]);
    store.store_command("revoke", &["--group", "MANAGER", "AGENT_MEMORY_LIST"]).unwrap();
    let denied: BTreeSet<String> = [a, b].map(|url| list(url)["error"].to_string()).into();
    assert_eq!(denied, BTreeSet::from(["\"ACCESS_DENIED\"".to_owned()]));
    store.store_command("grant", &["--group", "MANAGER", "AGENT_MEMORY_LIST"]).unwrap();
    assert_eq!([list(a)["ok"].clone(), list(b)["ok"].clone()], [json!(true), json!(true)]);
    store.store_command("block", &["--login", "irina"]).unwrap();
    let denied: BTreeSet<String> = [a, b].map(|url| list(url)["error"].to_string()).into();
    assert_eq!(denied, BTreeSet::from(["\"ACCESS_DENIED\"".to_owned()]));
}

#[test]
fn try_takes_a_database_of_postgresql_and_finds_it_again() {
    let Some(fixture) = fixture() else { return };
    let url = fixture.empty_database().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let with = |url: &str| TryOptions {
        arguments: vec!["--database".to_owned(), url.to_owned()],
        ..TryOptions::login("irina")
    };
    let mut trying = Trying::start(fixture.binary(), folder.path(), &with(&url)).unwrap();
    let saved = trying.connected().unwrap().done("memory_save", json!({"name": "kept"})).unwrap();
    let mut tour = fixture.command();
    tour.arg("tour").arg(folder.path());
    let tour = run(&mut tour, b"", PATIENCE).unwrap();
    assert_eq!(tour.code, 0, "{}{}", tour.err, tour.out);
    trying.stop().unwrap();
    assert!(!folder.path().join("server/core/store.db").exists(), "nothing lies in SQLite");
    // With the address and without it: the store knows where it lives.
    for options in [with(&url), TryOptions::login("irina")] {
        let mut trying = Trying::start(fixture.binary(), folder.path(), &options).unwrap();
        let mut client = trying.connected().unwrap();
        let note = client.done("memory_load", json!({"ids": [saved["id"]]})).unwrap();
        assert_eq!(note["notes"][0]["name"], "kept");
        drop(client);
        trying.stop().unwrap();
    }
    let other = fixture.empty_database().unwrap();
    let mut elsewhere = fixture.command();
    elsewhere.arg("try").arg(folder.path()).args(["--port", "0", "--database", &other]);
    let elsewhere = run(&mut elsewhere, b"", PATIENCE).unwrap();
    assert!(elsewhere.code == 1 && elsewhere.err.contains("another database"), "{}", elsewhere.err);
    let mut nowhere = fixture.command();
    nowhere.arg("try").arg(folder.path().join("new")).args(["--port", "0"]);
    nowhere.args(["--database", "postgres://nobody:secret@127.0.0.1:9/none"]);
    let nowhere = run(&mut nowhere, b"", PATIENCE).unwrap();
    assert!(nowhere.code == 1 && !nowhere.err.contains("secret"), "{}", nowhere.err);
    fixture.drop_database(&url);
    fixture.drop_database(&other);
}

#[test]
fn a_database_that_goes_away_is_a_refusal_and_is_found_again() {
    let Some(fixture) = fixture() else { return };
    let store = TestStore::new(fixture).unwrap();
    let nodes = Nodes::start(&store).unwrap();
    let mut client = Client::open(&mut store.mcp_command(), "2025-11-25").unwrap();
    client.connect("lines").unwrap();
    // Every line that any node holds is cut, again and again under its hands.
    for round in 0..5 {
        store
            .query(
                "select pg_terminate_backend(pid) from pg_stat_activity
                 where datname = current_database() and pid <> pg_backend_pid()",
            )
            .unwrap();
        let name = format!("round {round}");
        wait_for("a line to the database", PATIENCE, || {
            let answer = client.call("memory_save", json!({"name": name})).unwrap();
            (!answer.refused()).then_some(())
        })
        .unwrap();
        for node in &nodes.nodes {
            wait_for("the node to be ready", PATIENCE, || {
                (get(&format!("{}/core/ready", node.url)).ok()?.status == 200).then_some(())
            })
            .unwrap();
        }
    }
    let saved = store.cell("select count(*) from notes where name like 'round %'").unwrap();
    assert_eq!(saved, "5");
}
