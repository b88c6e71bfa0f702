//! Tests of cutting input into lines.

use std::time::Duration;

use proptest::prelude::*;
use tokio::io::AsyncWriteExt as _;

use super::{Line, Lines};

async fn all(input: &[u8], longest: usize) -> Vec<String> {
    let mut lines = Lines::with_limit(input, longest);
    let mut out = Vec::new();
    while let Some(line) = lines.next().await.unwrap() {
        out.push(match line {
            Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
            Line::TooLong { head, tail } => {
                format!("<{}|{}>", String::from_utf8_lossy(head), String::from_utf8_lossy(tail))
            }
        });
    }
    out
}

#[tokio::test]
async fn a_last_line_without_an_end_is_a_line() {
    assert_eq!(all(b"one\n\ntwo", 10).await, ["one", "", "two"]);
    assert!(all(b"", 10).await.is_empty());
}

#[tokio::test]
async fn a_line_over_the_limit_is_dropped_and_the_next_one_read() {
    assert_eq!(all(b"0123456789\nnext\n", 10).await, ["0123456789", "next"]);
    assert_eq!(all(b"0123456789x\nnext\n", 10).await, ["<0123456789x\n|0123456789x\n>", "next"]);
    assert_eq!(all(b"0123456789xy", 10).await, ["<0123456789xy|0123456789xy>"]);
}

#[tokio::test]
async fn of_a_dropped_line_both_ends_are_kept() {
    let mut input = b"{\"id\":1,\"junk\":\"".to_vec();
    input.extend(std::iter::repeat_n(b'x', 300_000));
    input.extend_from_slice(b"\"}\nafter\n");
    let lines = all(&input, 100_000).await;
    assert!(lines[0].starts_with("<{\"id\":1,"));
    assert!(lines[0].ends_with("\"}\n>"));
    assert!(lines[0].len() < 10_000);
    assert_eq!(lines[1], "after");
}

#[tokio::test]
async fn a_read_given_up_in_the_middle_of_a_line_loses_nothing() {
    let (mut write, read) = tokio::io::duplex(64);
    let mut lines = Lines::new(read);
    write.write_all(b"half of ").await.unwrap();
    let given_up = tokio::time::timeout(Duration::from_millis(20), lines.next()).await;
    assert!(given_up.is_err());
    write.write_all(b"a line\n").await.unwrap();
    assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(b"half of a line")));
}

proptest! {
    #[test]
    fn lines_are_those_of_the_text(parts in prop::collection::vec("[a-z]{0,20}", 0..20)) {
        let mut text = parts.join("\n");
        text.push('\n');
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let lines = runtime.block_on(all(text.as_bytes(), 100));
        prop_assert_eq!(lines, text.lines().map(str::to_owned).collect::<Vec<_>>());
    }
}
