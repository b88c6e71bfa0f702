//! How connections to a database file are opened.

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::error::error;
use super::functions;
use crate::DbError;

/// How long a writer waits for a writer of another process.
const BUSY: Duration = Duration::from_secs(20);
/// Room on the disk that a database needs to be able to go on.
const ROOM: usize = 256 << 10;
/// Statements a connection keeps prepared.
const STATEMENTS_KEPT: usize = 256;
/// Memory for pages of a connection that fills all tables.
const FILLER_CACHE_KIB: i64 = 200 << 10;

/// Makes the file and switches it to the write-ahead log, which lets readers go on while one writes.
pub(super) fn prepare_file(path: &Path) -> Result<(), DbError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(DbError::unreachable)?;
    }
    make_private(path)?;
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    let tries = 200;
    for attempt in 1..=tries {
        match connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0)) {
            Ok(_) => break,
            // This one statement does not wait for other processes by itself.
            Err(_) if attempt < tries => std::thread::sleep(Duration::from_millis(10)),
            Err(cause) => return Err(error(cause)),
        }
    }
    Ok(())
}

/// Makes a missing file so that only its owner reads it: it holds hashes of passwords. SQLite gives its
/// other files the rights of this one.
fn make_private(path: &Path) -> Result<(), DbError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(cause) => Err(DbError::unreachable(cause)),
    }
}

/// Writes a file of [`ROOM`] bytes beside the database, and removes it.
pub(super) fn check_room(path: &Path) -> Result<(), DbError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!("-room-{}-{number}", std::process::id()));
    let file = path.with_file_name(name);
    let written = write_new(&file).map_err(DbError::unreachable);
    let _ = std::fs::remove_file(&file);
    written
}

fn write_new(path: &Path) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    // Not zeros, which some file systems keep without taking room for them.
    file.write_all(&[b'x'; ROOM])?;
    file.sync_all()
}

/// A connection that writes. An acknowledged commit survives a power cut.
pub(super) fn writer(path: &Path) -> Result<Connection, DbError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "synchronous", "full").map_err(error)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(error)?;
    // Else a row that another one replaces goes without the triggers hearing of it.
    connection.pragma_update(None, "recursive_triggers", true).map_err(error)?;
    Ok(connection)
}

/// A connection that fills all tables: whether rows point to rows is looked at when all are there.
pub(super) fn filler(path: &Path) -> Result<Connection, DbError> {
    let connection = writer(path)?;
    connection.pragma_update(None, "foreign_keys", false).map_err(error)?;
    // One transaction fills many indexes here and there: with the usual 2 MB every page would go to the disk and
    // come back many times.
    connection.pragma_update(None, "cache_size", -FILLER_CACHE_KIB).map_err(error)?;
    Ok(connection)
}

/// A connection that only reads.
pub(super) fn reader(path: &Path) -> Result<Connection, DbError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "query_only", true).map_err(error)?;
    Ok(connection)
}

/// A connection for agents' statements; what it may do is narrowed by its user.
pub(super) fn agent(path: &Path) -> Result<Connection, DbError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    // As in PostgreSQL, a name in quotes that is not there is an error, and `like` minds the case.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false).map_err(error)?;
    connection.pragma_update(None, "case_sensitive_like", true).map_err(error)?;
    connection.pragma_update(None, "trusted_schema", false).map_err(error)?;
    Ok(connection)
}

/// A connection for statements of units that write.
pub(super) fn unit(path: &Path) -> Result<Connection, DbError> {
    let connection = writer(path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false).map_err(error)?;
    connection.pragma_update(None, "case_sensitive_like", true).map_err(error)?;
    functions::add(&connection).map_err(error)?;
    set_limits(&connection)?;
    Ok(connection)
}

/// What one statement may be made of.
pub(super) fn set_limits(connection: &Connection) -> Result<(), DbError> {
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, 2 << 20),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
        (Limit::SQLITE_LIMIT_COLUMN, 200),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (Limit::SQLITE_LIMIT_VDBE_OP, 100_000),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 1000),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, most).map_err(error)?;
    }
    Ok(())
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, DbError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(DbError::unreachable)?;
    connection.busy_timeout(BUSY).map_err(error)?;
    // Else a statement is prepared anew whenever it is asked with other values, which took most of its time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(error)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    Ok(connection)
}
