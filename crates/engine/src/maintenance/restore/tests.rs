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

/// Mounts of a namespace of one's own, which end with the process.
#[cfg(target_os = "linux")]
#[test]
fn mounts_lost_and_found_and_mounted_settings_close_no_store() {
    use std::process::Command;
    const INSIDE: &str = "SHOPWRIGHT_TEST_MOUNTS";
    if std::env::var_os(INSIDE).is_some() {
        return amid_mounts();
    }
    let can =
        |flags: &str| Command::new("unshare").args([flags, "true"]).status().is_ok_and(|end| end.success());
    let Some(flags) = ["-m", "-rm"].into_iter().find(|flags| can(flags)) else {
        eprintln!("SKIPPED: nothing can be mounted here");
        return;
    };
    let name = "maintenance::restore::tests::mounts_lost_and_found_and_mounted_settings_close_no_store";
    let own = std::env::current_exe().unwrap();
    let output =
        Command::new("unshare").arg(flags).arg(own).args(["--exact", name]).env(INSIDE, "1").output();
    let output = output.unwrap();
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && words.contains("1 passed"), "{words}");
}

#[cfg(target_os = "linux")]
fn run(program: &str, arguments: &[&std::ffi::OsStr]) {
    assert!(std::process::Command::new(program).args(arguments).status().unwrap().success(), "{program}");
}

#[cfg(target_os = "linux")]
fn amid_mounts() {
    let folder = tempfile::tempdir().unwrap();
    let root = &folder.path().join("store");
    fs::create_dir(root).unwrap();
    fs::remove_file(spoilt(root)).unwrap();
    store::set_blocked(root, "admin", false).unwrap();
    let (files, disk) = (root.join("files"), folder.path().join("disk"));
    for name in ["photos", "lost+found", "deep/inner"] {
        fs::create_dir_all(files.join(name)).unwrap();
    }
    fs::create_dir(&disk).unwrap();
    fs::write(disk.join("q"), "mounted").unwrap();
    fs::copy(root.join("config.json"), folder.path().join("mounted.json")).unwrap();
    let bind = |from: &Path, to: &Path| run("mount", &["--bind".as_ref(), from.as_os_str(), to.as_os_str()]);
    let unmount = |at: &Path| run("umount", &[at.as_os_str()]);
    bind(&disk, &files.join("photos"));
    bind(&disk, &files.join("deep/inner"));
    bind(&folder.path().join("mounted.json"), &root.join("config.json"));
    fs::write(files.join("lost+found/x"), "found").unwrap();
    let write = |text: &str| {
        fs::write(files.join("a"), text).unwrap();
        fs::write(files.join("deep/f"), text).unwrap();
    };
    write("then");
    let archive = folder.path().join("backup.tar.gz");
    let left_out = maintenance::backup(root, &archive, &mut go).unwrap().left_out;
    assert_eq!(left_out, ["files/deep/inner", "files/lost+found", "files/photos"]);
    write("now");
    store::set_blocked(root, "admin", true).unwrap();
    let options = RestoreOptions { from: archive.clone(), database: None, replace: false };
    restore(root, &options, &mut go).unwrap();
    let read = |name: &str| fs::read_to_string(files.join(name)).unwrap();
    let is_whole = || {
        assert_eq!(state(root), ("then".to_owned(), false, false));
        assert_eq!((read("deep/f").as_str(), read("lost+found/x").as_str()), ("then", "found"));
        assert_eq!((read("photos/q").as_str(), read("deep/inner/q").as_str()), ("mounted", "mounted"));
        assert!(!root.join("shop.lock").exists() && fs::read_dir(&files).unwrap().count() == 5);
        assert!(crate::mounts::is_mount(&root.join("config.json")));
    };
    is_whole();
    // What the backup has within a mount cannot be put there: it is said before anything is done.
    unmount(&files.join("photos"));
    fs::write(files.join("photos/z"), "then").unwrap();
    maintenance::backup(root, &archive, &mut go).unwrap();
    fs::remove_file(files.join("photos/z")).unwrap();
    bind(&disk, &files.join("photos"));
    assert!(matches!(restore(root, &options, &mut go), Err(MaintenanceError::InTheWay(..))));
    is_whole();
    // Mounted when the rows were in already: the rest comes to its place, and the store is opened.
    unmount(&files.join("photos"));
    write("now");
    store::set_blocked(root, "admin", true).unwrap();
    bring_in_only(root, &archive);
    bind(&disk, &files.join("photos"));
    assert!(maintenance::unlock(root, false).unwrap());
    is_whole();
    for name in ["photos", "deep/inner"] {
        unmount(&files.join(name));
    }
    unmount(&root.join("config.json"));
}
