//! Words that customers hold: sessions, and links of mails. Only their hashes are kept.

use jiff::{SignedDuration, Timestamp};

use crate::{DbError, Tx, micros, rows};

/// What a word is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Somebody who is signed in.
    Session,
    /// A new password.
    Password,
    /// The proof that an e-mail address is theirs.
    Confirm,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Session => "kSession",
            Self::Password => "kPassword",
            Self::Confirm => "kConfirm",
        }
    }

    fn life(self) -> SignedDuration {
        match self {
            Self::Session => SignedDuration::from_hours(30 * 24),
            Self::Password => SignedDuration::from_hours(1),
            Self::Confirm => SignedDuration::from_hours(7 * 24),
        }
    }
}

/// Keeps a new word of a customer.
pub fn create(tx: &mut Tx, customer: i64, kind: Kind, hash: &[u8], now: Timestamp) -> Result<i64, DbError> {
    let row = tx.row("select password_version from customers where id = :id", &[("id", customer.into())])?;
    let row = row.ok_or_else(|| DbError::Dangling("a customer is gone".to_owned()))?;
    rows::insert(
        tx,
        "customer_tokens",
        &[
            ("customer_id", customer.into()),
            ("kind", kind.as_str().into()),
            ("hash", hash.into()),
            ("password_version", row.get::<i64>("password_version")?.into()),
            ("created", micros(now).into()),
            ("expires", micros(now + kind.life()).into()),
        ],
    )
}

/// The customer of a word that still works.
pub fn customer(tx: &mut Tx, kind: Kind, hash: &[u8], now: Timestamp) -> Result<Option<i64>, DbError> {
    let row = tx.row(
        "select t.customer_id from customer_tokens t join customers c on c.id = t.customer_id
         where t.hash = :hash and t.kind = :kind and t.expires > :now
           and t.password_version = c.password_version and not c.blocked and c.deleted is null",
        &[("hash", hash.into()), ("kind", kind.as_str().into()), ("now", micros(now).into())],
    )?;
    row.map(|row| row.get("customer_id")).transpose()
}

/// Uses a word up: the customer, for whoever came first with it.
pub fn take(tx: &mut Tx, kind: Kind, hash: &[u8], now: Timestamp) -> Result<Option<i64>, DbError> {
    let found = customer(tx, kind, hash, now)?;
    Ok(if remove(tx, hash)? { found } else { None })
}

/// Ends a word; whether there was one.
pub fn remove(tx: &mut Tx, hash: &[u8]) -> Result<bool, DbError> {
    Ok(tx.run("delete from customer_tokens where hash = :hash", &[("hash", hash.into())])? > 0)
}

/// Ends all words of a customer.
pub fn remove_all(tx: &mut Tx, customer: i64) -> Result<(), DbError> {
    tx.run("delete from customer_tokens where customer_id = :id", &[("id", customer.into())])?;
    Ok(())
}

/// Drops words that have run out.
pub fn drop_expired(tx: &mut Tx, now: Timestamp) -> Result<u64, DbError> {
    tx.run("delete from customer_tokens where expires <= :now", &[("now", micros(now).into())])
}
