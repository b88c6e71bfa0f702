//! Tests of whole-file writes.

use std::fs;

use super::{same_folder, write_atomic};

#[cfg(unix)]
#[test]
fn a_rewrite_keeps_mode_and_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, &link).unwrap();
    write_atomic(&link, b"new").unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn folders_are_compared_after_resolving() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a");
    fs::create_dir(&inner).unwrap();
    assert!(same_folder(&inner, &folder.path().join("a/../a")));
    assert!(!same_folder(&inner, folder.path()));
    assert!(same_folder("/nowhere/x".as_ref(), "/nowhere/x".as_ref()));
}
