//! Tests of the encrypted file.

use std::fs;
use std::path::Path;

use super::system_keyring::KeyringError;
use super::{PasswordError, SavedIn, forget, save, saved, unless_absent};
use crate::{Home, Keyring};

fn home(folder: &Path) -> Home {
    Home::at(folder.join("home")).with_keyring(Keyring::File)
}

fn read(home: &Home, store: &str, login: &str) -> Option<String> {
    saved(home, store.as_ref(), login).unwrap().map(|password| password.as_str().to_owned())
}

#[test]
fn a_password_is_saved_for_its_store_and_login() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    assert_eq!(read(&home, "/tea", "irina"), None);
    assert_eq!(save(&home, "/tea".as_ref(), "irina", "leaf").unwrap(), SavedIn::File);
    save(&home, "/tea".as_ref(), "oleg", "пароль").unwrap();
    save(&home, "/tea".as_ref(), "irina", "green leaf").unwrap();
    assert_eq!(read(&home, "/tea", "irina").as_deref(), Some("green leaf"));
    assert_eq!(read(&home, "/tea", "oleg").as_deref(), Some("пароль"));
    assert_eq!(read(&home, "/coffee", "irina"), None);
    forget(&home, "/tea".as_ref(), "irina", None).unwrap();
    forget(&home, "/tea".as_ref(), "nobody", None).unwrap();
    assert_eq!(read(&home, "/tea", "irina"), None);
    assert_eq!(read(&home, "/tea", "oleg").as_deref(), Some("пароль"));
}

#[cfg(unix)]
#[test]
fn the_files_are_private_and_hold_no_password() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    save(&home, "/tea".as_ref(), "irina", "green leaf").unwrap();
    for file in fs::read_dir(home.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(5).any(|part| part == b"green"), "{}", path.display());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
}

#[test]
fn without_its_key_a_password_is_not_decrypted() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    save(&home, "/tea".as_ref(), "irina", "leaf").unwrap();
    let key = home.path().join("credentials.key");
    for wrong in [Some(vec![7; 32]), Some(vec![]), None] {
        match wrong {
            Some(bytes) => fs::write(&key, bytes).unwrap(),
            None => fs::remove_file(&key).unwrap(),
        }
        assert!(matches!(saved(&home, "/tea".as_ref(), "irina"), Err(PasswordError::Undecryptable)));
    }
    save(&home, "/tea".as_ref(), "irina", "new leaf").unwrap();
    assert_eq!(read(&home, "/tea", "irina").as_deref(), Some("new leaf"));
}

#[test]
fn a_sealed_password_cannot_be_moved_under_another_login() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    save(&home, "/tea".as_ref(), "irina", "leaf").unwrap();
    let path = home.path().join("credentials");
    let text = fs::read_to_string(&path).unwrap().replace("irina", "oleg");
    fs::write(&path, text).unwrap();
    assert!(matches!(saved(&home, "/tea".as_ref(), "oleg"), Err(PasswordError::Undecryptable)));
}

#[test]
fn a_damaged_file_is_named_and_a_new_password_replaces_it() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    save(&home, "/tea".as_ref(), "irina", "leaf").unwrap();
    let path = home.path().join("credentials");
    for text in ["", "{\"stores\":{\"/tea\":{\"irina\":\"AA\"}}}", "\u{0}"] {
        fs::write(&path, text).unwrap();
        assert!(saved(&home, "/tea".as_ref(), "irina").is_err(), "{text:?}");
        forget(&home, "/tea".as_ref(), "irina", None).unwrap();
    }
    save(&home, "/tea".as_ref(), "irina", "leaf").unwrap();
    assert_eq!(read(&home, "/tea", "irina").as_deref(), Some("leaf"));
}

#[test]
fn passwords_saved_at_once_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    std::thread::scope(|scope| {
        for number in 0..8 {
            let home = &home;
            scope.spawn(move || {
                save(home, "/tea".as_ref(), &format!("p{number}"), &format!("w{number}")).unwrap()
            });
        }
    });
    for number in 0..8 {
        assert_eq!(read(&home, "/tea", &format!("p{number}")), Some(format!("w{number}")));
    }
}

#[test]
fn a_keyring_that_is_away_has_forgotten_nothing_it_was_given() {
    let away = || Err(KeyringError::None("it did not answer in time".to_owned()));
    assert!(unless_absent(away(), None).is_ok());
    assert!(unless_absent(away(), Some(SavedIn::File)).is_ok());
    assert!(unless_absent(away(), Some(SavedIn::Os)).is_err());
    assert!(unless_absent(Err(KeyringError::Failed("locked".to_owned())), None).is_err());
}

#[test]
fn a_file_that_cannot_be_read_now_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    save(&home, "/tea".as_ref(), "irina", "leaf").unwrap();
    let (path, away) = (home.path().join("credentials"), home.path().join("away"));
    fs::rename(&path, &away).unwrap();
    // Reading a folder fails with something else than "not found".
    fs::create_dir(&path).unwrap();
    let error = save(&home, "/coffee".as_ref(), "irina", "bean").unwrap_err();
    assert!(matches!(error, PasswordError::Home(crate::HomeError::Io { .. })), "{error}");
    fs::remove_dir(&path).unwrap();
    fs::rename(&away, &path).unwrap();
    save(&home, "/coffee".as_ref(), "irina", "bean").unwrap();
    assert_eq!(read(&home, "/tea", "irina").as_deref(), Some("leaf"));
}
