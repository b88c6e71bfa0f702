//! The outbox: mails that are written down in the transaction of what they tell of, and sent after it.
//!
//! Who sends a mail holds it by its next try: until then no other node takes it. A mail is sent at
//! least once, since a node may be killed between sending it and saying so.

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::{DbError, Row, Tx, micros};

/// A mail to be written down.
#[derive(Clone, Copy, Debug)]
pub struct NewMail<'a> {
    /// What makes it the only one of its kind.
    pub key: &'a str,
    /// Which mail.
    pub template: &'a str,
    /// Whom it goes to.
    pub address: &'a str,
    /// Its language; empty is the store's.
    pub language: &'a str,
    /// What its template needs.
    pub data: &'a Json,
}

/// A mail that is on its way.
#[derive(Clone, PartialEq)]
pub struct Mail {
    /// Number.
    pub id: i64,
    /// What makes it the only one of its kind.
    pub key: String,
    /// Which mail.
    pub template: String,
    /// Whom it goes to.
    pub address: String,
    /// Its language; empty is the store's.
    pub language: String,
    /// What its template needs.
    pub data: Json,
    /// How often it was tried, this time too.
    pub attempts: i64,
    /// When it was written down.
    pub created: Timestamp,
}

/// Writes a mail down; `false` where it is already there.
pub fn add(tx: &mut Tx, mail: &NewMail<'_>, now: Timestamp) -> Result<bool, DbError> {
    let rows = tx.run(
        "insert into outbox (key, template, address, language, data, next_try, created)
         values (:key, :template, :address, :language, :data, :now, :now)
         on conflict (key) do nothing",
        &[
            ("key", mail.key.into()),
            ("template", mail.template.into()),
            ("address", mail.address.into()),
            ("language", mail.language.into()),
            ("data", mail.data.to_string().into()),
            ("now", micros(now).into()),
        ],
    )?;
    Ok(rows == 1)
}

/// Mails that are to be sent now, the one that waits longest first.
pub fn due(tx: &mut Tx, most: i64, now: Timestamp) -> Result<Vec<i64>, DbError> {
    let rows = tx.rows(
        "select id from outbox where state = 'kNew' and next_try <= :now order by next_try, id limit :most",
        &[("now", micros(now).into()), ("most", most.into())],
    )?;
    rows.iter().map(|row| row.get("id")).collect()
}

/// Takes a mail to send it, and holds it `until` then; `None` where another node has it or it is not due.
pub fn take(tx: &mut Tx, id: i64, now: Timestamp, until: Timestamp) -> Result<Option<Mail>, DbError> {
    let row = tx.row(
        "update outbox set attempts = attempts + 1, next_try = :until
         where id = :id and state = 'kNew' and next_try <= :now
         returning id, key, template, address, language, data, attempts, created",
        &[("id", id.into()), ("now", micros(now).into()), ("until", micros(until).into())],
    )?;
    row.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<Mail, DbError> {
    let data: String = row.get("data")?;
    let created: String = row.get("created")?;
    Ok(Mail {
        id: row.get("id")?,
        key: row.get("key")?,
        template: row.get("template")?,
        address: row.get("address")?,
        language: row.get("language")?,
        // What somebody put there by hand may be anything.
        data: serde_json::from_str(&data).unwrap_or(Json::Null),
        attempts: row.get("attempts")?,
        created: created.parse().unwrap_or(Timestamp::UNIX_EPOCH),
    })
}

/// The mail was sent. What its template needed is dropped: it may have been a word that opens an account.
///
/// `false` where another node took it since.
pub fn sent(tx: &mut Tx, mail: &Mail, now: Timestamp) -> Result<bool, DbError> {
    let rows = tx.run(
        "update outbox set state = 'kSent', sent = :now, error = '', data = '{}'
         where id = :id and state = 'kNew' and attempts = :attempts",
        &[("id", mail.id.into()), ("attempts", mail.attempts.into()), ("now", micros(now).into())],
    )?;
    Ok(rows == 1)
}

/// The mail was not sent, and is tried again later.
pub fn retry(tx: &mut Tx, mail: &Mail, error: &str, next_try: Timestamp) -> Result<bool, DbError> {
    let rows = tx.run(
        "update outbox set error = :error, next_try = :next_try
         where id = :id and state = 'kNew' and attempts = :attempts",
        &[
            ("id", mail.id.into()),
            ("attempts", mail.attempts.into()),
            ("error", error.into()),
            ("next_try", micros(next_try).into()),
        ],
    )?;
    Ok(rows == 1)
}

/// The mail was not sent, and is not tried any more.
pub fn give_up(tx: &mut Tx, mail: &Mail, error: &str) -> Result<bool, DbError> {
    let rows = tx.run(
        "update outbox set state = 'kFailed', error = :error, data = '{}'
         where id = :id and state = 'kNew' and attempts = :attempts",
        &[("id", mail.id.into()), ("attempts", mail.attempts.into()), ("error", error.into())],
    )?;
    Ok(rows == 1)
}
