//! A store moves between databases: whole, or not at all, under an engine, and killed on the way.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use testkit::{Running, TestStore, run};

use crate::setup::{is_row, store};
use crate::store_contents::{
    LONG, Other, add_rows, command, database, done, dump, number, refused, store_sums, sums,
};

/// Rows of a large store: `SHOPWRIGHT_TEST_ROWS=200000` in a release build takes seconds, but not in every run.
fn rows() -> u64 {
    number("SHOPWRIGHT_TEST_ROWS", 6000)
}

fn is_closed(store: &TestStore<'_>) -> bool {
    store.root().join("shop.lock").exists()
}

#[test]
fn a_store_moves_there_and_back_and_nothing_differs() {
    let store = store();
    add_rows(&store, rows());
    let (first, other) = (database(&store.root()), Other::than(&store));
    let (cells, before) = (dump(&store), store_sums(&store));
    let since = Instant::now();
    let moved = done(&store, "migrate", &["--to", &other.url]);
    let there = since.elapsed();
    assert_eq!(database(&store.root()), other.url);
    assert_eq!(store_sums(&store), before);
    assert!(!is_closed(&store));
    // Every table is told with its rows on both sides; in a pipe no bar is drawn.
    for (table, (rows, _, sum)) in &before {
        let line = moved.out.lines().find(|line| line.split_whitespace().next() == Some(table)).unwrap();
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells[1..], [&rows.to_string(), "=", &rows.to_string(), sum]);
    }
    assert!(
        moved.err.contains("stays where it is")
            && moved.err.contains("Nobody is let in while the store moves")
    );
    assert!(!moved.err.contains('\r') && !moved.err.contains('\x1b'));
    // The old database has its rows, and takes no more.
    assert_eq!(sums(&first, &store.root()), before);
    let refusal = store.sql("update users set name = 'x'").unwrap_err().to_string();
    assert!(refusal.contains("shopwright: closed"), "{refusal}");
    // Back: what is there is not lost by mistake.
    refused(&store, "migrate", &["--to", &first], "`--replace`");
    refused(&store, "migrate", &["--to", &other.url], "in this database already");
    let since = Instant::now();
    done(&store, "migrate", &["--to", &first, "--replace"]);
    println!("{} rows: there {there:?}, back {:?}", rows(), since.elapsed());
    assert_eq!(database(&store.root()), first);
    for (table, rows) in dump(&store) {
        assert!(rows == cells[&table], "{table}: every cell is as it was");
    }
    store.sql("update users set name = name").unwrap();
}

#[test]
fn a_killed_move_leaves_a_whole_store_and_goes_on_when_it_is_repeated() {
    let store = store();
    add_rows(&store, rows());
    let (first, other) = (database(&store.root()), Other::than(&store));
    let before = store_sums(&store);
    let since = Instant::now();
    done(&store, "migrate", &["--to", &other.url]);
    let whole = since.elapsed();
    let rounds = u32::try_from(number("SHOPWRIGHT_TEST_KILLS", 6)).unwrap();
    let (mut at, mut left) = ([other.url.clone(), first], 0);
    for round in 0..rounds {
        // Now to where it came from; killed a little later each time.
        at.swap(0, 1);
        let words = ["--to", &at[0], "--replace"];
        let mut moving = Running::start(&mut command(&store, "migrate", &words)).unwrap();
        std::thread::sleep(whole * (round + 1) / (rounds + 1));
        moving.kill();
        let named = database(&store.root());
        assert_eq!(sums(&named, &store.root()), before, "round {round}: the settings name a whole database");
        left += u32::from(is_closed(&store));
        if named == at[0] && !is_closed(&store) {
            // It was done before it was killed.
            continue;
        }
        let again = done(&store, "migrate", &words);
        assert_eq!(database(&store.root()), at[0], "round {round}: {}", again.err);
        assert_eq!(store_sums(&store), before, "round {round}");
        assert!(!is_closed(&store), "round {round}");
    }
    assert!(left > 0, "at least one was killed in the middle");
    let engine = store.serve(0).unwrap();
    assert_eq!(testkit::get(&format!("{}/core/ready", engine.url)).unwrap().status, 200);
}

#[test]
fn what_a_killed_move_left_in_an_empty_database_needs_no_leave_to_be_replaced() {
    let store = store();
    add_rows(&store, rows() / 2);
    let (first, before) = (database(&store.root()), store_sums(&store));
    let mut whole = Duration::ZERO;
    let rounds = u32::try_from(number("SHOPWRIGHT_TEST_KILLS", 6)).unwrap();
    for round in 0..=rounds {
        let other = Other::than(&store);
        let words = ["--to", other.url.as_str()];
        if round > 0 {
            let mut moving = Running::start(&mut command(&store, "migrate", &words)).unwrap();
            // Most of them near the end, where the rows are in and the settings do not know.
            std::thread::sleep(whole / 2 + whole / 2 * round / rounds);
            moving.kill();
        }
        let since = Instant::now();
        if is_closed(&store) || database(&store.root()) == first {
            done(&store, "migrate", &words);
        }
        whole = whole.max(since.elapsed());
        assert_eq!((database(&store.root()), is_closed(&store)), (other.url.clone(), false), "round {round}");
        assert_eq!(store_sums(&store), before, "round {round}");
        done(&store, "migrate", &["--to", &first, "--replace"]);
    }
}

/// A move that has closed the store.
fn under_way(store: &TestStore<'_>, other: &Other) -> Running {
    let moving = Running::start(&mut command(store, "migrate", &["--to", &other.url])).unwrap();
    testkit::wait_for("the closed store", LONG, || is_closed(store).then_some(())).unwrap();
    moving
}

#[test]
fn a_killed_move_can_be_given_up() {
    let store = store();
    add_rows(&store, rows());
    let (first, other) = (database(&store.root()), Other::than(&store));
    let before = store_sums(&store);
    let mut moving = under_way(&store, &other);
    moving.kill();
    if database(&store.root()) != first {
        return;
    }
    // Until then everybody is kept out, also past the marker.
    let engine = store.serve(0).unwrap();
    assert_eq!(
        testkit::get(&format!("{}/core/ready", engine.url)).map(|got| got.status == 200).unwrap(),
        false_if_closed(&store)
    );
    drop(engine);
    let unlocked = done(&store, "unlock", &[]);
    assert!(unlocked.err.contains("The store is open."), "{}", unlocked.err);
    store.sql("update users set name = name").unwrap();
    assert_eq!(store_sums(&store), before);
    let _engine = store.serve(0).unwrap();
}

fn false_if_closed(store: &TestStore<'_>) -> bool {
    store.sql("update users set name = name").is_ok()
}

#[test]
fn a_move_that_is_stopped_changes_nothing() {
    let store = store();
    add_rows(&store, rows());
    let (first, other) = (database(&store.root()), Other::than(&store));
    let before = store_sums(&store);
    let mut moving = under_way(&store, &other);
    moving.signal(Signal::INT).unwrap();
    let status = moving.wait(LONG).unwrap();
    if status.success() {
        return;
    }
    assert_eq!(status.code(), Some(1), "{}", moving.errors());
    assert!(moving.errors().contains("nothing was changed"), "{}", moving.errors());
    assert_eq!((database(&store.root()), is_closed(&store)), (first, false));
    store.sql("update users set name = name").unwrap();
    assert_eq!(store_sums(&store), before);
    done(&store, "migrate", &["--to", &other.url]);
}

#[test]
fn an_engine_that_lets_people_in_keeps_the_store_where_it_is() {
    let store = store();
    let (first, other) = (database(&store.root()), Other::than(&store));
    let mut engine = store.serve(0).unwrap();
    refused(&store, "migrate", &["--to", &other.url], "an engine runs on this store");
    assert_eq!((database(&store.root()), is_closed(&store)), (first, false));
    store.sql("update users set name = name").unwrap();
    engine.running.stop(LONG).unwrap();
    done(&store, "migrate", &["--to", &other.url]);
}

#[test]
fn no_acknowledged_write_is_lost_when_a_store_moves_under_its_engine() {
    let store = store();
    add_rows(&store, rows() / 4);
    let other = Other::than(&store);
    let (engine, _desk) = store.apart("irina", false).unwrap();
    let (saved, locked) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let mut clients = Vec::new();
    for writer in 0..3 {
        let mut client = testkit::Client::open(&mut store.mcp_command(), "2025-11-25").unwrap();
        client.connect(&format!("writer-{writer}")).unwrap();
        clients.push((writer, client));
    }
    std::thread::scope(|scope| {
        for (writer, mut client) in clients {
            let (saved, locked) = (&saved, &locked);
            scope.spawn(move || {
                for count in 0.. {
                    let name = format!("Writer {writer}, note {count}");
                    let answer = client.call("memory_save", json!({"name": name})).unwrap();
                    if answer.refused() {
                        assert!(is_row(&answer.text(), "shop_is_lock"), "{}", answer.text());
                        if locked.load(Ordering::Relaxed) {
                            return;
                        }
                    } else {
                        saved.lock().unwrap().push(name);
                    }
                }
            });
        }
        testkit::wait_for("some notes", LONG, || (saved.lock().unwrap().len() > 30).then_some(())).unwrap();
        store.store_command("lock", &[]).unwrap();
        let moved = done(&store, "migrate", &["--to", &other.url]);
        assert!(moved.err.contains("start it anew"), "{}", moved.err);
        locked.store(true, Ordering::Relaxed);
    });
    assert!(is_closed(&store), "its owner closed it, and its engine knows nothing of the move");
    // Opened without a new start, the old engine lets nobody work on the old rows.
    let unlocked = done(&store, "unlock", &[]);
    assert!(unlocked.err.contains("open"), "{}", unlocked.err);
    let mut client = testkit::Client::open(&mut store.mcp_command(), "2025-11-25").unwrap();
    let text = client.refused("session_connect", json!({"topic": "old"})).unwrap();
    assert!(is_row(&text, "shop_is_lock"), "{text}");
    let port = engine.port;
    drop(engine);
    let _engine = store.serve(port).unwrap();
    client.connect("new").unwrap();
    client.done("memory_save", json!({"name": "After the move"})).unwrap();
    let url = database(&store.root());
    assert_eq!(url, other.url);
    let db = db::Db::open(&url, &store.root()).unwrap();
    let names: Vec<String> = db
        .read::<_, db::DbError>(|tx| tx.rows("select name from notes", &[]))
        .unwrap()
        .iter()
        .map(|row| row.get("name").unwrap())
        .collect();
    let saved = saved.into_inner().unwrap();
    assert!(saved.iter().all(|name| names.contains(name)));
    assert_eq!(names.iter().filter(|name| name.starts_with("Writer ")).count(), saved.len());
}

#[test]
fn an_engine_does_not_start_on_a_database_that_was_moved_away() {
    let store = store();
    let (first, other) = (database(&store.root()), Other::than(&store));
    done(&store, "migrate", &["--to", &other.url]);
    // As on another machine, whose settings nobody changed.
    store.config(|config| drop(config.insert("database".to_owned(), json!(first)))).unwrap();
    let mut serve = store.command(&["serve", "--listen", "127.0.0.1:0", "--root"]);
    let output = testkit::run(serve.arg(store.root()), b"", LONG).unwrap();
    assert_eq!(output.code, 1);
    assert!(output.err.contains("moved elsewhere"), "{}", output.err);
    refused(&store, "unlock", &[], "--moved");
    refused(&store, "backup", &["--to", "old.tar.gz"], "moved to another one");
    done(&store, "unlock", &["--moved"]);
    let _engine = store.serve(0).unwrap();
}

#[test]
fn a_database_that_cannot_be_moved_to_is_named_and_nothing_is_changed() {
    let store = store();
    let first = database(&store.root());
    for (to, words) in [
        ("postgres://shop:secret@127.0.0.1:1/none", "cannot be reached"),
        ("postgres://shop:secret@127.0.0.1/none?sslmode=always", "sslmode"),
        ("postgres://shop:sec@secret@127.0.0.1/none", "`@` in a login or password is written `%40`"),
        ("mysql://shop:secret@127.0.0.1/none", "must be `sqlite:PATH`"),
        (first.as_str(), "in this database already"),
    ] {
        let output = crate::store_contents::finish(&store, "migrate", &["--to", to]);
        assert_eq!(output.code, 1, "{to}");
        assert!(output.err.contains(words), "{to}: {}", output.err);
        assert!(!output.err.contains("secret"), "{}", output.err);
        assert!(!output.err.contains("Nobody is let in"), "{}", output.err);
        assert_eq!((database(&store.root()), is_closed(&store)), (first.clone(), false), "{to}");
    }
    store.sql("update users set name = name").unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_move_that_could_not_be_written_into_the_settings_is_not_begun() {
    let store = store();
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\"";
    let mut command = std::process::Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    command.arg(store.root().join("config.json")).arg(store.command(&[]).get_program());
    command.args(["store", "migrate", "--to", "sqlite:core/other.db", "--root"]).arg(store.root());
    let output = run(&mut command, b"", testkit::PATIENCE).unwrap();
    if output.err.contains("unshare:") || output.err.contains("mount:") {
        println!("skipped: nothing can be mounted here ({})", output.err.trim());
        return;
    }
    assert_eq!(output.code, 1, "{}", output.err);
    assert!(output.err.contains("config.json cannot be written"), "{}", output.err);
    assert!(!output.err.contains("Nobody is let in") && !is_closed(&store), "{}", output.err);
    store.sql("update users set name = name").unwrap();
}
