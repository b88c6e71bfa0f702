//! `session_clear`: conversation folders, and links inside them.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use testkit::Client;

use crate::setup::{is_row, store};

fn names(client: &mut Client) -> Vec<String> {
    let list = client.done("session_clear", json!({})).unwrap();
    let topics = list["topics"].as_array().unwrap().iter();
    let mut names: Vec<String> = topics.map(|topic| topic["topic"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_link_inside_a_folder_is_removed_and_not_followed() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    let outside = store.folder().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("precious.txt"), "keep me").unwrap();
    let data = client.done("session_connect", json!({"topic": "links"})).unwrap();
    let folder = PathBuf::from(data["folder"].as_str().unwrap());
    symlink(&outside, folder.join("to-folder")).unwrap();
    symlink(outside.join("precious.txt"), folder.join("to-file")).unwrap();
    symlink(store.folder().join("nowhere"), folder.join("to-nothing")).unwrap();
    std::fs::create_dir(folder.join("deep")).unwrap();
    symlink(&outside, folder.join("deep/again")).unwrap();
    client.done("session_connect", json!({"topic": "other"})).unwrap();
    let size = client.done("session_clear", json!({})).unwrap()["size"].as_u64().unwrap();
    assert!(size < 1000, "links count for nothing: {size}");
    let cleared = client.done("session_clear", json!({"topics": ["links", "never-was"]})).unwrap();
    assert_eq!(cleared, json!({"removed": ["links"], "missing": ["never-was"]}));
    assert!(!folder.exists());
    assert_eq!(std::fs::read_to_string(outside.join("precious.txt")).unwrap(), "keep me");
}

#[test]
fn a_topic_that_is_a_link_is_not_followed() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    let data = client.done("session_connect", json!({"topic": "here"})).unwrap();
    let folder = PathBuf::from(data["folder"].as_str().unwrap());
    let outside = store.folder().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("precious.txt"), "keep me").unwrap();
    symlink(&outside, folder.parent().unwrap().join("linked")).unwrap();
    let _ = client.call("session_clear", json!({"topics": ["linked"]})).unwrap();
    assert!(outside.join("precious.txt").exists());
}

#[test]
fn a_bad_name_removes_nothing() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    for topic in ["one", "two"] {
        client.done("session_connect", json!({"topic": topic})).unwrap();
    }
    for bad in ["..", ".", "", "a/b", "../../../server", "/etc", "two words", "event"] {
        let answer = client.call("session_clear", json!({"topics": ["one", bad]})).unwrap();
        if bad == "event" {
            // The folders of launched sessions are not a topic, whether refused or missing.
            continue;
        }
        assert!(answer.refused() && is_row(&answer.text(), "not_a_topic"), "{bad:?}: {}", answer.text());
        assert!(names(&mut client).contains(&"one".to_owned()));
    }
}

#[test]
fn what_cannot_be_deleted_is_named_with_what_was_removed() {
    let store = store();
    let trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    client.done("session_connect", json!({"topic": "a-first"})).unwrap();
    let data = client.done("session_connect", json!({"topic": "b-held"})).unwrap();
    let held = PathBuf::from(data["folder"].as_str().unwrap()).join("held");
    std::fs::create_dir(&held).unwrap();
    let Some(_hold) = Hold::on(&held) else {
        println!("skipped: nothing on this machine keeps a folder from being removed");
        return;
    };
    let text = client.refused("session_clear", json!({"topics": ["a-first", "b-held"]})).unwrap();
    assert!(is_row(&text, "topic_not_removed"), "{text}");
    assert!(text.contains("a-first") && text.contains("held"), "{text}");
    assert!(!names(&mut client).contains(&"a-first".to_owned()));
}

/// Keeps a folder from being removed: an ordinary user by its mode, root by the file system or a mount.
enum Hold {
    Mode(PathBuf),
    Immutable(PathBuf),
    Mounted(PathBuf),
}

impl Hold {
    fn on(folder: &Path) -> Option<Self> {
        std::fs::write(folder.join("file"), "x").unwrap();
        if !is_root() {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o500)).unwrap();
            return Some(Self::Mode(folder.to_owned()));
        }
        if done("chattr", &["+i"], folder) {
            return Some(Self::Immutable(folder.to_owned()));
        }
        done("mount", &["-t", "tmpfs", "none"], folder).then(|| Self::Mounted(folder.to_owned()))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        match self {
            Self::Mode(folder) => {
                let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
            }
            Self::Immutable(folder) => {
                done("chattr", &["-i"], folder);
            }
            Self::Mounted(folder) => {
                done("umount", &[], folder);
            }
        }
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}

fn done(command: &str, arguments: &[&str], folder: &Path) -> bool {
    let run = Command::new(command).args(arguments).arg(folder).output();
    run.is_ok_and(|output| output.status.success())
}
