//! Work leases: who has a table in work. They end by themselves when their holder is gone.
//!
//! The time of an end is by the clock of the node that gave the lease. The others count it
//! `CLOCKS_DIFFER` longer, so that a clock ahead of it ends nothing that its holder still counts on.

use jiff::Timestamp;

use crate::timestamps::CLOCKS_DIFFER;
use crate::{DbError, Row, Tx, micros};

/// A table in work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The table.
    pub table: String,
    /// Who holds it: opaque, chosen by the holder, known to nobody else.
    pub holder: String,
    /// The person.
    pub user_id: i64,
    /// Their login.
    pub login: String,
    /// Their name.
    pub name: String,
    /// What they do, in words.
    pub what: String,
    /// Since when.
    pub since: Timestamp,
    /// Until when, if not renewed.
    pub until: Timestamp,
}

/// How the holders of calls begin; windows of the program choose words without it.
pub const CALL: &str = "call:";

impl Lease {
    /// Whether a call holds it, and no window of the program.
    pub fn is_of_call(&self) -> bool {
        self.holder.starts_with(CALL)
    }
}

/// What taking a table needs.
#[derive(Clone, Debug)]
pub struct Take<'a> {
    /// The table.
    pub table: &'a str,
    /// Who takes it: opaque, chosen by the holder.
    pub holder: &'a str,
    /// The person.
    pub user_id: i64,
    /// What they do, in words.
    pub what: &'a str,
    /// Now.
    pub now: Timestamp,
    /// Until when, if not renewed.
    pub until: Timestamp,
}

/// Takes a table, or takes it again; `false` if another holder has it.
pub fn take(tx: &mut Tx, take: &Take<'_>) -> Result<bool, DbError> {
    tx.lock(&lock_name(take.table))?;
    // One statement, so that of two nodes at once only one gets the table.
    let touched = tx.run(
        "insert into leases (table_name, holder, user_id, what, since, until)
         values (:table_name, :holder, :user_id, :what, :now, :until)
         on conflict (table_name) do update set holder = excluded.holder, user_id = excluded.user_id,
           what = excluded.what, until = excluded.until,
           since = case when leases.holder = excluded.holder then leases.since else excluded.since end
         where leases.holder = excluded.holder or leases.until <= :ended",
        &[
            ("table_name", take.table.into()),
            ("holder", take.holder.into()),
            ("user_id", take.user_id.into()),
            ("what", take.what.into()),
            ("now", micros(take.now).into()),
            ("ended", ended(take.now).into()),
            ("until", micros(take.until).into()),
        ],
    )?;
    Ok(touched > 0)
}

/// Renews a lease; `false` if its holder has lost it.
pub fn renew(
    tx: &mut Tx,
    table: &str,
    holder: &str,
    now: Timestamp,
    until: Timestamp,
) -> Result<bool, DbError> {
    let touched = tx.run(
        "update leases set until = :until where table_name = :table_name and holder = :holder and until > :ended",
        &[
            ("until", micros(until).into()),
            ("table_name", table.into()),
            ("holder", holder.into()),
            ("ended", ended(now).into()),
        ],
    )?;
    Ok(touched > 0)
}

/// Gives a table back; `false` if the holder did not have it.
pub fn free(tx: &mut Tx, table: &str, holder: &str) -> Result<bool, DbError> {
    let touched = tx.run(
        "delete from leases where table_name = :table_name and holder = :holder",
        &[("table_name", table.into()), ("holder", holder.into())],
    )?;
    Ok(touched > 0)
}

/// Takes a table from whoever holds it.
pub fn release(tx: &mut Tx, table: &str) -> Result<bool, DbError> {
    Ok(tx.run("delete from leases where table_name = :table_name", &[("table_name", table.into())])? > 0)
}

const SELECT: &str = "select l.table_name, l.holder, l.user_id, u.login, u.name, l.what, l.since, l.until
    from leases l join users u on u.id = l.user_id where l.until > :ended";

/// Who has a table in work. Until the end of this transaction nobody takes it anew.
pub fn held(tx: &mut Tx, table: &str, now: Timestamp) -> Result<Option<Lease>, DbError> {
    tx.lock_shared(&lock_name(table))?;
    let params = [("ended", ended(now).into()), ("table_name", table.into())];
    tx.row(&format!("{SELECT} and l.table_name = :table_name"), &params)?.map(|row| lease(&row)).transpose()
}

/// All tables in work, by name.
pub fn all(tx: &mut Tx, now: Timestamp) -> Result<Vec<Lease>, DbError> {
    let params = [("ended", ended(now).into())];
    tx.rows(&format!("{SELECT} order by l.table_name"), &params)?.iter().map(lease).collect()
}

/// Drops leases that have ended.
pub fn drop_old(tx: &mut Tx, now: Timestamp) -> Result<u64, DbError> {
    tx.run("delete from leases where until <= :ended", &[("ended", ended(now).into())])
}

/// The latest end that counts as past on every node.
fn ended(now: Timestamp) -> String {
    micros(now - CLOCKS_DIFFER)
}

fn lock_name(table: &str) -> String {
    format!("lease {table}")
}

fn lease(row: &Row) -> Result<Lease, DbError> {
    Ok(Lease {
        table: row.get("table_name")?,
        holder: row.get("holder")?,
        user_id: row.get("user_id")?,
        login: row.get("login")?,
        name: row.get("name")?,
        what: row.get("what")?,
        since: row.get("since")?,
        until: row.get("until")?,
    })
}
