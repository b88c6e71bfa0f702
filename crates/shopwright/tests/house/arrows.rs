//! Who may depend on whom, and which crates from outside live in one place only.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::workspace::{metadata, root, sources};

/// Every crate with the crates of ours it may use. `testkit` is used by tests only.
const ARROWS: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("shop", &[]),
    ("sandbox", &[]),
    ("licence", &[]),
    ("db", &["shop"]),
    ("tools", &["db", "shop", "wire"]),
    ("home", &["wire"]),
    ("engine", &["tools", "db", "sandbox", "shop", "licence", "wire"]),
    ("mcp", &["tools", "home", "wire"]),
    ("desk", &["home", "licence", "wire"]),
    ("shopwright", &["db", "desk", "engine", "home", "licence", "mcp", "sandbox", "shop", "tools", "wire"]),
    ("testkit", &["home", "wire"]),
];

/// Crates from outside that only these of ours may use in shipped code.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("rmcp", &["mcp"]),
    ("axum", &["engine", "desk"]),
    ("clap", &["shopwright"]),
    ("rusqlite", &["db", "testkit"]),
    ("tokio-postgres", &["db"]),
    ("deadpool-postgres", &["db"]),
    ("anyhow", &["shopwright", "testkit"]),
    ("argon2", &["engine"]),
    ("ammonia", &["engine", "tools"]),
    ("minijinja", &["engine", "desk"]),
    ("reqwest", &["engine", "mcp", "desk"]),
    ("lettre", &["engine"]),
    ("keyring", &["home"]),
    ("rquickjs", &["sandbox"]),
    ("oxc_parser", &["sandbox"]),
];

/// What the rules of the shop must not know.
const NOT_IN_SHOP: &[&str] =
    &["std::env", "std::fs", "std::net", "SystemTime", "Instant::now", "Timestamp::now", "Zoned::now"];

/// Shipped dependencies of each crate of the workspace: `(name, kind)`.
fn dependencies() -> BTreeMap<String, Vec<(String, Option<String>)>> {
    let metadata = metadata();
    let members: BTreeSet<&str> =
        metadata["workspace_members"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .filter(|package| members.contains(package["id"].as_str().unwrap()))
        .map(|package| {
            let used = package["dependencies"].as_array().unwrap().iter();
            let used = used.map(|one| {
                (one["name"].as_str().unwrap().to_owned(), one["kind"].as_str().map(str::to_owned))
            });
            (package["name"].as_str().unwrap().to_owned(), used.collect())
        })
        .collect()
}

#[test]
fn dependencies_point_one_way() {
    let crates = dependencies();
    let known: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    let there: BTreeSet<&str> = crates.keys().map(String::as_str).collect();
    assert_eq!(there, known, "the table of arrows names every crate and no other");
    for (name, may) in ARROWS {
        for (used, kind) in &crates[*name] {
            let ours = known.contains(used.as_str());
            let of_tests = kind.as_deref() == Some("dev") && used == "testkit";
            assert!(!ours || of_tests || may.contains(&used.as_str()), "`{name}` may not use `{used}`");
        }
    }
}

#[test]
fn crates_from_outside_stay_where_they_belong() {
    for (name, used) in dependencies() {
        for (outside, kind) in used {
            let Some((_, may)) = ONLY_IN.iter().find(|(only, _)| *only == outside) else { continue };
            let of_tests = kind.as_deref() == Some("dev");
            assert!(of_tests || may.contains(&name.as_str()), "`{outside}` may not be used in `{name}`");
        }
    }
}

#[test]
fn rules_of_the_shop_know_no_clock_no_files_and_no_environment() {
    let crates = dependencies();
    let heavy = ["tokio", "axum", "rusqlite", "tokio-postgres", "reqwest", "tracing"];
    for (used, _) in crates["shop"].iter().filter(|(_, kind)| kind.is_none()) {
        assert!(!heavy.contains(&used.as_str()), "`shop` may not use `{used}`");
    }
    for (name, text) in sources() {
        if !name.starts_with("crates/shop/src/") || name.ends_with("tests.rs") {
            continue;
        }
        for word in NOT_IN_SHOP {
            assert!(!text.contains(word), "{name} mentions `{word}`");
        }
    }
}

#[test]
fn architecture_page_shows_these_arrows() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (name, may) in ARROWS.iter().filter(|(name, _)| !["shopwright", "testkit"].contains(name)) {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for `{name}`"));
        let cell = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let shown: BTreeSet<&str> =
            cell.split('`').skip(1).step_by(2).filter(|word| !word.is_empty()).collect();
        assert_eq!(shown, may.iter().copied().collect(), "ARCHITECTURE.md, row `{name}`");
    }
}
