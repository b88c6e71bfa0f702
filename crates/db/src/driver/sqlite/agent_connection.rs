//! A connection for agents' statements, on which only we begin and end transactions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;

use super::error::error;
use crate::DbError;

/// A connection for agents' statements.
pub(super) struct AgentConnection {
    pub(super) connection: Connection,
    /// Whether the statement is ours, which begins or ends the pool's transaction.
    pub(super) is_own: Arc<AtomicBool>,
}

impl AgentConnection {
    /// Carries out a statement of ours that begins or ends the transaction.
    pub(super) fn own(&self, sql: &str) -> Result<(), DbError> {
        self.is_own.store(true, Ordering::SeqCst);
        let done = self.connection.execute_batch(sql).map_err(error);
        self.is_own.store(false, Ordering::SeqCst);
        done
    }
}
