//! What the program does by itself while it runs: signing in again, fetching licence tokens.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::program::Program;

pub(crate) mod licence_tokens;

/// How often it looks around.
const LOOK: Duration = Duration::from_secs(5);
/// Pauses between attempts of one thing: the first, and the longest.
const PAUSE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(60));

/// How often a store that needs no licence is asked something that needs one: it may have become licensed.
const ASK: Duration = Duration::from_secs(300);

/// Runs until the future is dropped.
pub(crate) async fn run(program: Arc<Program>) {
    let mut sign_in = Pacer::default();
    let mut licence = Pacer::default();
    let mut asked = Instant::now();
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(open) = program.store() else { continue };
        if open.pair.is_some() && open.signed.is_none() {
            if sign_in.may_try(open.opening()) {
                program.resume().await;
            }
        } else if open.signed.is_some()
            && licence_tokens::are_missing(&open)
            && licence.may_try(open.opening())
        {
            licence_tokens::fetch(&program, &open).await;
        } else if open.signed.is_some_and(|signed| !signed.answer.licensed) && asked.elapsed() >= ASK {
            asked = Instant::now();
            let _ = program.overview().await;
        }
    }
}

/// Spaces attempts out, anew for each opening of a store.
#[derive(Default)]
struct Pacer {
    opening: u64,
    pause: Duration,
    next: Option<Instant>,
}

impl Pacer {
    fn may_try(&mut self, opening: u64) -> bool {
        if self.opening != opening {
            *self = Self { opening, ..Self::default() };
        }
        if self.next.is_some_and(|next| Instant::now() < next) {
            return false;
        }
        self.pause = (self.pause * 2).clamp(PAUSE.0, PAUSE.1);
        self.next = Some(Instant::now() + self.pause);
        true
    }
}
