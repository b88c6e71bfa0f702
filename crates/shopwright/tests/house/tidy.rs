//! What every file of the repository keeps to.

use crate::workspace::{root, sources, texts};

#[test]
fn every_source_opens_with_what_it_is() {
    let silent: Vec<String> =
        sources().into_iter().filter(|(_, text)| !text.starts_with("//! ")).map(|(name, _)| name).collect();
    assert!(silent.is_empty(), "these files do not open with `//! …`: {silent:?}");
}

#[test]
fn no_source_is_longer_than_800_lines() {
    let long: Vec<(String, usize)> = sources()
        .into_iter()
        .map(|(name, text)| (name, text.lines().count()))
        .filter(|(_, lines)| *lines > 800)
        .collect();
    assert!(long.is_empty(), "split these files: {long:?}");
}

#[test]
fn tests_are_run_and_not_set_aside() {
    let marks = [concat!("#[ig", "nore"), concat!("should_", "panic"), concat!("dbg", "!(")];
    for (name, text) in sources() {
        for mark in marks {
            assert!(!text.contains(mark), "{name} has `{mark}`");
        }
    }
}

#[test]
fn no_text_names_a_folder_of_one_machine() {
    let places = [concat!("/wo", "rk/"), concat!("/ro", "ot/."), concat!("/home/", "user/")];
    for (name, text) in texts() {
        if name == "Cargo.lock" || name.ends_with("package-lock.json") {
            continue;
        }
        for place in places {
            // A folder of this name inside another one is another matter.
            let begins = |at: usize| {
                text[..at].chars().next_back().is_none_or(|before| " \n\t\"'`(=".contains(before))
            };
            let named = text.match_indices(place).any(|(at, _)| begins(at));
            assert!(!named, "{name} names `{place}`");
        }
    }
}

#[test]
fn the_maps_name_only_what_is_there() {
    let mut seen = 0;
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md"] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        for path in text.split('`').skip(1).step_by(2).flat_map(alternatives).filter(|path| is_place(path)) {
            let path = path.trim_end_matches('/');
            let is_there =
                [path.to_owned(), format!("crates/{path}")].iter().any(|one| root().join(one).exists());
            assert!(is_there, "{page} names `{path}`, which is not there");
            seen += 1;
        }
    }
    assert!(seen > 40, "only {seen} places were found");
}

/// Whether a word of a page is a path of the repository, and not a pattern of several.
fn is_place(word: &str) -> bool {
    let first = word.split('/').next().unwrap_or_default();
    let known = ["crates", "tests", "docs"].contains(&first) || root().join("crates").join(first).is_dir();
    word.contains('/') && known && !word.contains(['<', '*', ' ', '{', '['])
}

/// `a/{b,c}` as `a/b` and `a/c`.
fn alternatives(word: &str) -> Vec<String> {
    let Some((before, rest)) = word.split_once('{') else { return vec![word.to_owned()] };
    let Some((inner, after)) = rest.split_once('}') else { return vec![word.to_owned()] };
    inner.split(',').map(|one| format!("{before}{}{after}", one.trim())).collect()
}

#[test]
fn lines_end_plainly() {
    for (name, text) in texts() {
        assert!(!text.contains('\r'), "{name} has a carriage return");
        assert!(text.is_empty() || text.ends_with('\n'), "{name} does not end with a line end");
    }
}
