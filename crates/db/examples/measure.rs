//! How long the database takes: one row read, one row written, 20 rows as JSON by an agent's statement.
//!
//! `cargo run --release -p db --example measure [-- postgres://…]`; without an address, an SQLite file in the
//! temporary folder. A PostgreSQL database must be an empty one.
#![allow(clippy::print_stdout, reason = "its figures are its output")]

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use db::agent_sql::{self, Limits};
use db::notes::{self, Fields, Owner};
use db::users::{self, NewUser};
use db::{Db, DbError, seed, tickets};
use jiff::Timestamp;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite:store.db".to_owned());
    let db = Db::open(&url, folder.path())?;
    db.migrate()?;
    let now: Timestamp = "2026-11-30T10:00:00Z".parse()?;
    let (user, note) = fill(&db, now)?;
    println!("{:?}", db.dialect());

    measure("one row read", 5000, || {
        black_box(db.read(|tx| users::by_id(tx, user))?);
        Ok(())
    })?;
    measure("one ticket looked up and its person read", 5000, || {
        db.read(|tx| -> Result<_, DbError> {
            black_box(tickets::find(tx, &[1; 32])?);
            users::by_id(tx, user)
        })?;
        Ok(())
    })?;
    measure("one row written", 2000, || {
        db.write(|tx| notes::update(tx, note, &fields("changed"), now))?;
        Ok(())
    })?;
    let params = [("user".to_owned(), json!(user))];
    let sql =
        "select id, name, kind_key, level, edit_time from notes where user_id = :user order by id limit 20";
    measure("20 rows as JSON, an agent's statement", 2000, || {
        let table = agent_sql::select(&db, sql, &params, &Limits::default())?;
        assert_eq!(table.rows.len(), 20);
        black_box(serde_json::to_string(&table.rows)?);
        Ok(())
    })?;
    for threads in [2, 4] {
        together(&db, user, threads)?;
    }
    Ok(())
}

fn fields(name: &str) -> Fields {
    Fields {
        name: name.to_owned(),
        kind_key: "kDefault".to_owned(),
        category: String::new(),
        info: String::new(),
        body: "<p>Text</p>".to_owned(),
    }
}

fn fill(db: &Db, now: Timestamp) -> Result<(i64, i64), DbError> {
    db.write(|tx| {
        seed::base(tx, now)?;
        let new = NewUser {
            login: "irina".to_owned(),
            name: "Irina".to_owned(),
            password_hash: String::new(),
            main_group: None,
            now,
        };
        let user = users::create(tx, &new)?;
        let mut note = 0;
        for n in 0..1000 {
            note = notes::create(tx, Owner::Own(user), &fields(&format!("Note {n}")), now)?;
        }
        Ok((user, note))
    })
}

/// Median and 99th percentile of so many runs, after some to warm up.
fn measure(
    what: &str,
    runs: usize,
    mut run: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::with_capacity(runs);
    for at in 0..runs + runs / 10 {
        let began = Instant::now();
        run()?;
        if at >= runs / 10 {
            times.push(began.elapsed());
        }
    }
    times.sort_unstable();
    println!("{what}: median {:?}, p99 {:?}", times[runs / 2], times[runs * 99 / 100]);
    Ok(())
}

/// Reads of several threads at once.
fn together(db: &Db, user: i64, threads: usize) -> Result<(), Box<dyn Error>> {
    let time = Duration::from_secs(1);
    let counts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(move || -> Result<u64, DbError> {
                    let began = Instant::now();
                    let mut count = 0;
                    while began.elapsed() < time {
                        black_box(db.read(|tx| users::by_id(tx, user))?);
                        count += 1;
                    }
                    Ok(count)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(Ok(0))).collect::<Result<Vec<_>, _>>()
    })?;
    println!("one row read by {threads} threads: {} a second", counts.iter().sum::<u64>());
    Ok(())
}
