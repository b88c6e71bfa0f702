//! What every file of the repository keeps to.

use crate::workspace::{sources, texts};

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
fn lines_end_plainly() {
    for (name, text) in texts() {
        assert!(!text.contains('\r'), "{name} has a carriage return");
        assert!(text.is_empty() || text.ends_with('\n'), "{name} does not end with a line end");
    }
}
