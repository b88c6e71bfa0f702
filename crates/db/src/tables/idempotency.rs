//! Idempotency keys: what was answered to a call that wrote, for 24 hours.

use jiff::{SignedDuration, Timestamp};

use crate::timestamps::CLOCKS_DIFFER;
use crate::{DbError, Tx, micros};

/// How long an answer is kept.
pub const LIFE: SignedDuration = SignedDuration::from_hours(24);

/// What was answered under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The command.
    pub command: String,
    /// Hash of its parameters.
    pub params_hash: Vec<u8>,
    /// The answer.
    pub answer_json: String,
}

/// What was answered to this person under this key.
///
/// In a writing transaction: holds the key to its end, so that of two calls
/// with one key, on whatever nodes, the second waits and finds the first's answer.
pub fn find(tx: &mut Tx, key: &str, user: i64) -> Result<Option<StoredAnswer>, DbError> {
    tx.lock(&format!("call {user} {key}"))?;
    let row = tx.row(
        "select command, params_hash, answer from calls where key = :key and user_id = :user_id",
        &[("key", key.into()), ("user_id", user.into())],
    )?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(StoredAnswer {
        command: row.get("command")?,
        params_hash: row.get("params_hash")?,
        answer_json: row.get("answer")?,
    }))
}

/// Keeps an answer. A key that is taken is a [`DbError::Conflict`].
pub fn keep(tx: &mut Tx, key: &str, user: i64, kept: &StoredAnswer, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "insert into calls (key, user_id, command, params_hash, answer, time)
         values (:key, :user_id, :command, :params_hash, :answer, :time)",
        &[
            ("key", key.into()),
            ("user_id", user.into()),
            ("command", (&kept.command).into()),
            ("params_hash", kept.params_hash.clone().into()),
            ("answer", (&kept.answer_json).into()),
            ("time", micros(now).into()),
        ],
    )?;
    Ok(())
}

/// Drops answers older than [`LIFE`] by every node's clock.
pub fn drop_old(tx: &mut Tx, now: Timestamp) -> Result<u64, DbError> {
    tx.run("delete from calls where time < :oldest", &[("oldest", micros(now - LIFE - CLOCKS_DIFFER).into())])
}
