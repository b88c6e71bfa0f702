//! Tests of `desk.json`.

use std::path::PathBuf;

use proptest::prelude::*;

use crate::{DeskFile, Home};

fn sample(pid: i32) -> DeskFile {
    DeskFile {
        pid,
        store: Some(PathBuf::from("/stores/tea")),
        socket: PathBuf::from("/home/desk.sock"),
        build: "0.1.0".to_owned(),
        console: None,
    }
}

fn own_pid() -> i32 {
    i32::try_from(std::process::id()).unwrap()
}

#[test]
fn it_is_written_read_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().to_owned());
    assert_eq!(DeskFile::read(&home), None);
    sample(own_pid()).write(&home).unwrap();
    assert_eq!(DeskFile::read(&home), Some(sample(own_pid())));
    DeskFile::remove(&home);
    assert_eq!(DeskFile::read(&home), None);
}

#[test]
fn another_process_file_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().to_owned());
    sample(1).write(&home).unwrap();
    DeskFile::remove(&home);
    assert_eq!(DeskFile::read(&home), Some(sample(1)));
}

#[test]
fn a_file_of_a_later_build_is_read() {
    let text = br#"{"pid": 7, "socket": "/s", "later": {"a": 1}}"#;
    let file = DeskFile::parse(text).unwrap();
    assert_eq!((file.pid, file.store), (7, None));
}

#[test]
fn a_group_of_processes_is_no_process() {
    assert_eq!(DeskFile::parse(br#"{"pid": -1, "socket": "/s"}"#), None);
    assert_eq!(DeskFile::parse(br#"{"pid": 0, "socket": "/s"}"#), None);
}

proptest! {
    #[test]
    fn reading_never_fails_badly(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = DeskFile::parse(&bytes);
    }

    #[test]
    fn cut_anywhere_it_says_nothing(at in 0_usize..80) {
        let whole = serde_json::to_vec(&sample(7)).unwrap();
        let cut = at.min(whole.len() - 1);
        prop_assert_eq!(DeskFile::parse(&whole[..cut]), None);
    }
}
