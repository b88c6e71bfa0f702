//! Sign-in tickets. Only their hashes are kept.

use jiff::{SignedDuration, Timestamp};

use crate::timestamps::CLOCKS_DIFFER;
use crate::{DbError, Tx, micros};

/// How long a ticket lives without being used.
pub const LIFE: SignedDuration = SignedDuration::from_hours(24);

/// What a new ticket needs.
#[derive(Clone, Debug)]
pub struct NewTicket {
    /// Hash of the ticket.
    pub hash: [u8; 32],
    /// Whose it is.
    pub user_id: i64,
    /// Version of the password it was got with.
    pub password_version: i64,
    /// Address it was got from.
    pub address: String,
    /// Which endpoint it is for: `agent` or `program`.
    pub kind: String,
    /// When it was got.
    pub now: Timestamp,
}

/// A ticket that was handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Whose it is.
    pub user_id: i64,
    /// Version of the password it was got with.
    pub password_version: i64,
    /// Address it was got from.
    pub address: String,
    /// Which endpoint it is for.
    pub kind: String,
    /// When it was last used, to the accuracy of [`touch`].
    pub used: Timestamp,
}

/// Keeps a new ticket.
pub fn create(tx: &mut Tx, new: &NewTicket) -> Result<(), DbError> {
    tx.run(
        "insert into tickets (hash, user_id, password_version, address, kind, created, used)
         values (:hash, :user_id, :password_version, :address, :kind, :now, :now)",
        &[
            ("hash", (&new.hash).into()),
            ("user_id", new.user_id.into()),
            ("password_version", new.password_version.into()),
            ("address", (&new.address).into()),
            ("kind", (&new.kind).into()),
            ("now", micros(new.now).into()),
        ],
    )?;
    Ok(())
}

/// The ticket of this hash, expired or not.
pub fn find(tx: &mut Tx, hash: &[u8; 32]) -> Result<Option<Ticket>, DbError> {
    let row = tx.row(
        "select user_id, password_version, address, kind, used from tickets where hash = :hash",
        &[("hash", hash.into())],
    )?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Ticket {
        user_id: row.get("user_id")?,
        password_version: row.get("password_version")?,
        address: row.get("address")?,
        kind: row.get("kind")?,
        used: row.get("used")?,
    }))
}

/// Notes that a ticket is in use; its life begins anew. One that ended meanwhile stays ended.
pub fn touch(tx: &mut Tx, hash: &[u8; 32], now: Timestamp) -> Result<(), DbError> {
    // A node whose clock is behind takes nothing back.
    tx.run(
        "update tickets set used = :now where hash = :hash and used < :now and used >= :oldest",
        &[("now", micros(now).into()), ("oldest", micros(now - LIFE).into()), ("hash", hash.into())],
    )?;
    Ok(())
}

/// Drops one ticket: its holder signs out.
pub fn drop_one(tx: &mut Tx, hash: &[u8; 32]) -> Result<(), DbError> {
    tx.run("delete from tickets where hash = :hash", &[("hash", hash.into())])?;
    Ok(())
}

/// Drops what was not used for [`LIFE`] by any node's clock.
pub fn drop_expired(tx: &mut Tx, now: Timestamp) -> Result<u64, DbError> {
    tx.run(
        "delete from tickets where used < :oldest",
        &[("oldest", micros(now - LIFE - CLOCKS_DIFFER).into())],
    )
}

/// Ends all tickets of a person, for good. Their rows stay until the next sweep, so that the person is told why.
pub fn end_of_user(tx: &mut Tx, user: i64) -> Result<u64, DbError> {
    tx.run(
        "update tickets set used = :never where user_id = :user_id",
        &[("never", micros(Timestamp::UNIX_EPOCH).into()), ("user_id", user.into())],
    )
}

/// Drops all tickets of a person.
pub fn drop_of_user(tx: &mut Tx, user: i64) -> Result<u64, DbError> {
    tx.run("delete from tickets where user_id = :user_id", &[("user_id", user.into())])
}
