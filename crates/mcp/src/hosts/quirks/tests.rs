//! The table of quirks is kept by tests that exist.

use std::fs;
use std::path::Path;

use tools::inline::Room;

use super::{QUIRKS, room};

fn sources(folder: &Path, out: &mut String) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_quirk_names_a_test_that_exists() {
    let mut all = String::new();
    let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
    sources(ours, &mut all);
    sources(&ours.join("../tools/src"), &mut all);
    for quirk in QUIRKS {
        assert!(all.contains(&format!("fn {}(", quirk.test)), "no test `{}`", quirk.test);
    }
}

#[test]
fn a_host_that_shows_bodies_twice_gets_shorter_ones() {
    let tea = "чай".repeat(10_000);
    for (application, wanted) in [
        ("qwen-cli-mcp-client-shopwright", 11_000),
        ("Qwen-CLI-mcp-client", 11_000),
        ("qwen-cli-mcp-clients", 18_000),
        ("claude-code", 18_000),
        ("чай", 18_000),
        ("", 18_000),
    ] {
        assert_eq!(room(application).beginning(&tea).chars().count(), wanted, "{application}");
    }
    assert_eq!(room("codex-mcp-client"), Room::ANSWER);
}
