//! The engine trusts no worker: whatever one sends, the call ends, the memory is bounded, the worker is replaced.

use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use sandbox::testing::decode_from_worker;
use sandbox::{Call, CallError, Limit, Pool, PoolError};

use crate::common::{Echo, call_of, config, modules, pool};
use crate::counting::peak;

/// A pool of workers that send what the mode says.
fn fakes(mode: &str) -> Result<Pool, PoolError> {
    let mut config = config(1);
    config.program = PathBuf::from(env!("CARGO_BIN_EXE_unit-worker-fake"));
    config.args = vec![mode.into()];
    config.grace = Duration::from_millis(200);
    Pool::start(config)
}

/// A call; only a real worker compiles it.
fn call() -> Call {
    let mut call = call_of(modules(&pool(1), &[("units/test.js", "export const main = () => 1;")]));
    call.limits.time = Duration::from_millis(300);
    call.limits.output = 1 << 20;
    call
}

#[test]
fn whatever_a_worker_sends_the_call_ends_and_the_memory_is_bounded() {
    let call = call();
    for mode in [
        "silent",
        "gone",
        "endless",
        "as long as may be",
        "drip",
        "nulls",
        "false count",
        "deep",
        "no text",
        "two at once",
        "more than it says",
        "nothing",
        "unknown",
        "hello again",
        "calls without end",
    ] {
        let pool = fakes(mode).expect("they greet as they should");
        let (error, held) = peak(|| pool.with_session(|session| session.call(&call, &mut Echo::default())));
        let error = error.expect("a worker").expect_err(mode);
        let is_lost = matches!(error, CallError::WorkerLost { .. });
        let is_late = matches!(error, CallError::Limit { which: Limit::Time, .. });
        assert!(is_lost || is_late, "{mode}: {error:?}");
        assert!(held < 4 << 20, "{mode}: {held} bytes for an output limit of one megabyte");
        // The next caller has another worker.
        let again = pool.with_session(|session| session.call(&call, &mut Echo::default())).expect("a worker");
        assert!(again.is_err(), "{mode}");
        assert_eq!(pool.count().lost, 2, "{mode}");
    }
}

#[test]
fn a_session_whose_worker_was_lost_says_so() {
    let call = call();
    let pool = fakes("gone").expect("they greet as they should");
    pool.with_session(|session| {
        let first = session.call(&call, &mut Echo::default()).expect_err("it is gone");
        assert_eq!(session.call(&call, &mut Echo::default()), Err(first));
    })
    .expect("a worker");
}

#[test]
fn a_program_of_another_build_is_no_worker() {
    let error = fakes("other build").expect_err("another build");
    assert!(
        matches!(&error, PoolError::Start(text) if text.contains("no worker of this build") || text.contains("cannot be read")),
        "{error:?}"
    );
    let mut config = config(1);
    config.program = PathBuf::from("/nonexistent/shopwright");
    assert!(matches!(Pool::start(config), Err(PoolError::Start(_))));
    let mut config = crate::common::config(1);
    config.program = PathBuf::from("/bin/true");
    assert!(matches!(Pool::start(config), Err(PoolError::Start(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_bytes_take_more_memory_than_the_budget(bytes in proptest::collection::vec(any::<u8>(), 0..400), budget in 0_u64..10_000) {
        let (_, held) = peak(|| decode_from_worker(&bytes, budget));
        let most = isize::try_from(budget).unwrap() + 4_096;
        prop_assert!(held <= most, "{held} bytes of {most}");
    }

    #[test]
    fn bytes_that_look_like_values_are_read_within_the_budget(bytes in proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(2), 3_u8..10], 0..400)) {
        let mut message = vec![6];
        message.extend(bytes);
        let (read, held) = peak(|| decode_from_worker(&message, 5_000));
        prop_assert!(held <= 12_000, "{held} bytes: {read:?}");
    }
}
