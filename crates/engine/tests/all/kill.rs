//! An engine that is killed loses nothing that it answered.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use engine::{Engine, Options};
use serde_json::json;

use crate::client::{Line, TestRequest};
use crate::test_store::{Base, PASSWORD, PATIENCE, TestStore};

/// Where the engine in the child finds its store; its presence makes the test below the child.
const CHILD: &str = "ENGINE_TEST_ROOT";

/// Not a test by itself: the process that is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engine_of_a_process() {
    let Ok(root) = std::env::var(CHILD) else { return };
    let listen = Some("127.0.0.1:0".parse().unwrap());
    let unit_worker = Some((env!("CARGO_BIN_EXE_engine-unit-worker").into(), Vec::new()));
    let options = Options { listen, unit_worker, unit_patience: PATIENCE, ..Options::default() };
    let running = Engine::start(root.into(), options).await.unwrap();
    println!("listens at {}", running.address().port());
    std::future::pending::<()>().await;
}

/// An engine in a process of its own, with the real clock.
pub(crate) fn start(store: &TestStore) -> (Child, u16) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::engine_of_a_process", "--nocapture"])
        .env(CHILD, store.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let port =
        lines.find_map(|line| line.unwrap().split_once("listens at ").map(|(_, port)| port.parse().unwrap()));
    (child, port.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_before_a_kill_is_there_and_the_session_goes_on() {
    let mut store = TestStore::on(Base::Sqlite).await.unwrap();
    store.stop().await;
    let (mut child, mut port) = start(&store);
    let mut line = Line::to(("127.0.0.1", port)).await;
    let signed = line.send(&TestRequest::sign_in("irina", PASSWORD).bytes()).await.result().unwrap();
    for kill in 1..=4 {
        let key = format!("3f0a3cde-3f3a-4d8e-9b35-00000000000{kill}");
        let save = TestRequest::tool("memory_save", json!({"name": format!("note {kill}")}));
        let save = save.with("session", signed["ticket"].clone()).with("key", key);
        let saved = line.send(&save.bytes()).await.result().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((store.count("notes"), store.count("journal where actor = 'agent'")), (kill, kill));
        (child, port) = start(&store);
        line = Line::to(("127.0.0.1", port)).await;
        // The answer may have been lost on the way: asking again does nothing twice.
        assert_eq!(line.send(&save.bytes()).await.result().unwrap(), saved);
        assert_eq!(store.count("notes"), kill);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
