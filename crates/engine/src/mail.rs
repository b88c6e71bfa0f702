//! Mails: written down in the transaction of what they tell of, made of the store's templates, and sent by a job.

mod address;
pub(crate) mod job;
mod letter;
mod sending;
mod templates;

use db::{DbError, Tx, outbox};
use jiff::Timestamp;
use serde_json::Value as Json;

pub(crate) use address::Address;
pub(crate) use templates::MailTemplates;

use crate::units::name::is_plain;

/// A mail to one person.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewMail<'a> {
    /// What happened. The same event tells the same address once by the same template.
    pub(crate) key: &'a str,
    /// Whom it goes to.
    pub(crate) to: &'a str,
    /// Folder of its templates, below `mails/` of the store's group.
    pub(crate) template: &'a str,
    /// Its language; empty is the store's.
    pub(crate) language: &'a str,
    /// What its templates show.
    pub(crate) data: &'a Json,
}

/// Writes a mail down; it is sent once the transaction is committed.
///
/// `false` where it is written down already, or the address is none: what happened goes on without a mail.
pub(crate) fn queue(tx: &mut Tx, mail: &NewMail<'_>, now: Timestamp) -> Result<bool, DbError> {
    let Some(to) = Address::parse(mail.to).filter(|_| is_plain(mail.template)) else {
        tracing::warn!(mail.template, "A mail is not sent: its address is none");
        return Ok(false);
    };
    let to = to.to_string();
    let new = outbox::NewMail {
        key: &format!("{} {} {}", mail.key, mail.template, to.to_ascii_lowercase()),
        template: mail.template,
        address: &to,
        language: mail.language,
        data: mail.data,
    };
    outbox::add(tx, &new, now)
}
