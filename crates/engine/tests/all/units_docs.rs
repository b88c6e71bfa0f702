//! Every example of `docs/units.md`, run as it stands there.

use std::path::Path;

use crate::client::raw;
use crate::test_store::{Base, TestStore};
use crate::units::{log, put};

/// A block of the page: what stands behind its fence, and its text.
struct Block {
    info: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("## ") {
            blocks.push(Block { info: "new".to_owned(), text: line.to_owned() });
        } else if let Some(info) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block { info: info.to_owned(), text: text.join("\n") });
        }
    }
    blocks
}

async fn shows(store: &TestStore, asked: &str, wanted: &str) {
    let mut words = asked.splitn(3, ' ');
    let (method, path, form) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap_or(""));
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: shop.example.com\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: {}\r\n\r\n{form}",
        form.len()
    );
    let answer = raw(store, request.as_bytes()).await;
    assert_eq!(answer.text().trim_end(), wanted, "{asked}: {} {:?}", answer.status, log(store));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_example_does_what_it_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/units.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut store = TestStore::on(Base::Sqlite).await.unwrap();
    let mut shown = 0;
    for Block { info, text } in blocks(&page) {
        match info.split_once(' ') {
            None if info == "new" => store = TestStore::on(Base::Sqlite).await.unwrap(),
            None if info == "log" => {
                let lines = log(&store);
                assert!(lines.iter().any(|line| line["error"] == text.as_str()), "{text}: {lines:?}");
            }
            Some(("shows", asked)) => {
                shows(&store, asked, &text).await;
                shown += 1;
            }
            Some(("js" | "json" | "jinja", path)) => put(&store, path, &text),
            _ => panic!("a block that is no example: {info}"),
        }
    }
    assert!(shown > 6, "{shown} examples");
}
