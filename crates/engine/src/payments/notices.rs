//! Messages of providers: each counts once, in whatever order they come.

use db::Db;
use db::payments::{self as rows};

use super::{Provider, ProviderError, apply};
use crate::shopping::{Cx, Done};

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It was written down, now or when it came before.
    Yes,
    /// There is no such payment.
    Unknown,
    /// It is not the provider's.
    Forged,
}

/// Takes a message in: written down with what follows of it in one transaction, or not at all.
pub(crate) fn take(
    db: &Db,
    cx: Cx<'_>,
    provider: &dyn Provider,
    signature: &str,
    body: &[u8],
) -> Done<Taken> {
    let notice = match provider.webhook(db, signature, body) {
        Ok(notice) => notice,
        Err(ProviderError::Refused(_) | ProviderError::NoAnswer(_)) => return Ok(Taken::Forged),
    };
    db.write(|tx| {
        let Some(payment) = rows::by_ref(tx, provider.key(), &notice.provider_ref)? else {
            return Ok(Taken::Unknown);
        };
        let new = rows::event(
            tx,
            provider.key(),
            &notice.event,
            Some(payment.id),
            &notice.kind,
            &notice.data,
            cx.now,
        )?;
        if new {
            apply(tx, cx, payment.id, &notice.outcome)?;
        }
        Ok(Taken::Yes)
    })
}
