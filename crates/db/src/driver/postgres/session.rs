//! One transaction on a connection of PostgreSQL.

use std::cell::Cell;
use std::sync::Arc;

use deadpool_postgres::Object;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::error::{error, pool_error};
use super::listen;
use super::pool::{CONNECTIONS, Postgres};
use super::value::{self, Sent};
use crate::driver::purpose::Purpose;
use crate::{DbError, Row, Value};

/// Begins a transaction that only reads, and asks whether the server is a standby: that one may tell old news.
const READ: &str =
    "begin isolation level repeatable read read only; select pg_catalog.pg_is_in_recovery()::text";
/// Begins a transaction that writes, and asks whether the server takes writes at all.
///
/// What must not change between reading and writing is held by `lock` and `lock_row`.
const WRITE: &str = "begin isolation level read committed; show transaction_read_only";
/// Begins a transaction that fills all tables: it may take long.
const BULK: &str = "begin isolation level read committed; set local idle_in_transaction_session_timeout = 0; \
                    set local statement_timeout = 0; show transaction_read_only";

/// A lent connection with an open transaction.
pub(crate) struct PostgresSession {
    database: Arc<Postgres>,
    purpose: Purpose,
    /// `None` only after the end.
    client: Option<Object>,
    /// Whether its server takes no writes any more, so that nobody is to get the connection again.
    is_lost: Cell<bool>,
}

impl PostgresSession {
    pub(crate) fn begin(database: &Arc<Postgres>, purpose: Purpose) -> Result<Self, DbError> {
        let client = database.wait(async {
            // A connection that the server closed while it was idle is replaced, once for each the pool may hold.
            let mut tries = 0;
            loop {
                let client = database.pool.get().await.map_err(pool_error)?;
                let cause = match start(&client, purpose, database.wants_writable()).await {
                    Ok(()) => return Ok(client),
                    Err(cause) => cause,
                };
                // The server's farewell may come before the line is seen to be closed.
                let is_gone = client.is_closed() || matches!(cause, DbError::Unreachable(_));
                if !is_gone || tries == CONNECTIONS {
                    return Err(cause);
                }
                // Taken out of the pool, so that nobody gets it again.
                drop(Object::take(client));
                database.drop_idle();
                tries += 1;
            }
        })?;
        Ok(Self { database: Arc::clone(database), purpose, client: Some(client), is_lost: Cell::new(false) })
    }

    /// What it is for.
    pub(super) fn purpose(&self) -> Purpose {
        self.purpose
    }

    pub(crate) fn rows(&mut self, sql: &str, params: &[(&str, Value)]) -> Result<Vec<Row>, DbError> {
        let numbered = self.database.numbered(sql);
        let sent = sent(&numbered.names, params)?;
        let client = self.client()?;
        let found = self.database.wait(async {
            let statement = client.prepare_cached(&numbered.sql).await.map_err(error)?;
            client.query(&statement, &references(&sent)).await.map_err(|cause| self.failed(cause))
        })?;
        let Some(first) = found.first() else { return Ok(Vec::new()) };
        let columns: Arc<[String]> = first.columns().iter().map(|column| column.name().to_owned()).collect();
        found.iter().map(|row| value::row(row, &columns)).collect()
    }

    pub(crate) fn run(&mut self, sql: &str, params: &[(&str, Value)]) -> Result<u64, DbError> {
        let numbered = self.database.numbered(sql);
        let sent = sent(&numbered.names, params)?;
        let client = self.client()?;
        self.database.wait(async {
            let statement = client.prepare_cached(&numbered.sql).await.map_err(error)?;
            client.execute(&statement, &references(&sent)).await.map_err(|cause| self.failed(cause))
        })
    }

    pub(crate) fn script(&mut self, sql: &str) -> Result<(), DbError> {
        let client = self.client()?;
        self.database.wait(async { client.batch_execute(sql).await.map_err(|cause| self.failed(cause)) })
    }

    /// Puts a message into the server's log of changes, which the commit then waits for.
    pub(crate) fn touch(&mut self) -> Result<(), DbError> {
        self.rows("select pg_logical_emit_message(true, 'shopwright', '')::text as place", &[])?;
        Ok(())
    }

    pub(crate) fn lock(&mut self, name: &str, shared: bool) -> Result<(), DbError> {
        // Locks are the database's: stores that share one, each in a schema of its own, do not wait for each other.
        let sql = if shared {
            "select pg_advisory_xact_lock_shared(hashtextextended(concat(current_schema(), '.', cast(:name as text)), 0))"
        } else {
            "select pg_advisory_xact_lock(hashtextextended(concat(current_schema(), '.', cast(:name as text)), 0))"
        };
        self.rows(sql, &[("name", name.into())])?;
        Ok(())
    }

    /// Like [`Self::lock`], for what all stores of a database share.
    pub(crate) fn lock_for_all_stores(&mut self, name: &str) -> Result<(), DbError> {
        let sql = "select pg_advisory_xact_lock(hashtextextended(:name, 0))";
        self.rows(sql, &[("name", name.into())])?;
        Ok(())
    }

    pub(crate) fn signal(&mut self, channel: &str, payload: &str) -> Result<(), DbError> {
        self.rows(listen::NOTIFY, &[("signal", listen::packed(channel, payload).into())])?;
        Ok(())
    }

    pub(crate) fn lock_row(&mut self, table: &'static str, id: i64) -> Result<(), DbError> {
        self.rows(&format!("select id from {table} where id = :id for update"), &[("id", id.into())])?;
        Ok(())
    }

    pub(crate) fn commit(mut self) -> Result<(), DbError> {
        if self.purpose == Purpose::Read {
            // Nothing hangs on the end of a transaction that only read, so nobody waits for it.
            if let (Some(client), Some(runtime)) = (self.client.take(), &self.database.runtime) {
                runtime.spawn(end(client));
            }
            return Ok(());
        }
        if self.is_lost.get() {
            return Err(DbError::unreachable("the server took a change back: it takes none"));
        }
        let client = self.client()?;
        let done = self.database.wait(async { client.batch_execute("commit").await.map_err(error) });
        // What this node committed it knows at once, and not when the server says so; maybe a lost commit came through.
        self.database.listeners.ring();
        done.map_err(|cause| match cause {
            DbError::Unreachable(source) => DbError::CommitLost(source),
            other => other,
        })?;
        self.client = None;
        Ok(())
    }

    /// What the failure of a statement means. A server that takes no writes is one that was lost: the connection
    /// goes, and the next one is looked for at a server that takes them.
    fn failed(&self, cause: tokio_postgres::Error) -> DbError {
        let is_read_only = cause.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION);
        if self.purpose != Purpose::Read && is_read_only {
            self.is_lost.set(true);
            return DbError::unreachable(cause);
        }
        error(cause)
    }

    pub(super) fn database(&self) -> &Arc<Postgres> {
        &self.database
    }

    pub(super) fn client(&self) -> Result<&Object, DbError> {
        self.client.as_ref().ok_or_else(|| DbError::sql("the transaction has ended"))
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        if self.is_lost.get() {
            drop(Object::take(client));
            self.database.drop_idle();
            return;
        }
        let _ = self.database.wait(async {
            end(client).await;
            Ok(())
        });
    }
}

/// Begins the transaction; a server that takes no writes is as good as none.
async fn start(client: &Object, purpose: Purpose, wants_writable: bool) -> Result<(), DbError> {
    let sql = match purpose {
        Purpose::Read => READ,
        Purpose::Write | Purpose::Unit => WRITE,
        Purpose::Bulk => BULK,
    };
    let told = client.simple_query(sql).await.map_err(error)?;
    let is_read_only = told.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => matches!(row.get(0), Some("on" | "true")),
        _ => false,
    });
    if is_read_only && (wants_writable || purpose != Purpose::Read) {
        return Err(DbError::unreachable(
            "the server takes no writes: it is a standby, or was made read-only",
        ));
    }
    Ok(())
}

/// Takes the transaction back and the connection into the pool.
async fn end(client: Object) {
    if client.batch_execute("rollback").await.is_err() {
        // Nobody knows in which state it is.
        drop(Object::take(client));
    }
}

/// The values in the order of the numbers.
fn sent<'a>(names: &[String], params: &'a [(&str, Value)]) -> Result<Vec<Sent<'a>>, DbError> {
    if let Some((name, _)) = params.iter().find(|(name, _)| !names.iter().any(|known| known == name)) {
        return Err(DbError::Parameter((*name).to_owned()));
    }
    let find = |name: &String| {
        let found = params.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| Sent(value)).ok_or_else(|| DbError::Parameter(name.clone()))
    };
    names.iter().map(find).collect()
}

pub(super) fn references<'a>(sent: &'a [Sent<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    sent.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
