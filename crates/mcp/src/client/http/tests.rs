//! Tests of the waits that proxies ask for.

#[test]
fn a_proxy_may_ask_to_wait_in_seconds_or_until_a_date() {
    let now = "2026-12-01T10:00:00Z".parse().unwrap();
    for (text, seconds) in [
        ("2", Some(2)),
        ("Tue, 01 Dec 2026 10:00:30 GMT", Some(30)),
        ("Tue, 01 Dec 2026 09:00:00 GMT", Some(0)),
        ("soon", None),
        ("", None),
    ] {
        assert_eq!(super::wait(text, now), seconds, "{text}");
    }
}
