//! The job that sends what is in the outbox. Several nodes may do so at once: each mail is one node's.

use std::sync::Arc;
use std::time::Duration;

use db::outbox::{self, Mail};
use db::{DbError, Tx, events};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};
use wire::Stop;

use super::letter::compose;
use super::sending::{NotSent, Sending};
use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::units::Tree;

/// How often the outbox is looked into.
const EVERY: Duration = Duration::from_secs(2);
/// Most mails between two looks whether the settings are still the same.
const AT_ONCE: i64 = 20;
/// How long a node may take for one mail before another may try.
const LEASE: SignedDuration = SignedDuration::from_mins(15);
/// How long a mail rests after each try that failed, in minutes; after the last one it is given up.
const RESTS: [i64; 8] = [1, 2, 5, 15, 60, 4 * 60, 12 * 60, 24 * 60];

/// Sends mails until it is aborted.
pub(crate) async fn send_mails(state: Arc<AppState>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let state = Arc::clone(&state);
        if let Err(Stop::Broke(fault)) = blocking(move || Ok(send_due(&state)?)).await {
            tracing::warn!(cause = fault.chain(), "The outbox cannot be read");
        }
    }
}

fn send_due(state: &AppState) -> Result<(), DbError> {
    // What a database that is being moved holds is sent from where it goes.
    if state.is_locked() {
        return Ok(());
    }
    let due = state.db.read(|tx| outbox::due(tx, AT_ONCE, state.clock.now()))?;
    if due.is_empty() {
        return Ok(());
    }
    let settings = state.settings.current();
    let sending = Sending::new(&state.root, settings.mail.server());
    let tree = Tree::new(&state.root);
    for id in due {
        let now = state.clock.now();
        let Some(mail) = state.db.write(|tx| outbox::take(tx, id, now, now + LEASE))? else { continue };
        let sent = match &sending {
            Ok(sending) => compose(&tree, &settings, &mail)
                .map_err(|why| {
                    NotSent::for_now(format!(
                        "templates/{}/mails/{}: {why}",
                        settings.config.template, mail.template
                    ))
                })
                .and_then(|letter| sending.send(&mail, &letter)),
            Err(error) => Err(NotSent::for_now(error.why.clone())),
        };
        state.db.write(|tx| note(tx, &mail, sent, state.clock.now()))?;
    }
    Ok(())
}

/// Writes down what became of a mail.
fn note(tx: &mut Tx, mail: &Mail, sent: Result<(), NotSent>, now: Timestamp) -> Result<(), DbError> {
    let Err(NotSent { why, is_final }) = sent else {
        outbox::sent(tx, mail, now)?;
        return Ok(());
    };
    let rest = usize::try_from(mail.attempts - 1).ok().and_then(|at| RESTS.get(at));
    let Some(rest) = rest.filter(|_| !is_final) else {
        return give_up(tx, mail, &why, now);
    };
    tracing::warn!(
        mail = mail.id,
        template = mail.template,
        attempts = mail.attempts,
        why,
        "A mail was not sent yet"
    );
    outbox::retry(tx, mail, &why, now + SignedDuration::from_mins(*rest))?;
    Ok(())
}

fn give_up(tx: &mut Tx, mail: &Mail, why: &str, now: Timestamp) -> Result<(), DbError> {
    if !outbox::give_up(tx, mail, why)? {
        return Ok(());
    }
    tracing::error!(
        mail = mail.id,
        template = mail.template,
        attempts = mail.attempts,
        why,
        "A mail is given up"
    );
    let event = events::NewEvent {
        user_id: None,
        to_user: None,
        to_group: None,
        princ_id: None,
        key: "kMailFailed".to_owned(),
        data: json!({"mail": mail.id, "template": mail.template, "attempts": mail.attempts, "error": why}),
        now,
    };
    events::create(tx, &event)?;
    Ok(())
}
