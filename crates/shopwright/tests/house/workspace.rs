//! The workspace as cargo and git see it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The repository's folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// `cargo metadata` of the whole graph; other platforms' crates are fetched where they are missing.
pub(crate) fn metadata() -> Value {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Every file that git keeps or would keep, with its text where it is text.
pub(crate) fn texts() -> Vec<(String, String)> {
    let out = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let names = String::from_utf8(out.stdout).unwrap();
    let read = |name: &str| Some((name.to_owned(), std::fs::read_to_string(root().join(name)).ok()?));
    names.split('\0').filter(|name| !name.is_empty()).filter_map(read).collect()
}

/// The Rust files of the workspace.
pub(crate) fn sources() -> Vec<(String, String)> {
    texts().into_iter().filter(|(name, _)| name.ends_with(".rs")).collect()
}
