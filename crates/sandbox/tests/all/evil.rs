//! Native code that has been taken over: each call to the system kills its worker, and only it.

use sandbox::{CallError, Value};

use crate::common::{pool, run};

#[test]
fn every_forbidden_call_to_the_system_kills_the_worker_and_only_it() {
    let pool = pool(2);
    let unharmed = pool.with_session(|session| session.evil("nothing")).expect("a worker");
    assert_eq!(unharmed, Ok(Value::Int(0)));
    for what in [
        "openat",
        "socket",
        "connect",
        "clone",
        "ptrace",
        "kill",
        "kill all",
        "execve",
        "memory as code",
        "write elsewhere",
    ] {
        let other = pool.with_session(|other| {
            let lost = pool.with_session(|session| session.evil(what)).expect("a worker");
            let Err(CallError::WorkerLost { text }) = lost else { panic!("{what}: {lost:?}") };
            assert!(text.contains("signal: 31"), "{what}: {text}");
            other.evil("nothing")
        });
        assert_eq!(other.expect("a worker"), Ok(Value::Int(0)), "{what}");
        assert_eq!(run(&pool, "export const main = () => 1;"), Ok(Value::Int(1)), "{what}");
    }
}
