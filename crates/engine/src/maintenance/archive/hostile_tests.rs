//! Archives that somebody made to harm who reads them, and pipes in their place.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::EntryType;

use super::super::error::MaintenanceError;
use super::read::{check, head};
use super::{HEAD, Head, MANIFEST};

/// An honest head, then an entry that says it is this large; little of it is there.
fn archive(file: &Path, name: &str, kind: EntryType, size: u64) {
    let mut out = GzEncoder::new(File::create(file).unwrap(), Compression::fast());
    let head = serde_json::to_vec(&Head::new("Store", jiff::Timestamp::UNIX_EPOCH)).unwrap();
    for (name, kind, size, bytes) in
        [(HEAD, EntryType::Regular, head.len() as u64, head), (name, kind, size, vec![b'a'; 4096])]
    {
        let mut header = tar::Header::new_gnu();
        header.set_path(name).unwrap();
        header.set_entry_type(kind);
        header.set_mode(0o600);
        header.set_mtime(0);
        header.set_size(size);
        header.set_cksum();
        out.write_all(header.as_bytes()).unwrap();
        out.write_all(&bytes).unwrap();
        out.write_all(&vec![0; bytes.len().next_multiple_of(512) - bytes.len()]).unwrap();
    }
    out.finish().unwrap();
}

fn words(file: &Path) -> String {
    match check(file, &mut |_| std::ops::ControlFlow::Continue(())) {
        Err(MaintenanceError::Archive(words)) => words,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was taken"),
    }
}

#[test]
fn what_would_fill_the_memory_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evil.tar.gz");
    for (name, kind, size, told) in [
        ("././@LongLink", EntryType::GNULongName, 8 << 30, "a name is too long"),
        ("././@LongLink", EntryType::GNULongLink, 8 << 30, "no plain file"),
        ("pax", EntryType::XHeader, 8 << 30, "no plain file"),
        ("pax", EntryType::XGlobalHeader, 8 << 30, "no plain file"),
        ("rows/users/00001.jsonl", EntryType::Regular, 1 << 30, "is too large"),
        ("config.json", EntryType::Regular, 1 << 30, "is too large"),
        (MANIFEST, EntryType::Regular, 1 << 30, "is too large"),
    ] {
        archive(&file, name, kind, size);
        let words = words(&file);
        assert!(words.contains(told), "{name} {kind:?}: {words}");
    }
}

#[test]
fn a_long_name_belongs_to_one_entry_that_follows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evil.tar.gz");
    archive(&file, "././@LongLink", EntryType::GNULongName, 4096);
    assert_eq!(words(&file), "it is cut off");
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert_eq!(words(&pipe), "it is no file");
    assert!(head(&pipe).is_err());
    let mark = fs::symlink_metadata(&pipe).unwrap();
    assert!(!mark.is_file(), "it is left as it was");
}
