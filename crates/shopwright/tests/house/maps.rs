//! The maps for readers lead to files and folders that are there.

use crate::workspace::root;

/// The pages that say where things are.
const MAPS: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md"];
/// Where their paths begin.
const TOPS: [&str; 4] = ["crates", "docs", "tests", "bench"];

/// Every path that a page names, from the repository's folder.
fn paths(text: &str) -> Vec<String> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let crates: Vec<String> = crates.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let words = text.split('`').skip(1).step_by(2).filter(|word| !word.contains(char::is_whitespace));
    let words = words.filter_map(|word| {
        let (top, rest) = word.split_once('/')?;
        // On the map of crates a path begins with the crate's name.
        let in_crate = crates.iter().any(|name| name == top)
            && ["src", "locales", "rules", "migrations"].iter().any(|folder| rest.starts_with(folder));
        if in_crate { Some(format!("crates/{word}")) } else { TOPS.contains(&top).then(|| word.to_owned()) }
    });
    words.flat_map(|word| alternatives(&word)).collect()
}

/// `a/{b,c}` as `a/b` and `a/c`.
fn alternatives(path: &str) -> Vec<String> {
    let parts = path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (names, after))) = parts else { return vec![path.to_owned()] };
    names.split(',').map(|name| format!("{before}{name}{after}")).collect()
}

#[test]
fn every_path_on_the_maps_leads_somewhere() {
    let mut seen = 0;
    for map in MAPS {
        let text = std::fs::read_to_string(root().join(map)).unwrap();
        for path in paths(&text) {
            // Behind `<name>` or `*` everybody puts their own.
            let fixed = path.split(['<', '*']).next().unwrap();
            let fixed = if fixed == path { fixed } else { fixed.rsplit_once('/').unwrap().0 };
            assert!(root().join(fixed).exists(), "{map} names `{path}`, which is not there");
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen} paths found");
    assert_eq!(alternatives("a/{b,c}/d"), ["a/b/d", "a/c/d"]);
    assert_eq!(
        paths("`db/src/x` and `core/log`, `tests/{a,b}` `docs y/z`"),
        ["crates/db/src/x", "tests/a", "tests/b"]
    );
}
