//! Tests of falling back where no keyring answers, each with a message bus of its own.
//!
//! A process has one bus, so each test runs this test binary again.
//! With `SHOPWRIGHT_TEST_KEYRING=1` the session's own keyring is used as well.

#![cfg(all(unix, not(target_os = "macos")))]

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::{Account, PasswordError, SavedIn, encrypted_file, forget, found, save, saved};
use super::PATIENCE;
use crate::{Home, Keyring};

const BUS: &str = "DBUS_SESSION_BUS_ADDRESS";
/// Names the home to the test that is run again.
const HOME: &str = "SHOPWRIGHT_TEST_HOME";

/// Runs a test of this file again, with this bus.
fn run_with(bus: Option<&str>, test: &str) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("passwords::system_keyring::tests::{test}")]).env(HOME, folder.path());
    match bus {
        Some(address) => command.env(BUS, address),
        None => command.env_remove(BUS),
    };
    let start = Instant::now();
    let out = command.output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && text.contains("1 passed"), "with {bus:?}: {text}");
    start.elapsed()
}

/// The home of a test that is run again.
fn home(keyring: Keyring) -> Option<Home> {
    let folder = std::env::var_os(HOME)?;
    Some(Home::at(Path::new(&folder).join("home")).with_keyring(keyring))
}

fn account(store: &str, login: &str) -> Account {
    Account::new(store.as_ref(), login, "https://tea.example")
}

#[test]
fn played_with_the_keyring_out_of_reach() {
    let Some(home) = home(Keyring::Auto) else { return };
    let store = &account("/stores/tea", "irina");
    encrypted_file::note_keyring(&home, store).unwrap();
    let error = found(&home, store).unwrap_err();
    assert!(matches!(&error, PasswordError::OutOfReach(why) if !why.is_empty()), "{error}");
    assert!(forget(&home, store, None).is_err(), "what is in the keyring was not forgotten");
}

#[test]
fn a_keyring_out_of_reach_is_told_as_such() {
    run_with(None, "played_with_the_keyring_out_of_reach");
    run_with(Some("unix:path=/nowhere/bus"), "played_with_the_keyring_out_of_reach");
}

#[test]
fn played_without_a_keyring() {
    let Some(home) = home(Keyring::Auto) else { return };
    let store = &account("/stores/чай", "irina");
    assert_eq!(found(&home, store).unwrap(), None);
    assert_eq!(save(&home, store, "green leaf").unwrap(), SavedIn::File);
    let (password, saved_in) = found(&home, store).unwrap().unwrap();
    assert_eq!((password.as_str(), saved_in), ("green leaf", SavedIn::File));
    forget(&home, store, None).unwrap();
    assert_eq!(saved(&home, store).unwrap(), None);
}

#[test]
fn played_with_nothing_but_the_keyring() {
    let Some(home) = home(Keyring::Os) else { return };
    let store = &account("/stores/tea", "irina");
    let refused = |error| matches!(error, PasswordError::Keyring(why) if !why.is_empty());
    assert!(refused(save(&home, store, "green leaf").unwrap_err()));
    assert!(refused(saved(&home, store).unwrap_err()));
    assert!(refused(forget(&home, store, None).unwrap_err()));
    assert!(!home.path().exists());
}

#[test]
fn without_a_bus_nothing_is_tried() {
    assert!(run_with(None, "played_without_a_keyring") < Duration::from_secs(2));
    run_with(Some(""), "played_without_a_keyring");
}

#[test]
fn a_dead_bus_falls_back_to_the_file() {
    for address in
        ["unix:path=/nowhere/bus", "unix:abstract=nobody", "unix:", "nonsense", "tcp:host=::,port=x"]
    {
        run_with(Some(address), "played_without_a_keyring");
    }
}

#[test]
fn a_bus_that_says_nothing_falls_back_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bus");
    let _silent = UnixListener::bind(&path).unwrap();
    let took = run_with(Some(&format!("unix:path={}", path.display())), "played_without_a_keyring");
    assert!(took >= PATIENCE && took < PATIENCE * 2, "it is waited for once, not {took:?}");
}

#[test]
fn the_keyring_alone_is_not_replaced_by_the_file() {
    run_with(None, "played_with_nothing_but_the_keyring");
    run_with(Some("unix:path=/nowhere/bus"), "played_with_nothing_but_the_keyring");
}

#[test]
fn the_keyring_of_this_session_keeps_a_password() {
    if std::env::var_os("SHOPWRIGHT_TEST_KEYRING").is_none() {
        println!("skipped: SHOPWRIGHT_TEST_KEYRING is not set");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home")).with_keyring(Keyring::Auto);
    let store = &account("/stores/чай", "irina");
    forget(&home, store, None).unwrap();
    for password in ["green leaf", "пароль \"2\"", ""] {
        assert_eq!(save(&home, store, password).unwrap(), SavedIn::Os);
        assert_eq!(saved(&home, store).unwrap().unwrap().as_str(), password);
        assert_eq!(saved(&home, &account("/stores/чай", "oleg")).unwrap(), None);
        assert_eq!(saved(&home, &account("/stores/tea", "irina")).unwrap(), None);
    }
    let file = std::fs::read_to_string(home.path().join("credentials")).unwrap();
    assert!(file.contains("https://tea.example") && !file.contains("sealed"), "no password went to the file");
    // Saved while the keyring was away, and then again.
    save(&home.clone().with_keyring(Keyring::File), store, "newer leaf").unwrap();
    let (password, saved_in) = found(&home, store).unwrap().unwrap();
    assert_eq!((password.as_str(), saved_in), ("newer leaf", SavedIn::File));
    assert_eq!(save(&home, store, "newest leaf").unwrap(), SavedIn::Os);
    let (password, saved_in) = found(&home, store).unwrap().unwrap();
    assert_eq!((password.as_str(), saved_in), ("newest leaf", SavedIn::Os));
    forget(&home, store, None).unwrap();
    assert_eq!(saved(&home, store).unwrap(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_bus_that_talks_nonsense_falls_back(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bus");
        let listener = UnixListener::bind(&path).unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let _ = stream.write_all(b"OK 1\r\n").and_then(|()| stream.write_all(&bytes));
                let _ = stream.shutdown(std::net::Shutdown::Write);
                let _ = stream.read_to_end(&mut Vec::new());
            }
        });
        run_with(Some(&format!("unix:path={}", path.display())), "played_without_a_keyring");
    }
}
