//! What the server is told when it starts.

use std::path::PathBuf;
use std::time::Duration;

use home::Home;
use wire::env;

/// How long an answer may take where nothing else is said: less than the minute after which hosts give up.
const TIMEOUT: Duration = Duration::from_secs(50);
/// Longest that may be asked for, in seconds: a day.
const LONGEST_TIMEOUT: u64 = 24 * 60 * 60;

/// The store folder a server is pinned to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorePin {
    /// This folder.
    Folder(PathBuf),
    /// `--store` was given without a folder: every sign-in refuses.
    NoFolder,
}

/// What the server is told when it starts.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program's home.
    pub home: Home,
    /// The store the server is pinned to.
    pub store: Option<StorePin>,
    /// The event that launched this session.
    pub event: Option<i64>,
    /// How long one call may take, its repeats included.
    pub timeout: Duration,
    /// Whether plain http may go to other computers.
    pub plain_http: bool,
}

impl Options {
    /// Options with everything else as the environment says.
    pub fn from_env(home: Home, store: Option<StorePin>) -> Self {
        let text = |name: &str| std::env::var(name).ok().map(|value| value.trim().to_owned());
        let seconds = text(env::TIMEOUT).and_then(|value| value.parse().ok()).filter(|seconds| *seconds > 0);
        let seconds = seconds.map(|seconds: u64| seconds.min(LONGEST_TIMEOUT));
        Self {
            home,
            store,
            // The Dispatcher's Test launches without an event and leaves the variable empty.
            event: text(env::EVENT).and_then(|value| value.parse().ok()).filter(|event| *event > 0),
            timeout: seconds.map_or(TIMEOUT, Duration::from_secs),
            plain_http: text(env::PLAIN_HTTP).as_deref() == Some("1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TIMEOUT;

    #[test]
    fn a_call_takes_fifty_seconds_at_most_where_nothing_else_is_said() {
        assert_eq!(TIMEOUT.as_secs(), 50);
    }
}
