//! Tests of the backup window.

use jiff::civil::Time;
use proptest::prelude::*;

use super::{BackupWindow, Nearness, WindowError};
use crate::clock::parse_clock;

fn window(begin: &str, end: &str) -> BackupWindow {
    BackupWindow::parse(begin, end).unwrap().unwrap()
}

fn check(window: BackupWindow, expected: &[(&str, Nearness)]) {
    for (time, nearness) in expected {
        assert_eq!(window.nearness(parse_clock(time).unwrap()), *nearness, "{time}");
    }
}

#[test]
fn the_half_hour_before_is_soon() {
    use Nearness::{Far, Inside, Soon};
    check(
        window("05:00", "05:30"),
        &[
            ("04:29", Far),
            ("04:30", Far),
            ("04:31", Soon),
            ("04:59", Soon),
            ("05:00", Inside),
            ("05:29", Inside),
            ("05:30", Far),
        ],
    );
}

#[test]
fn a_window_and_its_half_hour_may_cross_midnight() {
    use Nearness::{Far, Inside, Soon};
    check(
        window("23:50", "00:20"),
        &[("23:19", Far), ("23:40", Soon), ("23:55", Inside), ("00:00", Inside), ("00:20", Far)],
    );
    check(window("00:10", "01:00"), &[("23:39", Far), ("23:45", Soon), ("00:05", Soon), ("00:10", Inside)]);
}

#[test]
fn both_ends_empty_is_no_window_and_one_is_a_mistake() {
    assert_eq!(BackupWindow::parse("", " ").unwrap(), None);
    assert_eq!(BackupWindow::parse("05:00", "").unwrap_err(), WindowError::HalfNamed);
    assert_eq!(BackupWindow::parse("05:00", "05:00").unwrap_err(), WindowError::Empty);
    assert!(BackupWindow::parse("5 am", "6 am").is_err());
}

fn second(of_day: i32) -> Time {
    let of_day = of_day.rem_euclid(86_400);
    let part = |value: i32| i8::try_from(value).unwrap();
    Time::new(part(of_day / 3600), part(of_day / 60 % 60), part(of_day % 60), 0).unwrap()
}

proptest! {
    #[test]
    fn a_window_is_its_length_and_half_an_hour(begin in 0i32..1440, length in 1i32..1440, at in 0i32..86_400) {
        let window = BackupWindow::new(second(begin * 60), second((begin + length) * 60)).unwrap();
        let since = (at - begin * 60).rem_euclid(86_400);
        let expected = if since < length * 60 {
            Nearness::Inside
        } else if since > 86_400 - 1800 {
            Nearness::Soon
        } else {
            Nearness::Far
        };
        prop_assert_eq!(window.nearness(second(at)), expected);
    }
}

/// Minutes of this day of a zone that lie in a window.
fn minutes_inside(window: BackupWindow, day: jiff::civil::Date) -> usize {
    let begin = day.in_tz("Europe/Berlin").unwrap();
    let end = begin.tomorrow().unwrap();
    let moments =
        std::iter::successors(Some(begin), |now| now.checked_add(jiff::Span::new().minutes(1)).ok());
    moments.take_while(|now| *now < end).filter(|now| window.nearness(now.time()) == Nearness::Inside).count()
}

#[test]
fn daylight_saving_skips_and_doubles_what_lies_in_its_hour() {
    let (usual, spring, autumn) =
        (jiff::civil::date(2026, 7, 1), jiff::civil::date(2026, 3, 29), jiff::civil::date(2026, 10, 25));
    for (begin, end, wanted) in [
        ("02:00", "03:00", [60, 0, 120]),
        ("02:30", "04:00", [90, 60, 120]),
        ("01:30", "02:30", [60, 30, 90]),
        ("04:00", "05:00", [60, 60, 60]),
    ] {
        let inside = [usual, spring, autumn].map(|day| minutes_inside(window(begin, end), day));
        assert_eq!(inside, wanted, "{begin} - {end}");
    }
}
