//! All rows of a table out of PostgreSQL and into it.

use std::pin::Pin;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::SinkExt;
use tokio_postgres::CopyInSink;

use super::error::error;
use super::pool::Postgres;
use super::session::PostgresSession;
use super::value;
use crate::transfer::table::Table;
use crate::{DbError, Value};

/// Bytes of rows that are read at once, about; and of rows that are sent at once.
const BATCH: usize = 1 << 20;
/// Rows that are read at once, at most.
const ROWS: usize = 5000;
/// First bytes of the server's own binary form, with no flags and no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What a transaction needs that stands idle while the other database works, and works long itself.
const UNHURRIED: &str = "set local idle_in_transaction_session_timeout = 0; set local statement_timeout = 0";

impl PostgresSession {
    /// Hands over the rows of a statement one after the other.
    pub(crate) fn each<E: From<DbError>>(
        &mut self,
        sql: &str,
        take: &mut dyn FnMut(&mut Vec<Value>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.script(&format!("{UNHURRIED}; declare whole no scroll cursor for {sql}"))?;
        let mut count = 50;
        loop {
            let client = self.client()?;
            let fetch = format!("fetch {count} from whole");
            let found =
                self.database().wait(async { client.query(fetch.as_str(), &[]).await.map_err(error) })?;
            let mut bytes = 1;
            for row in &found {
                bytes += row.raw_size_bytes();
                take(&mut value::values(row)?)?;
            }
            if found.len() < count {
                break;
            }
            count = (BATCH / (bytes / found.len()).max(1)).clamp(1, ROWS);
        }
        Ok(self.script("close whole")?)
    }

    /// Begins to add rows.
    pub(crate) fn copy_in(&mut self, table: &Table) -> Result<CopyIn, DbError> {
        let sql = format!("copy \"{}\" ({}) from stdin (format binary)", table.name, table.column_list());
        let client = self.client()?;
        let sink = self.database().wait(async { client.copy_in(sql.as_str()).await.map_err(error) })?;
        let mut buffer = BytesMut::with_capacity(BATCH);
        buffer.put_slice(HEADER);
        Ok(CopyIn { database: Arc::clone(self.database()), sink: Box::pin(sink), buffer })
    }

    /// Removes every row that `filter` names.
    pub(crate) fn clear(&mut self, tables: &[(&Table, &str)]) -> Result<(), DbError> {
        let whole = tables.iter().filter(|(_, filter)| filter.is_empty());
        let names: Vec<_> = whole.map(|(table, _)| format!("\"{}\"", table.name)).collect();
        self.script(&format!("truncate {}", names.join(", ")))?;
        for (table, filter) in tables.iter().filter(|(_, filter)| !filter.is_empty()) {
            self.script(&format!("delete from \"{}\"{filter}", table.name))?;
        }
        Ok(())
    }

    /// The largest number that a row of this table ever had.
    pub(crate) fn last_id(&mut self, table: &Table) -> Result<i64, DbError> {
        let sql =
            "select pg_get_serial_sequence(quote_ident(current_schema()) || '.' || quote_ident(:name), 'id')
                     as sequence";
        let found = self.rows(sql, &[("name", (&table.name).into())])?;
        let Some(sequence) = found.first().map(|row| row.get::<String>("sequence")).transpose()? else {
            return Ok(0);
        };
        let sql = format!(
            "select greatest(last_value - case when is_called then 0 else 1 end,
                             coalesce((select max(id) from \"{}\"), 0)) as last
             from {sequence}",
            table.name
        );
        match self.rows(&sql, &[])?.first() {
            Some(row) => row.get("last"),
            None => Ok(0),
        }
    }

    /// Numbers up to this one are not given again.
    pub(crate) fn set_last_id(&mut self, table: &Table, last: i64) -> Result<(), DbError> {
        let next = last.checked_add(1).ok_or_else(|| DbError::sql("the table's numbers are used up"))?;
        // Unlike `setval`, this is taken back with the transaction.
        // A table whose links are still to be checked cannot be altered.
        self.script("set constraints all immediate")?;
        self.script(&format!("alter table \"{}\" alter column id restart with {next}", table.name))
    }
}

/// Rows on their way into a table. Dropped before its end, it adds none.
pub(crate) struct CopyIn {
    database: Arc<Postgres>,
    sink: Pin<Box<CopyInSink<Bytes>>>,
    buffer: BytesMut,
}

impl CopyIn {
    pub(crate) fn push(&mut self, values: &[Value]) -> Result<(), DbError> {
        let count = i16::try_from(values.len()).map_err(DbError::sql)?;
        self.buffer.put_i16(count);
        for value in values {
            put(&mut self.buffer, value)?;
        }
        if self.buffer.len() >= BATCH { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<(), DbError> {
        let full = self.buffer.split().freeze();
        self.database.wait(async { self.sink.send(full).await.map_err(stopped) })
    }

    /// All rows are told; the server looks at them.
    pub(crate) fn finish(mut self) -> Result<u64, DbError> {
        // No more rows.
        self.buffer.put_i16(-1);
        self.send()?;
        self.database.wait(async { self.sink.as_mut().finish().await.map_err(stopped) })
    }
}

/// Why no more rows go in. Of a row that the server refused in the middle the driver tells nothing.
fn stopped(cause: tokio_postgres::Error) -> DbError {
    if cause.is_closed() {
        return DbError::sql("the server takes no more rows: it refused one (its log tells why), or is gone");
    }
    error(cause)
}

/// A value in the server's binary form, with its length before it.
fn put(buffer: &mut BytesMut, value: &Value) -> Result<(), DbError> {
    let mut sized = |bytes: &[u8]| {
        buffer.put_i32(i32::try_from(bytes.len()).map_err(DbError::sql)?);
        buffer.put_slice(bytes);
        Ok(())
    };
    match value {
        Value::Null => {
            buffer.put_i32(-1);
            Ok(())
        }
        Value::Bool(truth) => sized(&[u8::from(*truth)]),
        Value::Int(number) => sized(&number.to_be_bytes()),
        Value::Real(number) => sized(&number.to_be_bytes()),
        Value::Text(text) => sized(text.as_bytes()),
        Value::Bytes(bytes) => sized(bytes),
    }
}
