//! Tests of a restore that is killed at a step that no clock hits.

use std::ops::ControlFlow;

use zeroize::Zeroizing;

use super::*;
use crate::maintenance;
use crate::store::InitOptions;

fn go(_: Step<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A store with a file and a person, and its backup; since then both have changed.
fn spoilt(root: &Path) -> PathBuf {
    let options =
        InitOptions { admin_password: Zeroizing::new("secret".to_owned()), ..InitOptions::default() };
    store::init(root, &options).unwrap();
    fs::write(root.join("files/a"), "then").unwrap();
    let file = root.join("backup.tar.gz");
    maintenance::backup(root, &file, &mut go).unwrap();
    fs::write(root.join("files/a"), "now").unwrap();
    fs::write(root.join("files/b"), "now").unwrap();
    store::set_blocked(root, "admin", true).unwrap();
    file
}

/// Text of the file, whether the person is blocked, whether anything is left of a restore.
fn state(root: &Path) -> (String, bool, bool) {
    let db = store::open_db(root).unwrap();
    let user = db.read(|tx| db::users::by_login(tx, "admin")).unwrap().unwrap();
    let names = fs::read_dir(root.join("files")).unwrap().map(|entry| entry.unwrap().file_name());
    let hidden = names.filter(|name| name.to_string_lossy().starts_with('.')).count();
    let is_left = hidden > 0 || root.join("core/restore").exists() || db.write_freeze().unwrap().is_some();
    (fs::read_to_string(root.join("files/a")).unwrap(), user.blocked, is_left)
}

fn bring_in_only(root: &Path, file: &Path) {
    let checked = read::check(file, &mut go).unwrap();
    let config = config_file::read(root).unwrap();
    let db = store::open_db(root).unwrap();
    let freeze = WriteFreeze::new(FreezeReason::Copy).unwrap();
    fs::write(root.join("shop.lock"), "closed by `shopwright store restore`\n").unwrap();
    bring_in(root, &checked, file, &db, &freeze, &config, &mut go).unwrap();
}

#[test]
fn killed_when_the_rows_are_in_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let file = spoilt(root);
    bring_in_only(root, &file);
    assert!(maintenance::unlock(root, false).unwrap());
    assert_eq!(state(root), ("then".to_owned(), false, false));
    assert!(!root.join("files/b").exists());
}

#[test]
fn killed_before_the_rows_are_in_it_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let file = spoilt(root);
    let checked = read::check(&file, &mut go).unwrap();
    let config = config_file::read(root).unwrap();
    let stage = Staging::begin(root, &WriteFreeze::new(FreezeReason::Copy).unwrap(), &config).unwrap();
    write_files(&stage, &checked, &file, &mut go).unwrap();
    maintenance::unlock(root, false).unwrap();
    assert_eq!(state(root), ("now".to_owned(), true, false));
}

#[test]
fn after_either_the_next_restore_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let file = spoilt(root);
    bring_in_only(root, &file);
    let options = RestoreOptions { from: file, database: None, replace: false };
    assert!(!restore(root, &options, &mut go).unwrap().is_closed);
    assert_eq!(state(root), ("then".to_owned(), false, false));
    assert!(!root.join("shop.lock").exists());
}

#[test]
fn what_is_no_database_is_never_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let file = spoilt(root);
    let precious = root.join("core/precious.txt");
    fs::write(&precious, "not a database").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().join("precious.txt");
    fs::write(&outside, "not a database").unwrap();
    for database in [
        "sqlite:core/precious.txt".to_owned(),
        format!("sqlite:{}", outside.display()),
        "sqlite:core".to_owned(),
        "sqlite:config.json".to_owned(),
        "sqlite:".to_owned(),
    ] {
        let options = RestoreOptions { from: file.clone(), database: Some(database.clone()), replace: true };
        let refused = restore(root, &options, &mut go);
        assert!(matches!(refused, Err(MaintenanceError::DatabasePath(..))), "{database}: {refused:?}");
    }
    for kept in [&precious, &outside] {
        assert_eq!(fs::read_to_string(kept).unwrap(), "not a database");
    }
    assert_eq!(state(root), ("now".to_owned(), true, false));
    assert!(!root.join("shop.lock").exists());
}
