//! Times of the day as owners write them: `HH:MM`.

use jiff::civil::Time;

/// Seconds of a day.
const DAY: i32 = 24 * 60 * 60;

/// A text that is no time of the day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no time of the day like `05:30`")]
pub struct ClockError(String);

/// Reads `HH:MM`; `24:00` is the midnight that ends a day.
pub fn parse_clock(text: &str) -> Result<Time, ClockError> {
    let wrong = || ClockError(text.chars().take(40).collect());
    let (hours, minutes) = text.trim().split_once(':').ok_or_else(wrong)?;
    let number = |part: &str| {
        let plain = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if plain { part.parse::<i8>().ok() } else { None }
    };
    match (number(hours), number(minutes), minutes.len()) {
        (Some(24), Some(0), 2) => Ok(Time::midnight()),
        (Some(hours), Some(minutes), 2) => Time::new(hours, minutes, 0, 0).map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

/// Writes `HH:MM`.
pub fn show_clock(time: Time) -> String {
    format!("{:02}:{:02}", time.hour(), time.minute())
}

/// Seconds from one time of the day to the next time it is the other: less than a day.
pub(crate) fn seconds_from(from: Time, to: Time) -> i32 {
    (second_of_day(to) - second_of_day(from)).rem_euclid(DAY)
}

fn second_of_day(time: Time) -> i32 {
    (i32::from(time.hour()) * 60 + i32::from(time.minute())) * 60 + i32::from(time.second())
}
