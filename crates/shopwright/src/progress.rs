//! How far long work is: a bar on a terminal, nothing in a pipe; and the wish to stop it.

use std::io::{IsTerminal, Write, stderr};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::{output, signal};

/// Pause between two pictures of the bar.
const EVERY: Duration = Duration::from_millis(100);
/// Marks of a full bar.
const WIDTH: u64 = 24;
/// Longest name beside it.
const NAME: usize = 32;

/// The bar.
pub(crate) struct Progress {
    is_shown: bool,
    drawn: Option<Instant>,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// From now on Ctrl-C does not end the process: the work is told at its next step.
    pub(crate) fn new() -> Self {
        Self { is_shown: stderr().is_terminal() && !output::is_dumb(), drawn: None, stop: wish_to_stop() }
    }

    /// Shows how far the work is; whether it shall go on.
    pub(crate) fn at(&mut self, what: &str, name: &str, done: u64, all: u64) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) {
            self.clear();
            return ControlFlow::Break(());
        }
        if self.is_shown && self.drawn.is_none_or(|drawn| drawn.elapsed() >= EVERY) {
            self.drawn = Some(Instant::now());
            self.draw(&picture(what, name, done, all));
        }
        ControlFlow::Continue(())
    }

    /// Takes the bar away, before words.
    pub(crate) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            self.draw("");
        }
    }

    fn draw(&self, text: &str) {
        let mut out = stderr().lock();
        let _ = write!(out, "\r\x1b[2K{text}");
        let _ = out.flush();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn picture(what: &str, name: &str, done: u64, all: u64) -> String {
    let done = done.min(all);
    let part = |of: u64| (u128::from(done) * u128::from(of)).checked_div(all.into()).unwrap_or(of.into());
    let filled = usize::try_from(part(WIDTH)).unwrap_or_default();
    let width = usize::try_from(WIDTH).unwrap_or_default();
    let name: String =
        name.chars().map(|letter| if letter.is_control() { '?' } else { letter }).take(NAME).collect();
    format!(
        "{what} [{}{}] {:3} %  {name}",
        "#".repeat(filled),
        ".".repeat(width.saturating_sub(filled)),
        part(100)
    )
}

/// Becomes true when somebody wishes to stop. Where that cannot be heard, the system ends the process.
fn wish_to_stop() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            if let Ok(asked) = signal::asked_to_stop() {
                asked.await;
                told.store(true, Ordering::Relaxed);
            }
        });
    });
    stop
}

#[cfg(test)]
mod tests {
    use super::picture;

    #[test]
    fn a_bar_is_as_full_as_the_work_is_done() {
        assert_eq!(picture("Rows", "users", 0, 200), "Rows [........................]   0 %  users");
        assert_eq!(picture("Rows", "users", 100, 200), "Rows [############............]  50 %  users");
        assert_eq!(picture("Files", "a\x1b\nb", 300, 200), "Files [########################] 100 %  a??b");
        assert_eq!(picture("Files", "", 0, 0), "Files [########################] 100 %  ");
        assert!(picture("Rows", "", u64::MAX - 1, u64::MAX).contains(" 99 %"));
    }
}
