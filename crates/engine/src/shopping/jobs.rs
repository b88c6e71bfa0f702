//! What nobody asks for and happens all the same: providers are asked again, words that have run out are dropped; how
//! an order that nobody paid is cancelled.

use std::sync::Arc;
use std::time::Duration;

use db::{customer_tokens, orders, payments as rows, refunds};
use jiff::SignedDuration;
use tokio::time::{MissedTickBehavior, interval};
use wire::Stop;

use super::{Cx, NotDone, mails};
use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::payments;
use crate::units::visit::Visit;

/// How often.
const EVERY: Duration = Duration::from_secs(30);
/// A payment that is silent for so long is asked for.
const SILENT: SignedDuration = SignedDuration::from_secs(60);
/// How many of each at once.
const MOST: u32 = 50;

/// Does so until it is aborted. Several nodes may do so at once: what was done by one is nothing new to the other.
pub(crate) async fn run(state: Arc<AppState>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let state = Arc::clone(&state);
        if let Err(Stop::Broke(fault)) = blocking(move || {
            round(&state);
            Ok(())
        })
        .await
        {
            tracing::warn!(cause = fault.chain(), "A round over payments and orders broke off");
        }
    }
}

/// One round. What fails is left to the next.
fn round(state: &AppState) {
    if state.is_locked() {
        return;
    }
    let settings = state.settings.current();
    let look = Visit::look(&settings, &settings.config.language);
    let cx = Cx { settings: &settings, look: &look, now: state.clock.now() };
    for (what, done) in [
        ("payments", ask_again(state, cx)),
        ("refunds", refund_again(state, cx)),
        ("words that have run out", drop_expired(state, cx)),
    ] {
        if let Err(not_done) = done {
            tracing::warn!(what, cause = not_done.cause(), "A round broke off");
        }
    }
}

fn ask_again(state: &AppState, cx: Cx<'_>) -> Result<(), NotDone> {
    for payment in state.db.read(|tx| rows::unanswered(tx, cx.now - SILENT, MOST))? {
        payments::ask(&state.db, cx, &payment)?;
    }
    Ok(())
}

fn refund_again(state: &AppState, cx: Cx<'_>) -> Result<(), NotDone> {
    for refund in state.db.read(|tx| refunds::unanswered(tx, cx.now - SILENT, MOST))? {
        payments::refund(&state.db, cx, &refund)?;
    }
    Ok(())
}

/// Cancels an order that nobody paid in time and tells its buyer; `false` if it was paid or cancelled in the meantime.
pub(crate) fn cancel_overdue(state: &AppState, order: i64) -> Result<bool, NotDone> {
    let settings = state.settings.current();
    let look = Visit::look(&settings, &settings.config.language);
    let cx = Cx { settings: &settings, look: &look, now: state.clock.now() };
    state.db.write(|tx| {
        let is_cancelled = orders::cancel_overdue(tx, order, cx.now)?;
        if is_cancelled {
            mails::cancelled(tx, cx, order)?;
        }
        Ok(is_cancelled)
    })
}

fn drop_expired(state: &AppState, cx: Cx<'_>) -> Result<(), NotDone> {
    state.db.write(|tx| {
        customer_tokens::drop_expired(tx, cx.now)?;
        Ok(())
    })
}
