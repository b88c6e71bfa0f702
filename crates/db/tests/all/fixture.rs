//! A fresh database for each test.

use std::env;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use db::users::NewUser;
use db::{Db, DbError, groups, seed, users};
use jiff::Timestamp;
use tempfile::TempDir;

/// Makes a test of each function, on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($(#[$doc:meta])* fn $name:ident($db:ident: &Db) $body:block)*) => {
        $(mod $name {
            #[allow(unused_imports, reason = "not every test needs all names")]
            use super::*;

            fn test($db: &db::Db) $body

            #[test]
            fn on_sqlite() {
                test(&crate::fixture::Fixture::sqlite().seeded());
            }

            #[test]
            fn on_postgres() {
                if let Some(place) = crate::fixture::Fixture::postgres() {
                    test(&place.seeded());
                }
            }
        })*
    };
}
pub(crate) use on_both;

/// Where a test's database is. Dropping it removes it.
pub(crate) struct Fixture {
    pub(crate) url: String,
    folder: TempDir,
    schema: Option<(String, String)>,
}

impl Fixture {
    /// A file in a folder of its own.
    pub(crate) fn sqlite() -> Self {
        Self { url: "sqlite:core/store.db".to_owned(), folder: TempDir::new().unwrap(), schema: None }
    }

    /// A schema of its own on the server; `None` where no server is named.
    pub(crate) fn postgres() -> Option<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let Ok(server) = env::var("TEST_DATABASE_URL") else {
            println!("TEST_DATABASE_URL is not set: not run on PostgreSQL");
            return None;
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("t{}_{number}", std::process::id());
        let folder = TempDir::new().unwrap();
        let sql = format!("create schema {schema}");
        Db::open(&server, folder.path()).unwrap().write(|tx| tx.run(&sql, &[])).unwrap();
        let mark = if server.contains('?') { '&' } else { '?' };
        let url = format!("{server}{mark}options=-csearch_path%3D{schema}");
        Some(Self { url, folder, schema: Some((server, schema)) })
    }

    /// The schema on the server.
    pub(crate) fn schema(&self) -> Option<&str> {
        self.schema.as_ref().map(|(_, schema)| schema.as_str())
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Another handle on the database, as another process would have.
    pub(crate) fn open(&self) -> Db {
        Db::open(&self.url, self.root()).unwrap()
    }

    /// The database with tables and what every store has.
    pub(crate) fn seeded(&self) -> Seeded<'_> {
        let db = self.open();
        db.migrate().unwrap();
        db.write(|tx| seed::base(tx, now())).unwrap();
        Seeded { db, _place: self }
    }
}

/// A database that lives no longer than its place.
pub(crate) struct Seeded<'a> {
    db: Db,
    _place: &'a Fixture,
}

impl std::ops::Deref for Seeded<'_> {
    type Target = Db;
    fn deref(&self) -> &Db {
        &self.db
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let Some((server, schema)) = &self.schema else { return };
        let here = self.open();
        let sql =
            "select 'shopwright_' || left(md5(current_database() || '.' || current_schema()), 16) as role";
        let row = here.read::<_, DbError>(|tx| tx.row(sql, &[])).unwrap().unwrap();
        let role: String = row.get("role").unwrap();
        drop(here);
        let db = Db::open(server, self.root()).unwrap();
        for sql in [
            format!("drop schema {schema} cascade"),
            format!("drop schema if exists {schema}_read cascade"),
            format!("drop role if exists {role}"),
        ] {
            db.write::<_, DbError>(|tx| tx.run(&sql, &[])).unwrap();
        }
    }
}

/// The moment of a test.
pub(crate) fn now() -> Timestamp {
    "2026-11-30T10:00:00Z".parse().unwrap()
}

/// So many seconds after [`now`].
pub(crate) fn later(seconds: i64) -> Timestamp {
    now() + jiff::SignedDuration::from_secs(seconds)
}

/// A new person in a group.
pub(crate) fn new_user(login: &str, main_group: Option<i64>) -> NewUser {
    NewUser {
        login: login.to_owned(),
        name: format!("Name of {login}"),
        password_hash: "secret-hash".to_owned(),
        main_group,
        now: now(),
    }
}

/// Adds a person.
pub(crate) fn person(db: &Db, login: &str, main_group: Option<i64>) -> i64 {
    db.write(|tx| users::create(tx, &new_user(login, main_group))).unwrap()
}

/// Number of the administrators' group.
pub(crate) fn administrators(db: &Db) -> i64 {
    db.read(|tx| groups::by_skey(tx, groups::ADMIN, "en")).unwrap().unwrap().id
}

/// How many rows a table has.
pub(crate) fn count(db: &Db, table: &str) -> i64 {
    let sql = format!("select count(*) as count from {table}");
    db.read::<_, DbError>(|tx| tx.row(&sql, &[])?.unwrap().get("count")).unwrap()
}
