//! What the engine does by itself: taking changed settings, dropping what has run out.

use std::sync::Arc;
use std::time::Duration;

use db::{idempotency, leases, sign_in_attempts, tickets};
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at};
use wire::Stop;

use crate::house::{House, blocking};
use crate::live::{EVERY, Seen};

/// How often rows that have run out are dropped. Nothing depends on it: they do not count any more.
const SWEEP_EVERY: Duration = Duration::from_secs(600);

/// How often it is looked whether the database was closed.
const CLOSURE_EVERY: Duration = Duration::from_secs(1);

/// Looks after the settings until it is aborted.
pub(crate) async fn watch_settings(house: Arc<House>) {
    let mut seen = Seen::default();
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let house = Arc::clone(&house);
        let looked = tokio::task::spawn_blocking(move || {
            house.live.look(&mut seen);
            seen
        });
        seen = looked.await.unwrap_or_default();
    }
}

/// Looks whether the database was closed, until it is aborted: a node elsewhere is told of a move by nothing else.
pub(crate) async fn watch_closure(house: Arc<House>) {
    let mut ticks = interval(CLOSURE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let house = Arc::clone(&house);
        // A database that cannot be reached is told by the requests that want it.
        let _ = blocking(move || Ok(house.look_at_closure()?)).await;
    }
}

/// Drops what has run out, until it is aborted. Several nodes may do so at once.
pub(crate) async fn sweep(house: Arc<House>) {
    let mut ticks = interval_at(Instant::now() + SWEEP_EVERY, SWEEP_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let house = Arc::clone(&house);
        if let Err(Stop::Broke(fault)) = blocking(move || sweep_once(&house)).await {
            tracing::warn!(cause = fault.chain(), "Rows that have run out were not dropped");
        }
    }
}

fn sweep_once(house: &House) -> Result<(), Stop> {
    let now = house.world.now();
    house.db.write(|tx| {
        tickets::drop_expired(tx, now)?;
        idempotency::drop_old(tx, now)?;
        sign_in_attempts::drop_old(tx, now)?;
        leases::drop_old(tx, now)?;
        Ok(())
    })
}
