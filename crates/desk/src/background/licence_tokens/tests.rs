//! Tests of which days' tokens must be there.

use jiff::Timestamp;

use super::wanted;

fn days(time: &str) -> Vec<String> {
    wanted(time.parse::<Timestamp>().unwrap()).iter().map(ToString::to_string).collect()
}

#[test]
fn near_midnight_tomorrow_is_wanted_too() {
    assert_eq!(days("2026-11-30T12:00:00Z"), ["2026-11-30"]);
    assert_eq!(days("2026-11-30T21:59:59Z"), ["2026-11-30"]);
    assert_eq!(days("2026-11-30T22:00:00Z"), ["2026-11-30", "2026-12-01"]);
    assert_eq!(days("2026-12-31T23:59:59Z"), ["2026-12-31", "2027-01-01"]);
    assert_eq!(days("2026-12-01T00:00:00Z"), ["2026-12-01"]);
}
