//! Times as they lie in tables: RFC 3339 in UTC with a fixed width, so that text order is time order.

use jiff::{SignedDuration, Timestamp};

/// How far the clocks of two nodes may differ without harm: so much longer, by one clock, lasts what another
/// clock gave a time to.
pub(crate) const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_secs(2);

/// To the second: `2026-11-30T10:00:00Z`, for columns that people read.
pub fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// To the microsecond: `2026-11-30T10:00:00.123456Z`, where order within a second matters.
pub fn micros(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_have_a_fixed_width_and_read_back() {
        let time: Timestamp = "2026-01-02T03:04:05.6Z".parse().unwrap();
        assert_eq!(seconds(time), "2026-01-02T03:04:05Z");
        assert_eq!(micros(time), "2026-01-02T03:04:05.600000Z");
        assert_eq!(micros(time).parse::<Timestamp>().unwrap(), time);
    }
}
