//! A store with a running engine for each test: three people, a clock and a load that tests set.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use db::users::NewUser;
use db::{Db, DbError, Row, Tx, groups, rights, users};
use engine::store::{self as stores, InitOptions};
use engine::{Clock, Engine, Options, Running};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use zeroize::Zeroizing;

/// The password of everybody.
pub(crate) const PASSWORD: &str = "correct horse";
/// What the manager may do.
pub(crate) const GRANTED: [&str; 4] =
    ["AGENT_MEMORY_LIST", "AGENT_MEMORY_LOAD", "AGENT_MEMORY_SAVE", "AGENT_MEMORY_REMOVE"];

/// How many times their usual time units may take: a busy machine is no fault of theirs.
pub(crate) const PATIENCE: u32 = 20;

/// The moment of tests.
pub(crate) const NOON: &str = "2026-11-30T12:00:00Z";

/// A clock that stands and a load that is told.
pub(crate) struct TestClock {
    now: Mutex<Timestamp>,
    load: Mutex<Option<[f64; 3]>>,
}

impl TestClock {
    pub(crate) fn at(now: &str) -> Arc<Self> {
        Arc::new(Self { now: Mutex::new(now.parse().unwrap()), load: Mutex::new(Some([0.1, 0.2, 0.3])) })
    }

    pub(crate) fn set_now(&self, now: &str) {
        *self.now.lock().unwrap() = now.parse().unwrap();
    }

    pub(crate) fn set_load(&self, load: [f64; 3]) {
        *self.load.lock().unwrap() = Some(load);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    fn load(&self) -> Option<[f64; 3]> {
        *self.load.lock().unwrap()
    }
}

/// Which database a test runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Base {
    Sqlite,
    Postgres,
}

/// Makes two tests of each function, one for each database.
macro_rules! on_both {
    ($(async fn $name:ident($store:ident: $form:ty) $body:block)*) => {
        $(mod $name {
            #[allow(unused_imports, reason = "not every test needs all names")]
            use super::*;

            async fn test(mut $store: $form) {
                let $store = &mut $store;
                $body
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                if let Some(store) = <$form>::on(crate::test_store::Base::Sqlite).await {
                    test(store).await;
                }
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                if let Some(store) = <$form>::on(crate::test_store::Base::Postgres).await {
                    test(store).await;
                }
            }
        })*
    };
}
pub(crate) use on_both;

/// The store's database, for threads that also drive the test: the engine's own wait elsewhere.
pub(crate) struct TestDb(Db);

impl TestDb {
    /// The database itself, for what opens transactions of its own.
    pub(crate) fn with<T>(&self, f: impl FnOnce(&Db) -> T) -> T {
        tokio::task::block_in_place(|| f(&self.0))
    }

    pub(crate) fn read<T>(&self, f: impl FnOnce(&mut Tx) -> Result<T, DbError>) -> Result<T, DbError> {
        tokio::task::block_in_place(|| self.0.read(f))
    }

    pub(crate) fn write<T>(&self, f: impl FnOnce(&mut Tx) -> Result<T, DbError>) -> Result<T, DbError> {
        tokio::task::block_in_place(|| self.0.write(f))
    }
}

/// A store with a running engine. Dropping it removes it.
pub(crate) struct TestStore {
    pub(crate) clock: Arc<TestClock>,
    pub(crate) db: TestDb,
    running: Option<Running>,
    options: Options,
    root: PathBuf,
    /// The server's address and the schema, on PostgreSQL.
    schema: Option<(String, String)>,
    _folder: TempDir,
}

impl TestStore {
    /// A store on this database; `None` where there is none to test with.
    pub(crate) async fn on(base: Base) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let root = folder.path().join("server");
        let (database, schema) = match base {
            Base::Sqlite => ("sqlite:core/store.db".to_owned(), None),
            Base::Postgres => postgres(&root)?,
        };
        let clock = TestClock::at(NOON);
        let made = root.clone();
        let db = tokio::task::spawn_blocking(move || make(&made, database)).await.unwrap();
        let listen = Some("127.0.0.1:0".parse().unwrap());
        let options = Options {
            listen,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            unit_worker: Some((env!("CARGO_BIN_EXE_engine-unit-worker").into(), Vec::new())),
            unit_patience: PATIENCE,
            ..Options::default()
        };
        let mut store = Self { clock, db: TestDb(db), running: None, options, root, schema, _folder: folder };
        store.restart().await;
        Some(store)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.schema.is_some()
    }

    pub(crate) fn port(&self) -> u16 {
        self.running.as_ref().unwrap().address().port()
    }

    /// One more engine on the same database, with a clock of its own.
    pub(crate) async fn node(&self, clock: &Arc<TestClock>) -> Running {
        Engine::start(self.root.clone(), self.node_options(clock)).await.unwrap()
    }

    /// How another node is started.
    pub(crate) fn node_options(&self, clock: &Arc<TestClock>) -> Options {
        Options { clock: Arc::clone(clock) as Arc<dyn Clock>, ..self.options.clone() }
    }

    /// Ends the engine, and starts it anew with the settings there are.
    pub(crate) async fn restart(&mut self) {
        self.stop().await;
        self.running = Some(Engine::start(self.root.clone(), self.options.clone()).await.unwrap());
    }

    /// The engine's jobs have their turn now.
    pub(crate) async fn keep_up(&self) {
        self.running.as_ref().unwrap().keep_up().await;
    }

    /// The engine's jobs have no more turns of their own.
    pub(crate) fn stop_keeping_up(&self) {
        self.running.as_ref().unwrap().stop_keeping_up();
    }

    pub(crate) async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }

    /// From now on units have the time they have in a real store.
    pub(crate) async fn with_usual_times(&mut self) {
        self.options.unit_patience = 1;
        self.restart().await;
    }

    /// From now on with the real clock.
    pub(crate) async fn with_the_real_clock(&mut self) {
        self.options.clock = Arc::new(engine::SystemClock);
        self.restart().await;
    }

    /// Changes keys of `config.json`.
    pub(crate) fn write_settings(&self, changes: Value) {
        let file = self.root.join("config.json");
        let mut config: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for (key, value) in changes.as_object().unwrap() {
            config[key] = value.clone();
        }
        std::fs::write(&file, serde_json::to_string_pretty(&config).unwrap()).unwrap();
    }

    /// Changes keys of `config.json` and starts anew, so that they are in force.
    pub(crate) async fn settings(&mut self, changes: Value) {
        self.write_settings(changes);
        self.restart().await;
    }

    pub(crate) fn mark(&self, marker: &str, is_there: bool) {
        let file = self.root.join(marker);
        if is_there {
            std::fs::write(file, "").unwrap();
        } else {
            std::fs::remove_file(file).unwrap();
        }
    }

    /// Number of a person.
    pub(crate) fn id(&self, login: &str) -> i64 {
        self.db.read(|tx| users::by_login(tx, login)).unwrap().unwrap().id
    }

    /// Every row of every table but the counts of wrong passwords and how far the engine's own jobs are.
    pub(crate) fn dump(&self) -> BTreeMap<String, Vec<Row>> {
        let names = match self.schema {
            None => "select name as t from sqlite_master where type = 'table' and name not like 'sqlite%'"
                .to_owned(),
            Some((_, ref schema)) => {
                format!(
                    "select table_name::text as t from information_schema.tables where table_schema = '{schema}'"
                )
            }
        };
        self.db
            .read(|tx| {
                let mut tables = BTreeMap::new();
                for row in tx.rows(&names, &[])? {
                    let name: String = row.get("t")?;
                    if !["attempts", "jobs", "dirty"].contains(&name.as_str()) {
                        let rows = tx.rows(&format!("select * from {name} order by 1, 2"), &[])?;
                        tables.insert(name, rows);
                    }
                }
                Ok(tables)
            })
            .unwrap()
    }

    pub(crate) fn count(&self, table: &str) -> i64 {
        let row = self.db.read(|tx| tx.row(&format!("select count(*) as n from {table}"), &[])).unwrap();
        row.unwrap().get("n").unwrap()
    }
}

impl Drop for TestStore {
    fn drop(&mut self) {
        let Some((server, schema)) = self.schema.clone() else { return };
        drop(self.running.take());
        let root = self.root.clone();
        std::thread::spawn(move || {
            let db = Db::open(&server, &root).unwrap();
            // With the views for agents' statements, and the login they are for.
            for sql in [
                format!("drop schema {schema} cascade"),
                format!("drop schema if exists {schema}_read cascade"),
                format!(
                    "do $$ begin execute
                     'drop role if exists shopwright_' || left(md5(current_database() || '.{schema}'), 16); end $$"
                ),
            ] {
                remove(&db, &schema, &sql);
            }
        })
        .join()
        .unwrap();
    }
}

/// The last statements of the stopped engine's jobs may still run, and wait for tables in another order than a removal
/// does; the lines that hold something of the schema are ended then.
fn remove(db: &Db, schema: &str, sql: &str) {
    let end_others = format!(
        "do $$ begin perform pg_terminate_backend(l.pid) from pg_locks l join pg_class c on c.oid = l.relation
         join pg_namespace n on n.oid = c.relnamespace where n.nspname = '{schema}' and l.pid <> pg_backend_pid(); end $$"
    );
    for _ in 0..50 {
        if db.write::<_, DbError>(|tx| tx.run(sql, &[])).is_ok() {
            return;
        }
        db.write::<_, DbError>(|tx| tx.run(&end_others, &[])).unwrap();
    }
    panic!("{sql} fails");
}

fn postgres(root: &Path) -> Option<(String, Option<(String, String)>)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let Ok(server) = env::var("TEST_DATABASE_URL") else {
        println!("TEST_DATABASE_URL is not set: not run on PostgreSQL");
        return None;
    };
    let schema = format!("e{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let (made, at, root) = (schema.clone(), server.clone(), root.to_owned());
    std::thread::spawn(move || {
        let db = Db::open(&at, &root).unwrap();
        db.write::<_, DbError>(|tx| tx.run(&format!("create schema {made}"), &[])).unwrap();
    })
    .join()
    .unwrap();
    let mark = if server.contains('?') { '&' } else { '?' };
    Some((format!("{server}{mark}options=-csearch_path%3D{schema}"), Some((server, schema))))
}

/// Makes the store with its people: the administrator, a manager with rights to memory, a trainee with none.
fn make(root: &Path, database: String) -> Db {
    let options = InitOptions {
        name: "Flowers & Co".to_owned(),
        url: "http://shop.example.com".to_owned(),
        database,
        admin_password: Zeroizing::new(PASSWORD.to_owned()),
        ..InitOptions::default()
    };
    stores::init(root, &options).unwrap();
    let db = stores::open_db(root).unwrap();
    db.write(|tx| {
        let managers = groups::create(tx, Some("MANAGER"), "Managers")?;
        users::create(tx, &new_user("irina", Some(managers)))?;
        users::create(tx, &new_user("oleg", None))?;
        for command in GRANTED {
            assert!(rights::grant_to_group(tx, managers, command)?, "{command} is in the tree");
        }
        Ok::<_, DbError>(())
    })
    .unwrap();
    db
}

fn new_user(login: &str, main_group: Option<i64>) -> NewUser {
    static HASH: OnceLock<String> = OnceLock::new();
    let password_hash = HASH.get_or_init(|| stores::hash_password(PASSWORD).unwrap()).clone();
    let name = format!("Name of {login}");
    NewUser { login: login.to_owned(), name, password_hash, main_group, now: NOON.parse().unwrap() }
}
