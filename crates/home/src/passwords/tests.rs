//! Tests of the encrypted file.

use std::fs;
use std::path::Path;

use super::system_keyring::KeyringError;
use super::{Account, PasswordError, SavedIn, forget, found, of_keyring, save, saved, unless_absent};
use crate::{Home, Keyring};

fn home(folder: &Path) -> Home {
    Home::at(folder.join("home")).with_keyring(Keyring::File)
}

fn account(store: &str, login: &str) -> Account {
    Account::new(store.as_ref(), login, "https://tea.example")
}

fn read(home: &Home, store: &str, login: &str) -> Option<String> {
    saved(home, &account(store, login)).unwrap().map(|password| password.as_str().to_owned())
}

#[test]
fn a_password_is_saved_for_its_store_and_login() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    assert_eq!(read(&home, "/tea", "irina"), None);
    assert_eq!(save(&home, &account("/tea", "irina"), "leaf").unwrap(), SavedIn::File);
    save(&home, &account("/tea", "oleg"), "пароль").unwrap();
    save(&home, &account("/tea", "irina"), "green leaf").unwrap();
    assert_eq!(read(&home, "/tea", "irina").as_deref(), Some("green leaf"));
    assert_eq!(read(&home, "/tea", "oleg").as_deref(), Some("пароль"));
    assert_eq!(read(&home, "/coffee", "irina"), None);
    forget(&home, &account("/tea", "irina"), None).unwrap();
    forget(&home, &account("/tea", "nobody"), None).unwrap();
    assert_eq!(read(&home, "/tea", "irina"), None);
    assert_eq!(read(&home, "/tea", "oleg").as_deref(), Some("пароль"));
}

#[cfg(unix)]
#[test]
fn the_files_are_private_and_hold_no_password() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    save(&home, &account("/tea", "irina"), "green leaf").unwrap();
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
    save(&home, &account("/tea", "irina"), "leaf").unwrap();
    let key = home.path().join("credentials.key");
    for wrong in [Some(vec![7; 32]), Some(vec![]), None] {
        match wrong {
            Some(bytes) => fs::write(&key, bytes).unwrap(),
            None => fs::remove_file(&key).unwrap(),
        }
        assert!(matches!(saved(&home, &account("/tea", "irina")), Err(PasswordError::Undecryptable)));
    }
    save(&home, &account("/tea", "irina"), "new leaf").unwrap();
    assert_eq!(read(&home, "/tea", "irina").as_deref(), Some("new leaf"));
}

#[test]
fn a_sealed_password_cannot_be_moved_under_another_login() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    save(&home, &account("/tea", "irina"), "leaf").unwrap();
    let path = home.path().join("credentials");
    let text = fs::read_to_string(&path).unwrap().replace("irina", "oleg");
    fs::write(&path, text).unwrap();
    assert!(matches!(saved(&home, &account("/tea", "oleg")), Err(PasswordError::Undecryptable)));
}

#[test]
fn a_damaged_file_is_named_and_a_new_password_replaces_it() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    save(&home, &account("/tea", "irina"), "leaf").unwrap();
    let path = home.path().join("credentials");
    for text in [
        "",
        "{\"stores\":{\"/tea\":{\"irina\":{\"address\":\"https://tea.example\",\"sealed\":\"AA\"}}}}",
        "\u{0}",
    ] {
        fs::write(&path, text).unwrap();
        assert!(saved(&home, &account("/tea", "irina")).is_err(), "{text:?}");
        forget(&home, &account("/tea", "irina"), None).unwrap();
    }
    save(&home, &account("/tea", "irina"), "leaf").unwrap();
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
                save(home, &account("/tea", &format!("p{number}")), &format!("w{number}")).unwrap()
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
    save(&home, &account("/tea", "irina"), "leaf").unwrap();
    let (path, away) = (home.path().join("credentials"), home.path().join("away"));
    fs::rename(&path, &away).unwrap();
    // Reading a folder fails with something else than "not found".
    fs::create_dir(&path).unwrap();
    let error = save(&home, &account("/coffee", "irina"), "bean").unwrap_err();
    assert!(matches!(error, PasswordError::Home(crate::HomeError::Io { .. })), "{error}");
    fs::remove_dir(&path).unwrap();
    fs::rename(&away, &path).unwrap();
    save(&home, &account("/coffee", "irina"), "bean").unwrap();
    assert_eq!(read(&home, "/tea", "irina").as_deref(), Some("leaf"));
}

#[test]
fn a_password_is_for_the_address_it_was_typed_for() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    save(&home, &account("/tea", "irina"), "leaf").unwrap();
    for same in ["https://tea.example/", "HTTPS://Tea.Example"] {
        assert!(found(&home, &Account::new("/tea".as_ref(), "irina", same)).unwrap().is_some(), "{same}");
    }
    for other in
        ["https://evil.example", "http://tea.example", "https://tea.example:8443", "https://tea.example/b"]
    {
        let error = found(&home, &Account::new("/tea".as_ref(), "irina", other)).unwrap_err();
        assert!(
            matches!(&error, PasswordError::OtherAddress(was) if was == "https://tea.example"),
            "{error}"
        );
    }
    // Nor does a change of the file move it.
    let path = home.path().join("credentials");
    let text = fs::read_to_string(&path).unwrap().replace("tea.example", "evil.example");
    fs::write(&path, text).unwrap();
    let moved = Account::new("/tea".as_ref(), "irina", "https://evil.example");
    assert!(matches!(found(&home, &moved), Err(PasswordError::Undecryptable)));
    forget(&home, &account("/tea", "irina"), None).unwrap();
    assert_eq!(found(&home, &moved).unwrap(), None);
}

#[test]
fn a_password_without_its_address_is_asked_for_anew() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    save(&home, &account("/tea", "irina"), "leaf").unwrap();
    let path = home.path().join("credentials");
    fs::write(&path, "{\"stores\":{\"/tea\":{\"irina\":\"c2VhbGVk\"}}}").unwrap();
    assert_eq!(read(&home, "/tea", "irina"), None);
    save(&home, &account("/tea", "irina"), "leaf").unwrap();
    assert_eq!(read(&home, "/tea", "irina").as_deref(), Some("leaf"));
}

#[test]
fn a_keyring_that_does_not_answer_is_not_an_empty_one() {
    let none = || KeyringError::None("there is no message bus here".to_owned());
    let locked = || KeyringError::Failed("it did not answer in time".to_owned());
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    super::encrypted_file::note_keyring(&home, &account("/tea", "irina")).unwrap();
    let noted = || super::encrypted_file::entry(&home, &account("/tea", "irina"));
    assert!(matches!(of_keyring(Err(none()), noted()), Err(PasswordError::OutOfReach(_))));
    assert!(matches!(of_keyring(Err(locked()), noted()), Err(PasswordError::Keyring(_))));
    assert!(matches!(of_keyring(Err(locked()), Ok(None)), Err(PasswordError::Keyring(_))));
    assert!(matches!(of_keyring(Err(none()), Ok(None)), Ok(None)));
    assert!(matches!(of_keyring(Ok(None), noted()), Ok(None)));
}
