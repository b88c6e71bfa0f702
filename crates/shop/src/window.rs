//! The daily backup window, in the store's wall-clock time, and the half-hour before it.

use jiff::civil::Time;

use crate::clock::{ClockError, parse_clock, seconds_from, show_clock};

/// Seconds before the window in which some requests are already turned away.
const SOON: i32 = 30 * 60;

/// A daily window; its begin belongs to it, its end does not. It may cross midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupWindow {
    begin: Time,
    end: Time,
}

/// Where a moment lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// Neither in the window nor near before it.
    Far,
    /// Less than half an hour before the window.
    Soon,
    /// In the window.
    Inside,
}

/// Why two texts are no window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// A time cannot be read.
    #[error(transparent)]
    Time(#[from] ClockError),
    /// Only one end is named.
    #[error("a window needs both its begin and its end, or neither")]
    HalfNamed,
    /// Both ends are the same: that would be never, or always.
    #[error("a window that ends when it begins is none")]
    Empty,
}

impl BackupWindow {
    /// A window of these ends.
    pub fn new(begin: Time, end: Time) -> Result<Self, WindowError> {
        if begin == end { Err(WindowError::Empty) } else { Ok(Self { begin, end }) }
    }

    /// Reads two `HH:MM`; both empty is no window.
    pub fn parse(begin: &str, end: &str) -> Result<Option<Self>, WindowError> {
        match (begin.trim(), end.trim()) {
            ("", "") => Ok(None),
            ("", _) | (_, "") => Err(WindowError::HalfNamed),
            (begin, end) => Self::new(parse_clock(begin)?, parse_clock(end)?).map(Some),
        }
    }

    /// Where a moment of the day lies.
    pub fn nearness(&self, time: Time) -> Nearness {
        let until_begin = seconds_from(time, self.begin);
        if seconds_from(self.begin, time) < seconds_from(self.begin, self.end) {
            Nearness::Inside
        } else if until_begin < SOON {
            Nearness::Soon
        } else {
            Nearness::Far
        }
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

#[cfg(test)]
mod tests;
