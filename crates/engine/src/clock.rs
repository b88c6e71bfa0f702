//! What the engine takes from outside itself: the clock and the load of the server.

use jiff::Timestamp;
use shop::hours::Load;

/// The clock as the engine sees it. Tests bring their own; no setting reaches it.
pub trait Clock: Send + Sync {
    /// The moment.
    fn now(&self) -> Timestamp;
    /// Load averages of 1, 5 and 15 minutes; `None` where the system tells none.
    fn load(&self) -> Option<Load>;
}

/// The clock as it is.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn load(&self) -> Option<Load> {
        parse_load(&std::fs::read_to_string("/proc/loadavg").ok()?)
    }
}

/// The UTC day of a moment.
pub(crate) fn utc_day(time: Timestamp) -> jiff::civil::Date {
    jiff::tz::TimeZone::UTC.to_datetime(time).date()
}

/// Reads `0.12 0.34 0.56 1/234 5678`.
fn parse_load(text: &str) -> Option<Load> {
    let mut numbers = text.split_whitespace().map(|word| word.parse::<f64>().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

#[cfg(test)]
mod tests {
    use super::parse_load;

    #[test]
    fn three_averages_are_read_and_anything_else_is_none() {
        assert_eq!(parse_load("0.12 1.34 2.56 1/234 5678\n"), Some([0.12, 1.34, 2.56]));
        assert_eq!(parse_load("0.12 1.34"), None);
        assert_eq!(parse_load(""), None);
    }
}
