//! Tests of hours and load limits.

use jiff::civil::Time;
use proptest::prelude::*;

use super::{Hours, is_overloaded};
use crate::clock::{parse_clock, show_clock};

fn moment() -> impl Strategy<Value = Time> {
    (0i8..24, 0i8..60, 0i8..60).prop_map(|(hour, minute, second)| Time::new(hour, minute, second, 0).unwrap())
}

#[test]
fn hours_may_cross_midnight() {
    let hours = Hours::parse("22:00", "06:00").unwrap();
    for (time, inside) in
        [("22:00", true), ("23:59", true), ("05:59", true), ("06:00", false), ("21:59", false)]
    {
        assert_eq!(hours.contain(parse_clock(time).unwrap()), inside, "{time}");
    }
}

#[test]
fn a_day_may_end_at_twenty_four() {
    let hours = Hours::parse("18:00", "24:00").unwrap();
    assert!(hours.contain(parse_clock("23:59").unwrap()));
    assert!(!hours.contain(parse_clock("00:00").unwrap()));
    assert!(Hours::parse("00:00", "24:00").unwrap().contain(parse_clock("12:00").unwrap()));
}

#[test]
fn a_load_over_any_limit_is_too_much_and_zero_is_no_limit() {
    assert!(!is_overloaded([9.0, 9.0, 9.0], [0.0, 0.0, 0.0]));
    assert!(is_overloaded([0.0, 0.0, 2.1], [0.0, 0.0, 2.0]));
    assert!(!is_overloaded([2.0, 9.0, 9.0], [2.0, 0.0, 0.0]));
}

#[test]
fn what_is_no_time_is_refused() {
    for wrong in ["", "5", "24:01", "25:00", "12:60", "-1:00", "+1:00", "1:5", "12:00:00", "noon", "１２:00"]
    {
        assert!(parse_clock(wrong).is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn reading_a_time_never_fails_badly(text in ".{0,12}") {
        let _ = parse_clock(&text);
    }

    #[test]
    fn a_time_reads_back_as_it_is_written(hour in 0i8..24, minute in 0i8..60) {
        let time = Time::new(hour, minute, 0, 0).unwrap();
        prop_assert_eq!(parse_clock(&show_clock(time)).unwrap(), time);
    }

    #[test]
    fn a_moment_is_in_the_hours_or_in_the_hours_between_them(begin in moment(), end in moment(), time in moment()) {
        prop_assume!(begin != end);
        let inside = Hours { begin, end }.contain(time);
        prop_assert_eq!(inside, !Hours { begin: end, end: begin }.contain(time));
        if begin < end {
            prop_assert_eq!(inside, begin <= time && time < end);
        }
    }
}
