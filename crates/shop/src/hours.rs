//! What an owner limits a command by: hours of the day, load of the server.

use jiff::civil::Time;

use crate::clock::{ClockError, parse_clock, seconds_from, show_clock};

/// Hours of the day in the store's wall-clock time. The begin belongs to them, the end does not.
///
/// They may cross midnight; equal ends are the whole day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    /// The first moment.
    pub begin: Time,
    /// The moment after the last.
    pub end: Time,
}

impl Hours {
    /// Reads two `HH:MM`.
    pub fn parse(begin: &str, end: &str) -> Result<Self, ClockError> {
        Ok(Self { begin: parse_clock(begin)?, end: parse_clock(end)? })
    }

    /// Whether a moment of the day lies in the hours.
    pub fn contain(&self, time: Time) -> bool {
        self.begin == self.end || seconds_from(self.begin, time) < seconds_from(self.begin, self.end)
    }

    /// The begin as `HH:MM`.
    pub fn begin(&self) -> String {
        show_clock(self.begin)
    }

    /// The end as `HH:MM`.
    pub fn end(&self) -> String {
        show_clock(self.end)
    }
}

/// Load averages of 1, 5 and 15 minutes, measured or as limits.
pub type Load = [f64; 3];

/// Whether any average is over its limit. A limit of zero (or less) is none.
pub fn is_overloaded(averages: Load, limits: Load) -> bool {
    averages.iter().zip(limits).any(|(average, limit)| limit > 0.0 && *average > limit)
}

#[cfg(test)]
mod tests;
