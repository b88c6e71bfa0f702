//! What the engine does by itself: taking changed settings, dropping what has run out, keeping the shop's rows up.

pub(crate) mod upkeep;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use db::{idempotency, leases, sign_in_attempts, tickets};
use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at};
use wire::Stop;

use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::settings::reload::{EVERY, Seen};

use upkeep::Upkeep;

/// How often rows that have run out are dropped. Nothing depends on it: they do not count any more.
const SWEEP_EVERY: Duration = Duration::from_secs(600);

/// How often it is looked whether the database was closed.
const FREEZE_CHECK_EVERY: Duration = Duration::from_secs(1);

/// How often it is looked what the shop's rows need. A look that finds nothing only reads.
const UPKEEP_EVERY: Duration = Duration::from_secs(1);

/// Looks after the settings until it is aborted.
pub(crate) async fn watch_settings(state: Arc<AppState>) {
    let mut seen = Seen::default();
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let state = Arc::clone(&state);
        let looked = tokio::task::spawn_blocking(move || {
            state.settings.look(&mut seen);
            seen
        });
        seen = looked.await.unwrap_or_default();
    }
}

/// Looks whether the database was closed, until it is aborted: a node elsewhere is told of a move by nothing else.
pub(crate) async fn watch_write_freeze(state: Arc<AppState>) {
    let mut ticks = interval(FREEZE_CHECK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let state = Arc::clone(&state);
        // A database that cannot be reached is told by the requests that want it.
        let _ = blocking(move || Ok(state.check_write_freeze()?)).await;
    }
}

/// Keeps the shop's rows up, until `farewell`; a round that runs then is brought to its end. Several nodes may do so at
/// once.
pub(crate) async fn keep_up(state: Arc<AppState>, upkeep: Arc<Mutex<Upkeep>>, farewell: Arc<Notify>) {
    let mut ticks = interval(UPKEEP_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = farewell.notified() => return,
            _ = ticks.tick() => {}
        }
        upkeep_round(&state, &upkeep).await;
    }
}

/// One round; one that breaks down ends with itself.
pub(crate) async fn upkeep_round(state: &Arc<AppState>, upkeep: &Arc<Mutex<Upkeep>>) {
    let (state, upkeep) = (Arc::clone(state), Arc::clone(upkeep));
    let round = blocking(move || {
        upkeep.lock().unwrap_or_else(PoisonError::into_inner).round(&state);
        Ok(())
    });
    if let Err(Stop::Broke(fault)) = round.await {
        tracing::error!(cause = fault.chain(), "A round of the engine's jobs broke down");
    }
}

/// Drops what has run out, until it is aborted. Several nodes may do so at once.
pub(crate) async fn sweep(state: Arc<AppState>) {
    let mut ticks = interval_at(Instant::now() + SWEEP_EVERY, SWEEP_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let state = Arc::clone(&state);
        if let Err(Stop::Broke(fault)) = blocking(move || sweep_once(&state)).await {
            tracing::warn!(cause = fault.chain(), "Rows that have run out were not dropped");
        }
    }
}

fn sweep_once(state: &AppState) -> Result<(), Stop> {
    let now = state.clock.now();
    state.db.write(|tx| {
        tickets::drop_expired(tx, now)?;
        idempotency::drop_old(tx, now)?;
        sign_in_attempts::drop_old(tx, now)?;
        leases::drop_old(tx, now)?;
        Ok(())
    })
}
