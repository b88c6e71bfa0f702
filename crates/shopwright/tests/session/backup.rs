//! Backups: of one moment while an engine writes, restored on either database, refused when they are not whole.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use testkit::{Running, TestStore, run};

use crate::setup::store;
use crate::store_contents::{
    Files, LONG, Other, Sums, add_rows, command, database, done, dump, finish, number, refused, store_sums,
    sums, tree,
};

/// A store with rows and files.
fn furnished() -> TestStore<'static> {
    let store = store();
    let root = store.root();
    fs::create_dir_all(root.join("files/photos/empty")).unwrap();
    for count in 0..40 {
        let name = format!("files/photos/Чай {count}.jpg");
        fs::write(root.join(name), noise(5000 * count)).unwrap();
    }
    let long = "d/".repeat(60);
    fs::create_dir_all(root.join("units").join(&long)).unwrap();
    fs::write(root.join("units").join(&long).join("unit.toml"), "x = 1").unwrap();
    fs::write(root.join("templates/default/statics/a.css"), "a {}").unwrap();
    fs::write(root.join("profiles/secret.json"), "{}").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(root.join("profiles/secret.json"), fs::Permissions::from_mode(0o600)).unwrap();
    }
    store
}

/// Bytes that do not pack.
fn noise(length: usize) -> Vec<u8> {
    let mut seed = 1 + length as u64;
    let next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(length).collect()
}

fn backup(store: &TestStore<'_>, name: &str) -> PathBuf {
    let file = store.folder().join(name);
    done(store, "backup", &["--to", file.to_str().unwrap()]);
    file
}

/// All that a store is: rows, files, settings.
fn state(store: &TestStore<'_>) -> (Sums, Files) {
    (store_sums(store), tree(&store.root()))
}

/// Changes rows, files and settings.
fn spoil(store: &TestStore<'_>) {
    let root = store.root();
    store.sql("delete from tasks where id > 1; update users set name = 'Somebody'; delete from notes where level = 'own'").unwrap();
    fs::write(root.join("files/photos/Чай 3.jpg"), "other").unwrap();
    fs::remove_file(root.join("templates/default/statics/a.css")).unwrap();
    fs::write(root.join("files/new.txt"), "new").unwrap();
    fs::create_dir_all(root.join("units/added/later")).unwrap();
    store.config(|config| drop(config.insert("name".to_owned(), json!("Another name")))).unwrap();
}

#[cfg(unix)]
#[test]
fn a_backup_that_finds_no_room_names_itself() {
    let store = furnished();
    fs::write(store.root().join("files/large.jpg"), noise(3 << 20)).unwrap();
    let file = store.folder().join("kept.tar.gz");
    // What a full disk says to a write, for this command alone.
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 2048; exec \"$0\" \"$@\""]);
    command.arg(store.command(&[]).get_program()).args(["store", "backup", "--root"]).arg(store.root());
    let output = run(command.arg("--to").arg(&file), b"", testkit::PATIENCE).unwrap();
    assert_eq!(output.code, 1, "{}", output.err);
    let wanted = format!("the backup `{}` cannot be written: ", file.display());
    assert!(output.err.contains(&wanted) && !output.err.contains("files/"), "{}", output.err);
    assert!(!file.exists() && !store.folder().join("kept.tar.gz.part").exists());
}

#[test]
fn a_restored_store_is_as_it_was() {
    let store = furnished();
    add_rows(&store, 2000);
    let (before, cells) = (state(&store), dump(&store));
    let file = backup(&store, "a.tar.gz");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(state(&store), before, "a backup changes nothing");
    spoil(&store);
    store.config(|config| drop(config.insert("listen".to_owned(), json!("127.0.0.1:9999")))).unwrap();
    let restored = done(&store, "restore", &["--from", file.to_str().unwrap()]);
    assert!(restored.err.contains("every one compared"), "{}", restored.err);
    let after = state(&store);
    assert_eq!(after.0, before.0);
    for (table, rows) in dump(&store) {
        assert!(rows == cells[&table], "{table}: every cell is as it was");
    }
    let without = |mut tree: Files| {
        let config: Value = serde_json::from_slice(&tree.remove("config.json").unwrap().unwrap()).unwrap();
        (tree, config)
    };
    let ((files, config), (files_before, config_before)) = (without(after.1), without(before.1));
    assert!(files == files_before);
    assert_eq!(config["name"], config_before["name"]);
    assert_eq!(config["listen"], "127.0.0.1:9999", "what belongs to the machine stays");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let secret = fs::metadata(store.root().join("profiles/secret.json")).unwrap();
        assert_eq!(secret.permissions().mode() & 0o777, 0o600);
    }
    let _engine = store.serve(0).unwrap();
}

#[test]
fn a_store_is_restored_on_another_machine_and_another_database() {
    let store = furnished();
    let (rows, mut files) = state(&store);
    files.remove("config.json");
    let file = backup(&store, "a.tar.gz");
    let other = Other::than(&store);
    let fresh = store.folder().join("another machine");
    let restore = |more: &[&str]| {
        let mut command = store.command(&["store", "restore", "--from"]);
        command.arg(&file).arg("--root").arg(&fresh).args(more);
        run(&mut command, b"", LONG).unwrap()
    };
    let output = restore(&["--database", &other.url]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert_eq!(database(&fresh), other.url);
    assert_eq!(sums(&other.url, &fresh), rows);
    let mut there = tree(&fresh);
    there.remove("config.json");
    assert!(there == files);
    // Once more, in place of itself; but not in place of rows that are not this store's.
    assert_eq!(restore(&[]).code, 0);
    fs::remove_file(fresh.join("config.json")).unwrap();
    let output = restore(&["--database", &other.url]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("holds rows already"), "{}", output.err);
    assert_eq!(restore(&["--database", &other.url, "--replace"]).code, 0);
    assert_eq!(sums(&other.url, &fresh), rows);
}

#[test]
fn a_backup_of_a_store_on_a_server_tells_neither_its_address_nor_its_password() {
    let store = furnished();
    let other = Other::than(&store);
    if !other.url.starts_with("postgres") {
        return;
    }
    // A password that the server of the tests does not ask for.
    let url = other.url.replacen('@', ":geheim@", 1);
    done(&store, "migrate", &["--to", &url]);
    let file = backup(&store, "a.tar.gz");
    for (name, bytes) in unpack(&file) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("geheim") && !text.contains("reader_password"), "{name}");
    }
    let mut command = store.command(&["store", "restore", "--from"]);
    command.arg(&file).arg("--root").arg(store.folder().join("fresh"));
    let output = run(&mut command, b"", LONG).unwrap();
    assert!(output.err.contains("--database"), "{}", output.err);
}

#[test]
fn a_backup_holds_one_moment_while_an_engine_writes() {
    let store = furnished();
    let (engine, _desk) = store.apart("irina", false).unwrap();
    let (saved, stop) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let file = store.folder().join("a.tar.gz");
    let early = std::thread::scope(|scope| {
        for writer in 0..2 {
            let (saved, stop, store) = (&saved, &stop, &store);
            scope.spawn(move || {
                let mut client = testkit::Client::open(&mut store.mcp_command(), "2025-11-25").unwrap();
                client.connect(&format!("writer-{writer}")).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    let note = client.done("memory_save", json!({"name": "Writer"})).unwrap();
                    saved.lock().unwrap().push(note["id"].as_i64().unwrap());
                }
            });
        }
        testkit::wait_for("some notes", LONG, || (saved.lock().unwrap().len() > 20).then_some(())).unwrap();
        let early = saved.lock().unwrap().clone();
        done(&store, "backup", &["--to", file.to_str().unwrap()]);
        stop.store(true, Ordering::Relaxed);
        early
    });
    drop(engine);
    done(&store, "restore", &["--from", file.to_str().unwrap()]);
    let ids = |sql: &str| -> Vec<i64> {
        store.query(sql).unwrap().iter().map(|row| row[0].parse().unwrap()).collect()
    };
    let notes = ids("select id from notes where name = 'Writer' order by id");
    assert!(early.iter().all(|id| notes.contains(id)), "what was acknowledged before is there");
    let journal = ids("select c.row_id from journal_changes c join journal j on j.id = c.journal_id
                       where j.tool = 'memory_save' and c.table_name = 'notes' order by c.row_id");
    assert_eq!(notes, journal, "rows and journal are of one moment");
}

#[test]
fn files_that_change_while_they_are_copied_are_not_in_a_backup_by_halves() {
    let store = furnished();
    let root = store.root();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for count in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                // Both or neither.
                fs::write(root.join("files/one"), format!("{count}")).unwrap();
                fs::write(root.join("files/two"), format!("{count}")).unwrap();
                std::thread::sleep(Duration::from_millis(3));
            }
        });
        std::thread::sleep(Duration::from_millis(50));
        let file = store.folder().join("a.tar.gz");
        refused(&store, "backup", &["--to", file.to_str().unwrap()], "files changed while they were copied");
        assert!(!file.exists() && !store.folder().join("a.tar.gz.part").exists());
        stop.store(true, Ordering::Relaxed);
    });
    backup(&store, "a.tar.gz");
}

#[test]
fn a_backup_replaces_a_backup_and_nothing_else() {
    let store = furnished();
    let file = backup(&store, "a.tar.gz");
    let first = fs::read(&file).unwrap();
    store.sql("update users set name = 'Somebody'").unwrap();
    // What a killed one left is in nobody's way; what is somebody's own stays.
    let part = store.folder().join("a.tar.gz.part");
    fs::write(&part, &first[..first.len() / 2]).unwrap();
    backup(&store, "a.tar.gz");
    assert_ne!(fs::read(&file).unwrap(), first);
    for own in ["half", ""] {
        fs::write(&part, own).unwrap();
        refused(&store, "backup", &["--to", file.to_str().unwrap()], "is not the beginning of a backup");
        assert_eq!(fs::read_to_string(&part).unwrap(), own);
    }
    fs::remove_file(&part).unwrap();
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, &part, FileType::Fifo, mode, 0).unwrap();
        refused(&store, "backup", &["--to", file.to_str().unwrap()], "is not the beginning of a backup");
        fs::remove_file(&part).unwrap();
        let pipe = store.folder().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, mode, 0).unwrap();
        refused(&store, "backup", &["--to", pipe.to_str().unwrap()], "is no backup");
        refused(&store, "restore", &["--from", pipe.to_str().unwrap()], "it is no file");
        // Through a link the file behind it is written.
        let link = store.folder().join("link.tar.gz");
        std::os::unix::fs::symlink("a.tar.gz", &link).unwrap();
        let number = |file: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(file).unwrap());
        let before = number(&file);
        backup(&store, "link.tar.gz");
        assert!(link.is_symlink() && number(&file) != before);
    }
    refused(&store, "backup", &["--to", "-"], "not to the standard output");
    let config = store.root().join("config.json");
    let text = fs::read(&config).unwrap();
    refused(&store, "backup", &["--to", config.to_str().unwrap()], "is no backup");
    assert_eq!(fs::read(&config).unwrap(), text);
    let inside = store.root().join("files/a.tar.gz");
    refused(&store, "backup", &["--to", inside.to_str().unwrap()], "cannot be written into");
    refused(&store, "backup", &["--to", store.folder().to_str().unwrap()], "");
}

#[test]
fn a_damaged_database_file_is_put_aside() {
    let store = furnished();
    if !database(&store.root()).starts_with("sqlite:") {
        return;
    }
    let before = store_sums(&store);
    let file = backup(&store, "a.tar.gz");
    let path = store.root().join("core/store.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[..60].fill(7);
    fs::write(&path, &bytes).unwrap();
    let restored = done(&store, "restore", &["--from", file.to_str().unwrap()]);
    assert!(restored.err.contains("was damaged"), "{}", restored.err);
    assert_eq!(store_sums(&store), before);
    let kept = fs::read_dir(store.root().join("core")).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = kept.filter(|path| path.display().to_string().contains("store.db.damaged-")).collect();
    assert_eq!(fs::read(&kept[0]).unwrap(), bytes);
}

#[test]
fn a_store_that_lets_people_in_is_not_restored() {
    let store = furnished();
    let file = backup(&store, "a.tar.gz");
    let engine = store.serve(0).unwrap();
    let before = state(&store);
    refused(&store, "restore", &["--from", file.to_str().unwrap()], "an engine runs on this store");
    assert_eq!(state(&store), before);
    // Closed, it is; and the engine that runs has the restored rows.
    spoil(&store);
    store.store_command("lock", &[]).unwrap();
    let restored = done(&store, "restore", &["--from", file.to_str().unwrap()]);
    assert!(restored.err.contains("start it anew"), "{}", restored.err);
    assert!(store.root().join("shop.lock").exists());
    done(&store, "unlock", &[]);
    drop(engine);
    assert_eq!(state(&store), before);
}

#[test]
fn a_killed_restore_leaves_the_old_store_or_the_new_one() {
    let store = furnished();
    add_rows(&store, number("SHOPWRIGHT_TEST_ROWS", 6000) / 2);
    let new = state(&store);
    let file = backup(&store, "a.tar.gz");
    let words = ["--from", file.to_str().unwrap()];
    spoil(&store);
    let old = state(&store);
    let spoilt = backup(&store, "old.tar.gz");
    let since = Instant::now();
    done(&store, "restore", &words);
    let whole = since.elapsed();
    let rounds = u32::try_from(number("SHOPWRIGHT_TEST_KILLS", 6)).unwrap();
    let (mut as_old, mut as_new) = (0, 0);
    for round in 0..rounds {
        done(&store, "restore", &["--from", spoilt.to_str().unwrap()]);
        assert!(state(&store) == old, "round {round}");
        let mut restoring = Running::start(&mut command(&store, "restore", &words)).unwrap();
        std::thread::sleep(whole * (round + 1) / rounds);
        restoring.kill();
        if round % 2 == 0 {
            done(&store, "unlock", &[]);
            let there = state(&store);
            assert!(there == old || there == new, "round {round}");
            as_old += u32::from(there == old);
            as_new += u32::from(there == new);
        }
        done(&store, "restore", &words);
        assert!(state(&store) == new, "round {round}");
        assert!(!store.root().join("shop.lock").exists());
    }
    println!("killed restores: {as_old} as before, {as_new} as the backup");
}

/// The parts of a backup.
fn unpack(file: &Path) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(GzDecoder::new(fs::File::open(file).unwrap()));
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (String::from_utf8(entry.path_bytes().into_owned()).unwrap(), bytes)
    });
    entries.collect()
}

/// Packs parts, whatever their names, and extra entries of any kind before the last one.
fn pack(file: &Path, parts: &[(String, Vec<u8>)], extra: &[(&str, tar::EntryType, &str)]) {
    let mut tar = tar::Builder::new(GzEncoder::new(fs::File::create(file).unwrap(), Compression::fast()));
    let raw = |name: &str, kind: tar::EntryType, link: &str, size: usize| {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(size as u64);
        header.set_cksum();
        header
    };
    for (at, (name, bytes)) in parts.iter().enumerate() {
        if at + 1 == parts.len() {
            for (name, kind, link) in extra {
                tar.append(&raw(name, *kind, link, 0), std::io::empty()).unwrap();
            }
        }
        if name.len() <= 100 {
            tar.append(&raw(name, tar::EntryType::Regular, "", bytes.len()), bytes.as_slice()).unwrap();
        } else {
            let mut header = raw("x", tar::EntryType::Regular, "", bytes.len());
            tar.append_data(&mut header, name, bytes.as_slice()).unwrap();
        }
    }
    tar.into_inner().unwrap().finish().unwrap().flush().unwrap();
}

/// Puts the sums of changed parts into the manifest, as somebody could who knows how.
fn resum(parts: &mut [(String, Vec<u8>)]) {
    let sum = |bytes: &[u8]| {
        // The sum of a part is that of a table with this one part.
        let mut summing = db::transfer::row_line::Summing::default();
        summing.add(bytes);
        summing.finish(0).hex()
    };
    let sums: Vec<Value> = parts[..parts.len() - 1]
        .iter()
        .map(|(name, bytes)| json!({"name": name, "size": bytes.len(), "sha256": sum(bytes)}))
        .collect();
    let tables: BTreeMap<String, (usize, Vec<u8>)> = parts
        .iter()
        .filter_map(|(name, bytes)| Some((name.strip_prefix("rows/")?.split('/').next()?, bytes)))
        .fold(BTreeMap::new(), |mut tables, (name, bytes)| {
            let (rows, lines) = tables.entry(name.to_owned()).or_insert((0, Vec::new()));
            *rows += bytes.iter().filter(|byte| **byte == b'\n').count();
            lines.extend_from_slice(bytes);
            tables
        });
    let last = parts.last_mut().unwrap();
    let mut manifest: Value = serde_json::from_slice(&last.1).unwrap();
    manifest["parts"] = json!(sums);
    for table in manifest["tables"].as_array_mut().unwrap() {
        if let Some((rows, lines)) = tables.get(table["name"].as_str().unwrap()) {
            table["rows"] = json!(rows);
            table["sha256"] = json!(sum(lines));
        }
    }
    last.1 = serde_json::to_vec(&manifest).unwrap();
}

/// A way to spoil a backup's parts.
type Spoil = fn(&mut Vec<(String, Vec<u8>)>);

fn part<'a>(parts: &'a mut [(String, Vec<u8>)], name: &str) -> &'a mut Vec<u8> {
    &mut parts.iter_mut().find(|(found, _)| found.starts_with(name)).unwrap().1
}

fn insert(parts: &mut Vec<(String, Vec<u8>)>, name: &str, bytes: &[u8]) {
    parts.insert(parts.len() - 1, (name.to_owned(), bytes.to_vec()));
}

fn change_manifest(parts: &mut [(String, Vec<u8>)], change: impl FnOnce(&mut Value)) {
    let last = parts.last_mut().unwrap();
    let mut manifest: Value = serde_json::from_slice(&last.1).unwrap();
    change(&mut manifest);
    last.1 = serde_json::to_vec(&manifest).unwrap();
}

fn replace(bytes: &mut Vec<u8>, old: &str, new: &str) {
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains(old), "{old} in {text}");
    *bytes = text.replacen(old, new, 1).into_bytes();
}

/// Ways that leave sums as they were, and ways whose sums are put right.
const UNSUMMED: &[Spoil] = &[
    |parts| drop(parts.remove(1)),
    |parts| drop(parts.pop()),
    |parts| parts.clear(),
    |parts| parts.swap(1, 2),
    |parts| part(parts, "files/photos/Чай 7").truncate(10),
    |parts| part(parts, "files/photos/Чай 7")[0] = 99,
    |parts| part(parts, "rows/users")[3] = b'7',
    |parts| insert(parts, "files/more", b"x"),
    |parts| {
        let last = parts.last().unwrap().clone();
        parts.push(last);
    },
];
const SUMMED: &[Spoil] = &[
    |parts| insert(parts, "../evil", b"x"),
    |parts| insert(parts, "/tmp/evil", b"x"),
    |parts| insert(parts, "files/../../evil", b"x"),
    |parts| insert(parts, "files/./evil", b"x"),
    |parts| insert(parts, "files/photos/../../core/evil", b"x"),
    |parts| insert(parts, "core/store.db", b"x"),
    |parts| insert(parts, "admin.here", b""),
    |parts| insert(parts, "shop.lock", b""),
    |parts| insert(parts, "files/.shopwright-restore/out", b""),
    |parts| insert(parts, "files", b"x"),
    |parts| insert(parts, "files/photos", b"x"),
    |parts| insert(parts, "files/photos/Чай 7.jpg", b"again"),
    |parts| insert(parts, "files/photos/Чай 7.jpg/within", b"x"),
    |parts| insert(parts, "config.json", b"{"),
    |parts| insert(parts, "rows/users/00002.jsonl", b"[1]\n"),
    |parts| insert(parts, "rows/sqlite_master/00001.jsonl", b"[1]\n"),
    |parts| *part(parts, "config.json") = b"{\"listen\": 5}".to_vec(),
    |parts| *part(parts, "config.json") = b"\xff\xfe".to_vec(),
    |parts| *part(parts, "backup.json") = b"{}".to_vec(),
    |parts| *part(parts, "backup.json") = b"not JSON".to_vec(),
    |parts| replace(part(parts, "backup.json"), "\"format\": 1", "\"format\": 2"),
    |parts| replace(part(parts, "backup.json"), "\"step\": ", "\"step\": 9"),
    |parts| replace(part(parts, "backup.json"), "\"step\": ", "\"step\": -"),
    |parts| replace(part(parts, "rows/users"), "[1,", "[\"1\","),
    |parts| replace(part(parts, "rows/users"), "[1,", "[1,1,"),
    |parts| replace(part(parts, "rows/users"), "[1,", "[1, "),
    |parts| replace(part(parts, "rows/users"), "[1,", "[99999999999999999999,"),
    |parts| part(parts, "rows/users").extend_from_slice(b"[[[[[[[[[[[[[["),
    // Rows that no store has: the database is not changed either.
    |parts| replace(part(parts, "rows/users"), "[1,", "[4711,"),
    |parts| {
        let rows = part(parts, "rows/users");
        let first = rows[..=rows.iter().position(|byte| *byte == b'\n').unwrap()].to_vec();
        rows.extend(first);
    },
    |parts| change_manifest(parts, |manifest| manifest["folders"][0]["name"] = json!("../evil")),
    |parts| change_manifest(parts, |manifest| manifest["folders"][0]["name"] = json!("core")),
    |parts| change_manifest(parts, |manifest| drop(manifest["tables"].as_array_mut().unwrap().pop())),
    |parts| {
        change_manifest(parts, |manifest| manifest["tables"][2]["columns"][0][0] = json!("id\" text); --"))
    },
    |parts| change_manifest(parts, |manifest| manifest["tables"][2]["last_id"] = json!(-1)),
    |parts| change_manifest(parts, |manifest| manifest["tables"][2]["last_id"] = json!(1)),
    |parts| change_manifest(parts, |manifest| manifest["tables"][2]["name"] = json!("groups")),
];

#[test]
fn a_backup_that_is_not_whole_or_not_ours_touches_nothing() {
    let store = furnished();
    let good = backup(&store, "good.tar.gz");
    let parts = unpack(&good);
    spoil(&store);
    let before = state(&store);
    let around = fs::read_dir(store.folder()).unwrap().count();
    let bad = store.folder().join("bad.tar.gz");
    let check = |what: &str| {
        let output = finish(&store, "restore", &["--from", bad.to_str().unwrap()]);
        assert_eq!(output.code, 1, "{what}: {}", output.err);
        assert!(state(&store) == before, "{what}: the store was touched");
        assert!(!store.root().join("shop.lock").exists(), "{what}");
        assert!(!store.root().join("core/restore").exists(), "{what}");
        output.err
    };
    for (at, spoil) in UNSUMMED.iter().enumerate() {
        let mut parts = parts.clone();
        spoil(&mut parts);
        pack(&bad, &parts, &[]);
        let words = check(&format!("part {at}"));
        assert!(words.contains("The store was not touched"), "{at}: {words}");
    }
    for (at, spoil) in SUMMED.iter().enumerate() {
        let mut parts = parts.clone();
        spoil(&mut parts);
        resum(&mut parts);
        pack(&bad, &parts, &[]);
        check(&format!("summed {at}"));
    }
    use tar::EntryType as Kind;
    for (name, kind, link) in [
        ("files/link", Kind::Symlink, "/etc"),
        ("files/hard", Kind::Link, "config.json"),
        ("files/device", Kind::Char, ""),
        ("files/pipe", Kind::Fifo, ""),
        ("files/folder", Kind::Directory, ""),
        ("files/sparse", Kind::GNUSparse, ""),
        ("pax", Kind::XGlobalHeader, ""),
    ] {
        pack(&bad, &parts, &[(name, kind, link)]);
        check(name);
    }
    fs::remove_file(&bad).unwrap();
    assert_eq!(fs::read_dir(store.folder()).unwrap().count(), around, "nothing was written beside the store");
    // The good one is good.
    pack(&bad, &parts, &[]);
    done(&store, "restore", &["--from", bad.to_str().unwrap()]);
}

#[test]
fn a_backup_that_is_cut_off_or_has_one_wrong_byte_touches_nothing() {
    let store = furnished();
    let good = fs::read(backup(&store, "good.tar.gz")).unwrap();
    let before = state(&store);
    let bad = store.folder().join("bad.tar.gz");
    let check = |bytes: &[u8], what: &str| {
        fs::write(&bad, bytes).unwrap();
        let output = finish(&store, "restore", &["--from", bad.to_str().unwrap()]);
        assert_eq!(output.code, 1, "{what}: {}", output.err);
        assert!(output.err.contains("The store was not touched"), "{what}: {}", output.err);
    };
    for length in [0, 1, 9, 10, 11, 600, good.len() / 2, good.len() - 9, good.len() - 8, good.len() - 1] {
        check(&good[..length], &format!("the first {length} bytes"));
    }
    let steps = usize::try_from(number("SHOPWRIGHT_TEST_BYTES", 30)).unwrap();
    for step in 0..steps {
        // Behind the packed form's own head, whose bytes mean nothing to the rest.
        let at = 10 + (good.len() - 10) * step / steps;
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (step % 8);
        check(&bytes, &format!("byte {at}"));
    }
    check(&[good.as_slice(), b"more"].concat(), "more behind the end");
    check(&[good.as_slice(), &good].concat(), "twice");
    check(b"This is text.", "text");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&vec![0; 100_000]).unwrap();
    check(&packed.finish().unwrap(), "packed zeros");
    assert!(state(&store) == before);
    for (from, words) in
        [("no such file", "No such file"), (store.folder().to_str().unwrap(), "it is no file")]
    {
        refused(&store, "restore", &["--from", from], words);
    }
}

/// The table whose rows a part of a backup holds.
fn table_of(part: &str) -> Option<&str> {
    part.strip_prefix("rows/")?.split('/').next()
}

#[test]
fn a_backup_of_an_older_build_goes_through_the_migrations_it_has_not_seen() {
    let store = furnished();
    let file = backup(&store, "a.tar.gz");
    let mut parts = unpack(&file);
    // As the build of the first step would have made it: without the tables and columns of later ones.
    let first = db::transfer::tables_of(1).unwrap();
    parts.retain(|(name, _)| table_of(name).is_none_or(|table| first.iter().any(|t| t.name == table)));
    for table in &first {
        let newest = db::transfer::tables().unwrap().into_iter().find(|t| t.name == table.name).unwrap();
        for (_, bytes) in parts.iter_mut().filter(|(name, _)| table_of(name) == Some(table.name.as_str())) {
            let mut older = Vec::new();
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                let values = db::transfer::row_line::parse(line, &newest).unwrap();
                db::transfer::row_line::write(&values[..table.columns.len()], &mut older);
            }
            *bytes = older;
        }
    }
    replace(
        part(&mut parts, "backup.json"),
        &format!("\"step\": {}", db::transfer::newest_step()),
        "\"step\": 1",
    );
    let rows = part(&mut parts, "rows/migrations");
    let end = rows.iter().position(|byte| *byte == b'\n').unwrap();
    rows.truncate(end + 1);
    change_manifest(&mut parts, |manifest| {
        let tables = manifest["tables"].as_array_mut().unwrap();
        tables.retain(|table| first.iter().any(|t| table["name"] == json!(t.name)));
        for table in tables {
            let columns = first.iter().find(|t| table["name"] == json!(t.name)).unwrap().columns.len();
            table["columns"].as_array_mut().unwrap().truncate(columns);
        }
    });
    resum(&mut parts);
    let old = store.folder().join("old.tar.gz");
    pack(&old, &parts, &[]);
    let mut before = store_sums(&store);
    spoil(&store);
    done(&store, "restore", &["--from", old.to_str().unwrap()]);
    let mut after = store_sums(&store);
    // The second step was taken just now.
    assert_eq!(before.remove("migrations").unwrap().0, after.remove("migrations").unwrap().0);
    // What later steps bring into the first tables is journalled as the store's.
    for table in ["journal", "journal_changes"] {
        assert!(before.remove(table).unwrap().0 <= after.remove(table).unwrap().0, "{table}");
    }
    // What later tables have from the start, the engine's next start brings.
    for sums in [&mut before, &mut after] {
        sums.retain(|table, _| first.iter().any(|t| t.name == *table));
    }
    assert_eq!(before, after);
    assert!(!store.root().join("core/restore").exists());
}
