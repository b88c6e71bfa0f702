//! Tests of the words.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::{Build, catalogue};

#[test]
fn every_row_says_when_it_is_said() {
    let mut names = BTreeSet::new();
    for row in catalogue::ALL {
        assert!(names.insert(row.name), "two rows are named {}", row.name);
        assert!(row.when.trim().len() > 10, "{} does not say when", row.name);
        assert!(!row.beginning.is_empty(), "{} has no beginning", row.name);
    }
}

#[test]
fn a_store_code_stands_alone_on_its_line() {
    let refusal = catalogue::backup_time("05:00", "05:30");
    assert_eq!(refusal.text().lines().next(), Some("BACKUP_TIME: 05:00 - 05:30"));
    assert_eq!(catalogue::access_denied_bare().text().lines().next(), Some("ACCESS_DENIED"));
}

#[test]
fn builds_compare_part_by_part() {
    let build = |text| Build::parse(text).unwrap();
    assert!(build("0.9.10") > build("0.9.9"));
    assert_eq!(build("1.0"), build("1.0.0"));
    assert!(Build::parse("1.x").is_none());
}

proptest! {
    #[test]
    fn reading_a_build_never_fails_badly(text in ".{0,80}") {
        let _ = Build::parse(&text);
    }
}
