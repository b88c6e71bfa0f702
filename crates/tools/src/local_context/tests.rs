//! Tests of reading and writing on this computer.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;
use wire::Stop;

use super::{LocalContext, lexical};
use crate::inline::Room;

const MOST: usize = 1_000_000;

fn local() -> (TempDir, LocalContext) {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    let store = root.join("store");
    let conversation = store.join("mcp/app/topic");
    fs::create_dir_all(&conversation).unwrap();
    fs::create_dir(root.join("outside")).unwrap();
    (dir, LocalContext { store, conversation, room: Room::ANSWER, trip: std::time::Duration::ZERO })
}

fn said<T: std::fmt::Debug>(result: Result<T, Stop>) -> String {
    match result {
        Err(Stop::Refused(refusal)) => refusal.text(),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn text_is_read_from_the_store_folder_or_by_an_absolute_path_without_its_bom() {
    let (_dir, local) = local();
    fs::write(local.conversation.join("a.html"), "\u{FEFF}привет\r\n").unwrap();
    assert_eq!(local.read_text("mcp/app/topic/a.html", MOST).unwrap(), "привет\r\n");
    assert_eq!(
        local.read_text(local.conversation.join("a.html").to_str().unwrap(), MOST).unwrap(),
        "привет\r\n"
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let (_dir, local) = local();
    fs::write(local.store.join("latin.txt"), b"caf\xE9").unwrap();
    assert!(said(local.read_text("no.html", MOST)).starts_with("No such file: no.html (it is not there)."));
    assert!(said(local.read_text("mcp", MOST)).starts_with("No such file: mcp (it is a folder)."));
    assert!(said(local.read_text("", MOST)).starts_with("No such file: "));
    assert!(said(local.read_text("a\0b", MOST)).starts_with("No such file: "));
    assert!(said(local.read_text(&"long/".repeat(4000), MOST)).len() < 1000);
    assert!(said(local.read_text("latin.txt", MOST)).starts_with("latin.txt is not utf-8 text"));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_a_source() {
    let (_dir, local) = local();
    assert!(said(local.read_text("/dev/zero", MOST)).contains("it is not a file"));
    // Nobody ever writes into this one: opening it the usual way would wait for ever.
    let pipe = local.store.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(said(local.read_text("pipe", MOST)).contains("it is not a file"));
}

#[test]
fn what_no_field_takes_is_not_read() {
    let (_dir, local) = local();
    let file = fs::File::create(local.store.join("big.html")).unwrap();
    file.set_len(255 << 20).unwrap();
    let words = said(local.read_text("big.html", 10));
    assert!(
        words.starts_with("No such file: big.html (it is larger than 43 bytes, and at most 10 characters"),
        "{words}"
    );
    // Ten characters of four bytes each, behind a mark of three.
    fs::write(local.store.join("most.html"), format!("\u{FEFF}{}", "🛒".repeat(10))).unwrap();
    assert_eq!(local.read_text("most.html", 10).unwrap().chars().count(), 10);
}

#[test]
fn files_are_written_whole_and_folders_are_made() {
    let (_dir, local) = local();
    let path = local.write("mcp/app/topic/notes", "5.html", b"one").unwrap();
    assert_eq!(path, local.conversation.join("notes/5.html"));
    assert_eq!(local.write("mcp/app/./x/../topic/notes", "5.html", b"two").unwrap(), path);
    assert_eq!(fs::read(&path).unwrap(), b"two");
    let left: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["5.html"]);
}

#[test]
fn a_named_folder_outside_the_store_is_written_to() {
    let (dir, local) = local();
    let outside = fs::canonicalize(dir.path()).unwrap().join("outside/new");
    let path = local.write(outside.to_str().unwrap(), "1.html", b"x").unwrap();
    assert_eq!(path, outside.join("1.html"));
    assert_eq!(local.write("../outside", "1.html", b"x").unwrap(), outside.parent().unwrap().join("1.html"));
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    use std::os::unix::fs::symlink;
    let (dir, local) = local();
    let outside = fs::canonicalize(dir.path()).unwrap().join("outside");
    symlink(&outside, local.store.join("link")).unwrap();
    for folder in ["link", "link/deeper", "mcp/../link"] {
        assert!(said(local.write(folder, "1.html", b"x")).contains("it is a link to"), "{folder}");
    }
    let absolute = local.store.join("link");
    assert!(said(local.write(absolute.to_str().unwrap(), "1.html", b"x")).contains("it is a link to"));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);

    fs::write(outside.join("victim"), "whole").unwrap();
    symlink(outside.join("victim"), local.store.join("5.html")).unwrap();
    local.write(".", "5.html", b"new").unwrap();
    assert_eq!(fs::read_to_string(outside.join("victim")).unwrap(), "whole");
    assert_eq!(fs::read_to_string(local.store.join("5.html")).unwrap(), "new");
}

#[cfg(unix)]
#[test]
fn a_store_folder_behind_a_link_works() {
    let (dir, local) = local();
    let linked = fs::canonicalize(dir.path()).unwrap().join("linked");
    std::os::unix::fs::symlink(&local.store, &linked).unwrap();
    let through = LocalContext {
        store: linked.clone(),
        conversation: linked.join("mcp/app/topic"),
        room: Room::ANSWER,
        trip: std::time::Duration::ZERO,
    };
    assert_eq!(through.write("out", "1.html", b"x").unwrap(), local.store.join("out/1.html"));
    through.write(through.conversation.to_str().unwrap(), "1.html", b"x").unwrap();
    through.write(local.store.join("out").to_str().unwrap(), "2.html", b"x").unwrap();
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let (_dir, local) = local();
    fs::write(local.store.join("file"), "x").unwrap();
    assert!(said(local.write("file", "1.html", b"x")).contains("it is not a folder"));
    assert!(said(local.write("file/below", "1.html", b"x")).starts_with("Cannot create folder "));
    fs::create_dir(local.store.join("taken.html")).unwrap();
    assert!(said(local.write(".", "taken.html", b"x")).starts_with("Cannot write "));
    assert!(said(local.write("", "1.html", b"x")).starts_with("Cannot write "));
    assert!(
        fs::read_dir(&local.store).unwrap().all(|e| !e
            .unwrap()
            .file_name()
            .to_string_lossy()
            .ends_with(".part"))
    );
}

#[test]
fn a_tool_cannot_name_a_path_as_a_name() {
    let (_dir, local) = local();
    for name in ["", ".", "..", "a/b", "/etc/passwd", "a\\b", "c:x", "a/"] {
        assert!(matches!(local.write("out", name, b"x"), Err(Stop::Broke(_))), "{name}");
    }
}

proptest! {
    #[test]
    fn any_path_is_survived(path in ".{0,40}") {
        let local = LocalContext {
            store: "/nonexistent/store".into(),
            conversation: "/nonexistent/store/mcp".into(),
            room: Room::ANSWER,
            trip: std::time::Duration::ZERO,
        };
        let _ = local.read_text(&path, MOST);
        let _ = lexical(Path::new(&path));
    }

    #[test]
    fn a_cleaned_path_has_no_steps_back(path in "(/|)([a-c.]{0,3}/){0,8}") {
        if let Some(clean) = lexical(Path::new(&path)) {
            let has_steps = clean.components().any(|part| matches!(part.as_os_str().to_str(), Some(".." | ".")));
            prop_assert!(!has_steps);
        }
    }
}
