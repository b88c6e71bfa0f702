//! A process that is killed while it writes loses nothing that it acknowledged.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use db::journal::{self, Entry};
use db::notes::{self, Owner};
use db::{Db, DbError};

use crate::fixture::{Fixture, now, person};
use crate::journal::{real, replayed};
use crate::work::fields;

/// Where the writing child finds its store; its presence makes the test below the child.
const CHILD: &str = "DB_TEST_WRITER";

/// Not a test by itself: the process that is killed. Writes notes and says each that was committed.
#[test]
fn writer() {
    let Ok(root) = env::var(CHILD) else { return };
    let db = Db::open("sqlite:core/store.db", root.as_ref()).unwrap();
    let mut out = std::io::stdout();
    loop {
        let id = db
            .write(|tx| -> Result<_, DbError> {
                journal::by(tx, Entry::new(now(), 1, "AGENT_MEMORY_SAVE"));
                notes::create(tx, Owner::Own(1), &fields("note", "kDefault"), now())
            })
            .unwrap();
        writeln!(out, "saved {id}").unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn what_was_acknowledged_before_a_kill_is_there() {
    let place = Fixture::sqlite();
    assert_eq!(person(&place.seeded(), "irina", None), 1);
    let kills: u64 = env::var("DB_TEST_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(8);
    for kill in 0..kills {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "kill::writer", "--nocapture"])
            .env(CHILD, place.root())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut saved: Vec<i64> = Vec::new();
        // A different moment each time, so that every part of a write is hit sooner or later.
        let until = Duration::from_micros(500 + kill * 7919 % 40_000);
        let mut began: Option<Instant> = None;
        while began.is_none_or(|began| began.elapsed() < until) {
            let line = lines.next().unwrap().unwrap();
            if let Some((_, id)) = line.split_once("saved ") {
                saved.push(id.parse().unwrap());
                began.get_or_insert_with(Instant::now);
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let rest = lines
            .map_while(Result::ok)
            .filter_map(|line| line.split_once("saved ").map(|(_, id)| id.to_owned()));
        saved.extend(rest.filter_map(|id| id.parse::<i64>().ok()));
        let db = place.open();
        let rows = real(&db);
        assert!(saved.iter().all(|id| rows.contains_key(id)), "kill {kill}");
        assert_eq!(replayed(&db), rows, "kill {kill}");
    }
}
