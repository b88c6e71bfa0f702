//! What the engine hands to a tool's engine half.

use db::{Tx, journal};
use jiff::Timestamp;
use serde_json::Value;
use wire::Stop;

/// The person a call runs for.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Number of the user.
    pub id: i64,
    /// Login.
    pub login: String,
    /// Numbers of all groups, the main one first.
    pub groups: Vec<i64>,
    /// Commands granted at this moment, sorted.
    pub commands: Vec<String>,
}

/// One call on the engine's side: its transaction, its person, its clock.
///
/// Invariant: everything a tool does goes through `tx`, so that a refusal or
/// a fault after a change takes the change back.
pub struct EngineCx<'a> {
    /// The transaction of this call.
    pub tx: &'a mut Tx,
    /// The person.
    pub caller: &'a Caller,
    /// The store's language.
    pub language: &'a str,
    /// The moment of the call.
    pub now: Timestamp,
    /// The journal entry of this call; made with the first change.
    pub entry: journal::Entry,
}

impl EngineCx<'_> {
    /// Journals one changed row in the call's transaction; `before` or `after` is `None` where the row was not there.
    pub fn journal(
        &mut self,
        table: &str,
        row_id: i64,
        before: Option<&Value>,
        after: Option<&Value>,
    ) -> Result<(), Stop> {
        journal::change(self.tx, &mut self.entry, table, row_id, before, after)?;
        Ok(())
    }
}
