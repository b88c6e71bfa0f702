//! Connections to a database file: one that writes, a stack of those that read.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::agent_connection::AgentConnection;
use super::connect;
use super::watcher::Watcher;
use crate::DbError;
use crate::driver::purpose::Purpose;
use crate::signal::{Listeners, Signals};

/// Connections for reading. Who comes when all are lent waits: more of them would only be in each other's way,
/// and a new one knows no statement yet.
const READERS: usize = 8;
/// How long a reader or writer waits for another one of this process.
const WAIT: Duration = Duration::from_secs(20);

/// A database file.
pub(crate) struct Sqlite {
    pub(super) path: PathBuf,
    /// The writing connection, while nobody writes. Made at the first write.
    writer: Mutex<Writer>,
    freed: Condvar,
    readers: Mutex<Readers>,
    reader_freed: Condvar,
    pub(crate) listeners: Listeners,
    watcher: Mutex<Watcher>,
    /// Connections for agents' statements.
    pub(super) agents: Mutex<Vec<AgentConnection>>,
}

#[derive(Default)]
struct Readers {
    lent: usize,
    idle: Vec<Connection>,
}

#[derive(Default)]
struct Writer {
    lent: bool,
    idle: Option<Connection>,
    /// The connection for units' statements.
    unit: Option<Connection>,
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Result<Self, DbError> {
        Ok(Self {
            path: path.to_owned(),
            writer: Mutex::default(),
            freed: Condvar::new(),
            readers: Mutex::default(),
            reader_freed: Condvar::new(),
            listeners: Listeners::default(),
            watcher: Mutex::default(),
            agents: Mutex::default(),
        })
    }

    /// Makes the file, where it is missing, one that can be read while it is written.
    pub(crate) fn prepare_file(&self) -> Result<(), DbError> {
        connect::prepare_file(&self.path)
    }

    /// Whether there is a database yet.
    pub(crate) fn is_there(&self) -> Result<bool, DbError> {
        match std::fs::metadata(&self.path) {
            Ok(file) => Ok(file.len() > 0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(DbError::unreachable(error)),
        }
    }

    /// Whether the disk has room: the file may have some inside, and take a small change where a large one fails.
    pub(crate) fn check_room(&self) -> Result<(), DbError> {
        connect::check_room(&self.path)
    }

    /// Numbers that are others after every commit of whatever program; `None` where they cannot be read.
    pub(crate) fn commit_numbers(&self) -> Option<(u64, i64)> {
        hold(&self.watcher).numbers(&self.path)
    }

    /// What this process says from now on; a file has no other nodes.
    pub(crate) fn listen(&self) -> Signals {
        self.listeners.add()
    }

    pub(super) fn lend(&self, purpose: Purpose) -> Result<Connection, DbError> {
        match purpose {
            Purpose::Read => self.lend_reader(),
            Purpose::Write => self.lend_writer(),
            Purpose::Unit => self.lend_unit_writer(),
            Purpose::Bulk => connect::filler(&self.path),
        }
    }

    /// A unit writes when nobody else does, on a connection of its own kind.
    fn lend_unit_writer(&self) -> Result<Connection, DbError> {
        let mut writer = wait(&self.freed, &self.writer, |writer| writer.lent)?;
        let connection = match writer.unit.take() {
            Some(connection) => connection,
            None => connect::unit(&self.path)?,
        };
        writer.lent = true;
        Ok(connection)
    }

    fn lend_reader(&self) -> Result<Connection, DbError> {
        let mut readers = wait(&self.reader_freed, &self.readers, |readers| readers.lent == READERS)?;
        readers.lent += 1;
        if let Some(connection) = readers.idle.pop() {
            return Ok(connection);
        }
        drop(readers);
        connect::reader(&self.path).inspect_err(|_| self.give_back(Purpose::Read, None))
    }

    fn lend_writer(&self) -> Result<Connection, DbError> {
        let mut writer = wait(&self.freed, &self.writer, |writer| writer.lent)?;
        let connection = match writer.idle.take() {
            Some(connection) => connection,
            None => connect::writer(&self.path)?,
        };
        writer.lent = true;
        Ok(connection)
    }

    /// Takes a connection back; `None` if it broke.
    pub(super) fn give_back(&self, purpose: Purpose, connection: Option<Connection>) {
        match purpose {
            Purpose::Read => {
                let mut readers = hold(&self.readers);
                readers.lent -= 1;
                readers.idle.extend(connection);
                self.reader_freed.notify_one();
            }
            Purpose::Write => {
                let mut writer = hold(&self.writer);
                (writer.lent, writer.idle) = (false, connection);
                self.freed.notify_one();
            }
            Purpose::Unit => {
                let mut writer = hold(&self.writer);
                (writer.lent, writer.unit) = (false, connection);
                self.freed.notify_one();
            }
            // Opened for one transaction.
            Purpose::Bulk => drop(connection),
        }
    }
}

/// What a mutex holds, once it is not busy any more.
fn wait<'a, T>(
    freed: &Condvar,
    mutex: &'a Mutex<T>,
    is_busy: impl Fn(&T) -> bool,
) -> Result<MutexGuard<'a, T>, DbError> {
    let waited = freed.wait_timeout_while(hold(mutex), WAIT, |held| is_busy(held));
    let (held, waited) = waited.unwrap_or_else(PoisonError::into_inner);
    if waited.timed_out() { Err(DbError::Busy) } else { Ok(held) }
}

/// A panic elsewhere leaves these lists whole, so a poisoned lock is as good as any.
pub(super) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
