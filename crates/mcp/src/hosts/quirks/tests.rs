//! The table of quirks is kept by tests that exist.

use std::fs;
use std::path::Path;

use super::QUIRKS;

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
