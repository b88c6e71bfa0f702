//! What the tests of moving and keeping whole stores share: rows, sums, another database, trees of files.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use db::Db;
use db::transfer::{self, TransferError};
use testkit::{Fixture, Output, TestStore, run};

/// How long moving and keeping may take on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(300);

/// The server, where there is one; the tests' own stores may live elsewhere.
static SERVER: LazyLock<Option<Fixture>> = LazyLock::new(|| {
    Fixture::postgres(env!("CARGO_BIN_EXE_shopwright"), concat!(env!("CARGO_TARGET_TMPDIR"), "/session"))
});

/// Rows, last number and sum of every table.
pub(crate) type Sums = BTreeMap<String, (u64, i64, String)>;

/// Files by name with their content; folders with none.
pub(crate) type Files = BTreeMap<String, Option<Vec<u8>>>;

/// A number that the environment makes larger.
pub(crate) fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Another, empty database, of the other kind where there is a server. Dropped, it is gone.
pub(crate) struct Other {
    pub(crate) url: String,
    server: Option<&'static Fixture>,
}

impl Other {
    pub(crate) fn than(store: &TestStore<'_>) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let is_sqlite = database(&store.root()).starts_with("sqlite:");
        match SERVER.as_ref() {
            Some(server) if is_sqlite => Self { url: server.empty_database().unwrap(), server: Some(server) },
            _ => {
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                Self { url: format!("sqlite:core/other-{number}.db"), server: None }
            }
        }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        if let Some(server) = self.server {
            server.drop_database(&self.url);
        }
    }
}

/// The database that the settings name.
pub(crate) fn database(root: &Path) -> String {
    let text = std::fs::read_to_string(root.join("config.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["database"].as_str().unwrap().to_owned()
}

/// Rows, last number and sum of every table of a database.
pub(crate) fn sums(url: &str, root: &Path) -> Sums {
    let db = Db::open(url, root).unwrap();
    db.read::<_, TransferError>(|tx| {
        let tables = transfer::tables()?;
        let sums = tables.iter().map(|table| {
            let sum = transfer::read(tx, table, &mut |_, _| Ok(()))?;
            Ok((table.name.clone(), (sum.rows, sum.last_id, sum.hex())))
        });
        sums.collect()
    })
    .unwrap()
}

/// The sums of the store's database, whichever it is.
pub(crate) fn store_sums(store: &TestStore<'_>) -> Sums {
    sums(&database(&store.root()), &store.root())
}

/// Every cell of the database, as it was made. On a server, secrets are told by their sums alone: the login for
/// agents' statements among them is not the store's. Nor are the notes of changed rows, which say what one database
/// was told.
pub(crate) fn dump(store: &TestStore<'_>) -> BTreeMap<String, Vec<Vec<String>>> {
    let on_server = crate::setup::fixture().dialect() == "postgres";
    store.dump(if on_server { &["secrets", "changes"] } else { &["changes"] }).unwrap()
}

/// Adds about so many rows, to tables that point to each other.
pub(crate) fn add_rows(store: &TestStore<'_>, rows: u64) {
    let numbers =
        |count| format!("with recursive n(i) as (select 1 union all select i + 1 from n where i < {count})");
    let (many, few) = (rows / 3, rows / 6);
    store
        .sql(&format!(
            "insert into tasks (creator_id, executor_id, state, name, body, created, changed)
             {} select 1, 2, 'kNew', 'Задание ' || i, 'line\n\\two \"' || i || '\"',
               '2026-11-30T10:00:00Z', '2026-11-30T10:00:00Z'
             from n;
             insert into journal (time, user_id, command, tool)
             {} select '2026-11-30T10:00:00Z', 1, 'AGENT_MEMORY_SAVE', 'memory_save' from n;
             insert into journal_changes (journal_id, table_name, row_id, before, after)
             select id, 'notes', id, null, '{{\"id\": 1}}' from journal where command = 'AGENT_MEMORY_SAVE';
             insert into notes (level, user_id, kind_key, name, body, edit_time)
             {} select 'own', 2, 'kDefault', 'n' || i, '<p>я ' || i || '</p>', '2026-11-30T10:00:00Z' from n;",
            numbers(many),
            numbers(few),
            numbers(many)
        ))
        .unwrap();
}

/// A subcommand of `store` on this store's root, not yet started.
pub(crate) fn command(store: &TestStore<'_>, action: &str, rest: &[&str]) -> Command {
    let mut command = store.command(&["store", action, "--root"]);
    command.arg(store.root()).args(rest);
    command
}

/// Runs a subcommand of `store` to its end, however long it takes.
pub(crate) fn finish(store: &TestStore<'_>, action: &str, rest: &[&str]) -> Output {
    run(&mut command(store, action, rest), b"", LONG).unwrap()
}

/// Runs it; it must be done.
pub(crate) fn done(store: &TestStore<'_>, action: &str, rest: &[&str]) -> Output {
    let output = finish(store, action, rest);
    assert_eq!(output.code, 0, "{action} {rest:?}: {}", output.err);
    output
}

/// Runs it; it must be refused, and say this.
pub(crate) fn refused(store: &TestStore<'_>, action: &str, rest: &[&str], words: &str) {
    let output = finish(store, action, rest);
    assert_eq!(output.code, 1, "{action} {rest:?}: {}", output.err);
    assert!(output.err.contains(words), "{}", output.err);
}

/// Every file below a folder with its content; folders with none. What the engine keeps for itself is left out.
pub(crate) fn tree(root: &Path) -> Files {
    let mut tree = BTreeMap::new();
    walk(root, root, &mut tree);
    tree
}

fn walk(root: &Path, folder: &Path, tree: &mut Files) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if name == "core" {
            continue;
        }
        if path.is_dir() {
            tree.insert(name, None);
            walk(root, &path, tree);
        } else {
            let mut bytes = std::fs::read(&path).unwrap();
            if name == "config.json" {
                // What it says, not how it is laid out.
                let config: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&bytes).unwrap();
                bytes = serde_json::to_vec(&config).unwrap();
            }
            tree.insert(name, Some(bytes));
        }
    }
}
