//! Waiting for what should come at once.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// How long a test waits for what should come at once, on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Asks again and again until there is something; an error when there is nothing in time.
pub fn wait_for<T>(what: &str, patience: Duration, mut look: impl FnMut() -> Option<T>) -> Result<T> {
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if since.elapsed() > patience {
            bail!("waited {patience:?} in vain for {what}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}
