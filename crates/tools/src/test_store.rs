//! A store for tests: a real database in a folder of its own, and calls that go the whole way.

use std::env;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use db::users::{self, NewUser};
use db::{Db, DbError, groups, journal, seed};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use wire::Stop;

use crate::{Caller, Effect, EngineCx, LocalContext, Presented, check_arguments, find};

/// A store with three people, as small as tests need it.
pub(crate) struct TestStore {
    pub(crate) db: Db,
    pub(crate) local: LocalContext,
    pub(crate) admin: Caller,
    pub(crate) irina: Caller,
    pub(crate) oleg: Caller,
    pub(crate) managers: i64,
    pub(crate) now: Timestamp,
    _folder: TempDir,
    schema: Option<(String, String)>,
}

/// Runs a test on SQLite and, where a server is named, on PostgreSQL.
pub(crate) fn on_both(test: impl Fn(TestStore)) {
    test(TestStore::new());
    match TestStore::on_postgres() {
        Some(store) => test(store),
        None => println!("TEST_DATABASE_URL is not set: not run on PostgreSQL"),
    }
}

impl TestStore {
    /// A store with its database in a file.
    pub(crate) fn new() -> Self {
        Self::at("sqlite:core/store.db", None)
    }

    /// A store with its database in a schema of its own; `None` where no server is named.
    fn on_postgres() -> Option<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let server = env::var("TEST_DATABASE_URL").ok()?;
        let schema = format!("tools{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        run(&server, &format!("create schema {schema}"));
        let mark = if server.contains('?') { '&' } else { '?' };
        let url = format!("{server}{mark}options=-csearch_path%3D{schema}");
        Some(Self::at(&url, Some((server, schema))))
    }

    fn at(url: &str, schema: Option<(String, String)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let local = LocalContext {
            store: root.join("store"),
            conversation: root.join("store/mcp/test/topic"),
            room: crate::inline::Room::ANSWER,
            trip: std::time::Duration::ZERO,
        };
        fs::create_dir_all(&local.conversation).unwrap();
        let now: Timestamp = "2026-11-30T10:00:00Z".parse().unwrap();
        let db = Db::open(url, &root).unwrap();
        db.migrate().unwrap();
        let (managers, [admin, irina, oleg]) = db
            .write(|tx| {
                seed::base(tx, now)?;
                let managers = groups::create(tx, Some("MANAGER"), "Managers")?;
                let administrators = groups::by_skey(tx, groups::ADMIN, "en")?.map(|group| group.id);
                let mut person = |login: &str, name: &str, main_group: Option<i64>| {
                    let new = NewUser {
                        login: login.to_owned(),
                        name: name.to_owned(),
                        password_hash: "-".to_owned(),
                        main_group,
                        now,
                    };
                    let id = users::create(tx, &new)?;
                    let groups = main_group.into_iter().collect();
                    Ok::<_, DbError>(Caller {
                        id,
                        login: login.to_owned(),
                        groups,
                        commands: Vec::new(),
                        is_demo: false,
                    })
                };
                let people = [
                    person("admin", "Anna", administrators)?,
                    person("irina", "Irina", Some(managers))?,
                    person("oleg", "Oleg", None)?,
                ];
                Ok::<_, DbError>((managers, people))
            })
            .unwrap();
        Self { db, local, admin, irina, oleg, managers, now, _folder: folder, schema }
    }

    /// Calls a tool as the MCP server and the engine do, the gates left out.
    pub(crate) fn call(&self, who: &Caller, tool: &str, arguments: Value) -> Result<Presented, Stop> {
        let tool = find(tool).unwrap();
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let arguments = check_arguments(&tool.listed_input(), arguments)?;
        let sent = match tool.prepare {
            Some(prepare) => prepare(&self.local, arguments.clone())?,
            None => arguments.clone(),
        };
        let answer = self.run(who, tool.name, sent)?;
        let shown = tool.present.unwrap()(&self.local, arguments, answer)?;
        if let Some(data) = &shown.data {
            assert_fits(&tool.output.unwrap()(), data);
        }
        Ok(shown)
    }

    /// The engine's half alone.
    pub(crate) fn run(&self, who: &Caller, tool: &str, sent: Map<String, Value>) -> Result<Value, Stop> {
        let tool = find(tool).unwrap();
        let work = |tx: &mut db::Tx| {
            let entry = journal::Entry::new(self.now, who.id, tool.command().unwrap());
            let (files, units) = (&mut NoFiles, &NoFiles);
            let mut cx = EngineCx {
                tx,
                db: &self.db,
                caller: who,
                language: "en",
                now: self.now,
                entry,
                files,
                units,
                debug_code: "",
                server: &NoFiles,
            };
            let done = tool.run.unwrap()(&mut cx, sent);
            journal::by(cx.tx, cx.entry);
            done
        };
        match tool.effect {
            Effect::Reads => self.db.read(work),
            Effect::Writes | Effect::Destroys => self.db.write(work),
        }
    }

    /// The data of a call that must succeed.
    pub(crate) fn data(&self, who: &Caller, tool: &str, arguments: Value) -> Value {
        self.call(who, tool, arguments).unwrap().data.unwrap()
    }

    /// Name of the refusal and text of a call that must be refused and change nothing.
    pub(crate) fn refused(&self, who: &Caller, tool: &str, arguments: Value) -> (String, String) {
        let before = self.journal();
        match self.call(who, tool, arguments) {
            Err(Stop::Refused(refusal)) => {
                let spec = find(tool).unwrap();
                let declared = spec.refuses.contains(&refusal.name())
                    || ["unknown_parameter", "missing_parameter", "wrong_parameter", "not_one_of"]
                        .contains(&refusal.name());
                assert!(declared, "{tool} does not declare {}", refusal.name());
                assert_eq!(self.journal().len(), before.len(), "a refused call left something behind");
                (refusal.name().to_owned(), refusal.text())
            }
            other => panic!("{tool} is not refused: {other:?}"),
        }
    }

    /// Changes in the journal, the newest first.
    pub(crate) fn journal(&self) -> Vec<journal::Change> {
        let written = self.db.read(|tx| journal::list(tx, None, 1000)).unwrap();
        written.into_iter().flat_map(|written| written.changes).collect()
    }

    pub(crate) fn later(&self, seconds: i64) -> Timestamp {
        self.now + SignedDuration::from_secs(seconds)
    }

    pub(crate) fn take(&self, who: &Caller, table: &str, seconds: i64) {
        self.take_as(&format!("window of {}", who.login), who, table, seconds);
    }

    /// Takes a table as a call of an agent does.
    pub(crate) fn take_by_call(&self, who: &Caller, table: &str, seconds: i64) {
        self.take_as(&format!("{}{table}", db::leases::CALL), who, table, seconds);
    }

    fn take_as(&self, holder: &str, who: &Caller, table: &str, seconds: i64) {
        let taken = self.db.write(|tx| {
            let take = db::leases::Take {
                table,
                holder,
                user_id: who.id,
                what: "editing",
                now: self.now,
                until: self.later(seconds),
            };
            db::leases::take(tx, &take)
        });
        assert!(taken.unwrap());
    }
}

fn run(server: &str, sql: &str) {
    let folder = tempfile::tempdir().unwrap();
    Db::open(server, folder.path()).unwrap().write::<_, DbError>(|tx| tx.run(sql, &[])).unwrap();
}

impl Drop for TestStore {
    fn drop(&mut self) {
        if let Some((server, schema)) = &self.schema {
            // With the views for agents' statements, and the login they are for.
            run(server, &format!("drop schema {schema} cascade"));
            run(server, &format!("drop schema if exists {schema}_read cascade"));
            run(
                server,
                &format!(
                    "do $$ begin execute
                     'drop role if exists shopwright_' || left(md5(current_database() || '.{schema}'), 16); end $$"
                ),
            );
        }
    }
}

/// An answer holds what its schema promises, and nothing the schema keeps quiet about.
fn assert_fits(schema: &Value, data: &Value) {
    let kind = match data {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = match &schema["type"] {
        Value::String(known) => known == kind,
        Value::Array(known) => known.contains(&json!(kind)),
        _ => true,
    };
    assert!(fits, "{data} is not {schema}");
    if let Some(values) = schema["enum"].as_array() {
        assert!(values.contains(data), "{data} is not {schema}");
    }
    for item in data.as_array().into_iter().flatten() {
        assert_fits(&schema["items"], item);
    }
    let (Some(data), Some(known)) = (data.as_object(), schema["properties"].as_object()) else { return };
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(data.contains_key(name.as_str().unwrap()), "{name} is promised");
    }
    for (name, value) in data {
        assert!(known.contains_key(name), "{name} is not in the schema");
        assert_fits(&known[name], value);
    }
}

/// Rows of a table, or of the one table in an answer, as objects.
pub(crate) fn objects(answer: &Value) -> Vec<Value> {
    let inner = || answer.as_object().unwrap().values().find(|value| value.get("columns").is_some());
    let table = if answer.get("columns").is_some() { answer } else { inner().unwrap() };
    let columns = table["columns"].as_array().unwrap();
    let object = |row: &Value| {
        let names = columns.iter().map(|name| name.as_str().unwrap().to_owned());
        Value::Object(names.zip(row.as_array().unwrap().iter().cloned()).collect())
    };
    table["rows"].as_array().unwrap().iter().map(object).collect()
}

/// One column of a table.
pub(crate) fn column(table: &Value, name: &str) -> Vec<Value> {
    objects(table)
        .into_iter()
        .map(|mut row| row.as_object_mut().unwrap().remove(name).unwrap_or(json!(null)))
        .collect()
}

/// The files of a store without any: tools for files are tested where the engine keeps them.
struct NoFiles;

impl crate::StoreFiles for NoFiles {
    fn load(&mut self, _: &mut db::Tx, _: &crate::StorePath) -> Result<Option<crate::StoredFile>, Stop> {
        Ok(None)
    }

    fn change(
        &mut self,
        _: &mut db::Tx,
        _: crate::FileChange<'_>,
    ) -> Result<db::file_versions::Version, Stop> {
        panic!("this store has no files")
    }

    fn content(&mut self, _: &str) -> Result<Vec<u8>, Stop> {
        panic!("this store has no files")
    }

    fn send(&mut self, _: &mut db::Tx, _: &crate::StorePath) -> Result<Option<u64>, Stop> {
        Ok(None)
    }

    fn has_folder(&mut self, _: &mut db::Tx, _: &crate::StorePath) -> Result<bool, Stop> {
        Ok(false)
    }

    fn entries(&mut self, _: &str) -> Result<Vec<crate::StoreEntry>, Stop> {
        Ok(Vec::new())
    }
}

impl crate::Server for NoFiles {
    fn default_group(&self) -> &str {
        "default"
    }

    fn config(&self) -> Value {
        json!({})
    }

    fn address(&self) -> String {
        "127.0.0.1".to_owned()
    }

    fn add_element_file(
        &self,
        _: &mut db::Tx,
        _: &crate::ElementUpload<'_>,
    ) -> Result<Result<i64, String>, Stop> {
        panic!("this store has no files")
    }

    fn element_file(&self, _: &str) -> Result<Option<Vec<u8>>, Stop> {
        Ok(None)
    }
}

impl crate::Units for NoFiles {
    fn command(
        &self,
        _: &mut db::Tx,
        call: crate::CommandCall,
    ) -> Result<crate::CommandDone, crate::CommandFailed> {
        Err(crate::CommandFailed::NoModule(format!("units/{}.js", call.unit)))
    }

    fn code(&self, _: &str, _: &str) -> Result<Result<crate::CodeReport, crate::Mistake>, Stop> {
        Ok(Ok(crate::CodeReport::default()))
    }

    fn template(&self, _: &str, _: &str) -> Result<(), crate::Mistake> {
        Ok(())
    }

    fn manifest(&self, _: &str, _: &str) -> Result<Map<String, Value>, crate::Mistake> {
        Ok(Map::new())
    }

    fn has_runtime(&self, _: &str) -> bool {
        false
    }
}
