//! Tests of rules.

use std::fs;
use std::path::Path;

use home::Home;
use tempfile::TempDir;

use super::{Marks, Rules, code, covering};

fn place() -> (TempDir, Home) {
    let folder = TempDir::new().unwrap();
    let home = Home::at(folder.path().to_owned());
    fs::create_dir(folder.path().join("rules")).unwrap();
    (folder, home)
}

fn cover(home: &Home, tool: &str) -> Option<Rules> {
    super::covering(home, tool, &Marks { store: Path::new("/stores/tea"), agent: "claude-code" })
}

#[test]
fn rules_are_found_from_the_long_name_to_the_short_one() {
    let (folder, home) = place();
    assert_eq!(cover(&home, "engine_db_execute").unwrap().file, "engine.md");
    assert_eq!(cover(&home, "repo_list").unwrap().file, "repo.md");
    assert_eq!(cover(&home, "memory_list"), None);
    fs::write(folder.path().join("rules/engine_db.md"), "Only on Sundays.").unwrap();
    let rules = cover(&home, "engine_db_execute").unwrap();
    assert_eq!((rules.file.as_str(), rules.text.as_str()), ("engine_db.md", "Only on Sundays."));
    assert_eq!(cover(&home, "engine_map_tree").unwrap().file, "engine.md");
}

#[test]
fn a_file_of_the_home_replaces_the_built_in_text() {
    let (folder, home) = place();
    let built_in = cover(&home, "repo_list").unwrap();
    fs::write(folder.path().join("rules/repo.md"), "\u{feff}Ask Irina first. {STORE_DIR} {AGENT} {x} {")
        .unwrap();
    let replaced = cover(&home, "repo_list").unwrap();
    assert_eq!(replaced.text, "Ask Irina first. /stores/tea claude-code {x} {");
    let secret = [7; 32];
    assert_ne!(code(&secret, &built_in), code(&secret, &replaced));
}

#[test]
fn a_file_that_is_no_text_replaces_nothing() {
    let (folder, home) = place();
    fs::write(folder.path().join("rules/repo.md"), [0xff, 0xfe]).unwrap();
    assert!(cover(&home, "repo_list").unwrap().text.starts_with("# Rules"));
    fs::write(folder.path().join("rules/repo.md"), "x".repeat(100_000)).unwrap();
    assert!(cover(&home, "repo_list").unwrap().text.starts_with("# Rules"));
}

#[test]
fn marks_are_filled_in_once() {
    let (folder, home) = place();
    fs::write(folder.path().join("rules/repo.md"), "{AGENT} {INSTALL_DIR}").unwrap();
    let marks = Marks { store: Path::new("/x"), agent: "{STORE_DIR}" };
    let text = covering(&home, "repo_list", &marks).unwrap().text;
    assert!(text.starts_with("{STORE_DIR} /"), "{text}");
}

#[test]
fn a_code_is_of_one_session_one_file_and_one_text() {
    let rules = |file: &str, text: &str| Rules { file: file.to_owned(), text: text.to_owned() };
    let one = code(&[1; 32], &rules("a.md", "text"));
    assert_eq!(one.len(), 6);
    assert!(one.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(one, code(&[1; 32], &rules("a.md", "text")));
    assert_ne!(one, code(&[2; 32], &rules("a.md", "text")));
    assert_ne!(one, code(&[1; 32], &rules("b.md", "text")));
    assert_ne!(one, code(&[1; 32], &rules("a.md", "text.")));
}
