//! Every command that the documentation shows is a command, and does what it is shown for.

use std::path::{Path, PathBuf};

use testkit::TestStore;

use crate::setup::store;

/// Commands that run until they are stopped: for these, and where another server is needed, only the words
/// are checked.
const ONLY_PARSED: &[&str] = &["try", "tour", "serve", "desk", "mcp", "licensor serve"];

#[test]
fn documented_commands_run() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![repository.join("README.md")];
    pages.extend(markdown_of(&repository.join("docs")));
    let mut seen = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        let store = store();
        for command in commands(&text) {
            run(&store, &page, &command);
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} commands were found");
}

fn markdown_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Lines of code blocks that begin with `shopwright`, continued lines joined, comments left out.
fn commands(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let mut in_block = false;
    let mut found = Vec::new();
    for line in joined.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if in_block && line.starts_with("shopwright ") {
            found.push(line.split(" #").next().unwrap_or(line).trim().to_owned());
        }
    }
    found
}

fn run(store: &TestStore<'_>, page: &Path, line: &str) {
    let words = words(line);
    let rest = words[1..].join(" ");
    let only_parsed = line.contains("postgres://") || ONLY_PARSED.iter().any(|start| rest.starts_with(start));
    let scratch = store.folder().join("documented");
    let mut arguments: Vec<String> =
        words.iter().skip(1).map(|word| place(store, &scratch, line, word)).collect();
    if only_parsed {
        arguments.push("--help".to_owned());
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = store.command(&arguments);
    let patience = std::time::Duration::from_secs(60);
    let output = testkit::run(&mut command, b"a-long-password-7\na-long-password-7\n", patience).unwrap();
    assert_eq!(output.code, 0, "{}: `{line}`: {output:?}", page.display());
}

/// Where the documentation's paths lie in this test.
fn place(store: &TestStore<'_>, scratch: &Path, line: &str, word: &str) -> String {
    let root = store.root().display().to_string();
    let scratch = scratch.display().to_string();
    match word {
        "server" => root,
        "/srv/shop" if line.contains("store init") || line.contains("store restore") => scratch + "-shop",
        "/srv/shop" => root,
        "DIR" => scratch + "-licensor",
        "products_export.csv" => {
            goods(scratch + "-products.csv", "Handle,Title,Variant SKU,Variant Price\nmug,Mug,MUG-1,9.90\n")
        }
        "prices.csv" => goods(scratch + "-prices.csv", "Article,Name,Price,Currency\nN-1,Mug,4.20,EUR\n"),
        "pictures" => {
            let folder = scratch + "-pictures";
            std::fs::create_dir_all(&folder).unwrap();
            folder
        }
        other if other.starts_with("/srv/") || other.starts_with("/backup") => {
            scratch + &other.replace('/', "-")
        }
        other => other.to_owned(),
    }
}

/// A table of goods that a command takes in.
fn goods(path: String, rows: &str) -> String {
    std::fs::write(&path, rows).unwrap();
    path
}

/// Splits as a shell would, as far as the documentation needs it: double quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
