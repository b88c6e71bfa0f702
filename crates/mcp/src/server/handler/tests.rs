//! Tests of the guard around calls.

use wire::Stop;

use super::{INSTRUCTIONS, panicked};
use crate::answer;
use crate::hosts::protocol::{Era, Host};

#[tokio::test]
async fn a_panic_in_a_call_ends_as_an_answer() {
    let error = tokio::spawn(async { panic!("row 5 is {}", "missing") }).await.unwrap_err();
    let stop = panicked(error);
    assert!(matches!(&stop, Stop::Broke(fault) if fault.chain().contains("row 5 is missing")));
    let host = Host { era: Era::Handshake, name: String::new() };
    let result = serde_json::to_value(answer::result(Err(stop), "memory_list", &host)).unwrap();
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("ERROR: the call broke off inside the server: row 5 is missing (incident "),
        "{text}"
    );
}

#[test]
fn the_instructions_are_short() {
    assert!(INSTRUCTIONS.len() < 2048);
}
