//! The pool: order, growth, replacement, ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use sandbox::{CallError, Host, HostError, Limit, Pool, PoolError, Session, Value};

use crate::common::{Echo, call_of, config, modules, pool, run};

/// Kills the worker in the middle of its call.
struct Killer;

impl Host for Killer {
    fn call(
        &mut self,
        session: &mut Session<'_>,
        _name: &str,
        _args: Vec<Value>,
    ) -> Result<Value, HostError> {
        kill(session.process_id());
        Ok(Value::Null)
    }
}

fn kill(process: u32) {
    let killed = Command::new("kill").args(["-9", &process.to_string()]).status().expect("kill runs");
    assert!(killed.success());
}

#[test]
fn a_worker_killed_from_outside_in_a_call_is_replaced() {
    let pool = pool(1);
    let call = call_of(modules(
        &pool,
        &[("units/test.js", "export const main = () => { shop.slow(); while (true) {} };")],
    ));
    let error = pool.with_session(|session| session.call(&call, &mut Killer)).expect("a worker");
    let Err(CallError::WorkerLost { text }) = error else { panic!("{error:?}") };
    assert!(text.contains("signal: 9"), "{text}");
    assert_eq!(run(&pool, "export const main = () => 1;"), Ok(Value::Int(1)));
    assert_eq!(pool.count().lost, 1);
}

#[test]
fn a_worker_killed_while_idle_is_not_handed_out() {
    let pool = pool(1);
    let process = pool.with_session(|session| session.process_id()).expect("a worker");
    kill(process);
    wait_for_end(process);
    assert_eq!(run(&pool, "export const main = () => 1;"), Ok(Value::Int(1)));
    assert_eq!(pool.count().lost, 1);
}

/// Waits until a process is dead, which the system does a moment after it was killed.
fn wait_for_end(process: u32) {
    while std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
        thread::yield_now();
    }
}

#[test]
fn a_worker_in_a_native_loop_is_killed_after_its_time_and_grace() {
    let mut config = config(1);
    config.grace = Duration::from_secs(1);
    let pool = Pool::start(config).expect("a worker starts");
    // The bound on searches looks at texts only, and this is an object that becomes one.
    let source = r#"export const main = () => {
        const text = { toString: () => "a".repeat(6e6) };
        return String.prototype.indexOf.call(text, "a".repeat(3e6) + "b");
    };"#;
    let error = run(&pool, source).expect_err("it never ends");
    assert!(
        matches!(error, CallError::Limit { which: Limit::Time, ref place, .. } if place.unit == "units/test.js"),
        "{error:?}"
    );
    assert_eq!(pool.count().lost, 1);
    assert_eq!(run(&pool, "export const main = () => 1;"), Ok(Value::Int(1)));
}

#[test]
fn sixty_four_callers_share_two_workers() {
    let pool = pool(2);
    let call = call_of(modules(
        &pool,
        &[(
            "units/test.js",
            "export const main = (n) => { let s = 0; for (let i = 0; i < 1000; i++) s += i; return shop.echo(n); };",
        )],
    ));
    let most = AtomicUsize::new(0);
    let busy = AtomicUsize::new(0);
    let start = Barrier::new(64);
    let started = Instant::now();
    thread::scope(|scope| {
        for caller in 0..64 {
            let (pool, most, busy, start) = (&pool, &most, &busy, &start);
            let mut call = call.clone();
            call.args = vec![Value::Int(caller)];
            call.limits.time = Duration::from_secs(60);
            scope.spawn(move || {
                start.wait();
                for _ in 0..4 {
                    let value = pool.with_session(|session| {
                        most.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        // The first waits for a second beside it, however busy the machine is.
                        while most.load(Ordering::SeqCst) < 2 && started.elapsed() < Duration::from_secs(60) {
                            thread::yield_now();
                        }
                        let value = session.call(&call, &mut Echo::default());
                        busy.fetch_sub(1, Ordering::SeqCst);
                        value
                    });
                    assert_eq!(value.expect("a worker"), Ok(Value::Int(caller)));
                }
            });
        }
    });
    assert_eq!(most.into_inner(), 2);
    let count = pool.count();
    assert_eq!((count.live, count.idle, count.waiting, count.lost), (2, 2, 0, 0));
}

#[test]
fn callers_are_served_in_their_order() {
    let pool = Arc::new(pool(1));
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut threads = Vec::new();
    pool.with_session(|_| {
        for caller in 0..5 {
            let (their, order) = (Arc::clone(&pool), Arc::clone(&order));
            threads.push(thread::spawn(move || {
                their.with_session(|_| order.lock().unwrap().push(caller)).expect("a worker");
            }));
            while pool.count().waiting <= caller {
                thread::yield_now();
            }
        }
    })
    .expect("a worker");
    for thread in threads {
        thread.join().expect("it ran");
    }
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
}

#[test]
fn too_many_callers_are_turned_away_and_so_is_who_waits_too_long() {
    let mut config = config(1);
    config.waiting = 1;
    config.wait = Duration::from_millis(50);
    let pool = Arc::new(Pool::start(config).expect("workers start"));
    pool.with_session(|_| {
        let (told, tell) = mpsc::channel();
        let theirs = Arc::clone(&pool);
        let waiter = thread::spawn(move || told.send(theirs.with_session(|_| ())));
        while pool.count().waiting == 0 {
            thread::yield_now();
        }
        let second = pool.with_session(|_| ());
        // Either the first still waits, or its patience has ended and this one's has too.
        assert!(matches!(second, Err(PoolError::Busy)), "{second:?}");
        assert!(matches!(tell.recv().expect("it is told"), Err(PoolError::Busy)));
        waiter.join().expect("it ran").expect("it is heard");
    })
    .expect("a worker");
    assert!(pool.with_session(|_| ()).is_ok());
}

#[test]
fn a_caller_that_panics_costs_its_worker_only() {
    let pool = pool(1);
    let first = pool.with_session(|session| session.process_id()).expect("a worker");
    let panicked = catch_unwind(AssertUnwindSafe(|| pool.with_session(|_| panic!("a caller's mistake"))));
    assert!(panicked.is_err());
    let second = pool.with_session(|session| session.process_id()).expect("a worker");
    assert_ne!(first, second);
}

#[test]
fn a_worker_is_replaced_after_its_calls() {
    let mut config = config(1);
    config.recycle = 3;
    let pool = Pool::start(config).expect("workers start");
    let call = call_of(modules(&pool, &[("units/test.js", "export const main = () => 1;")]));
    let mut seen = Vec::new();
    for _ in 0..7 {
        seen.push(
            pool.with_session(|session| {
                session.call(&call, &mut Echo::default()).expect("a value");
                session.process_id()
            })
            .expect("a worker"),
        );
    }
    assert_eq!(seen[0], seen[2]);
    assert_ne!(seen[2], seen[3]);
    assert_eq!(seen[3], seen[5]);
    assert_ne!(seen[5], seen[6]);
    assert_eq!(pool.count().lost, 0, "it was no fault of theirs");
}

#[test]
fn modules_are_compiled_where_no_unit_ever_ran() {
    let pool = pool(1);
    let units = pool.with_session(|session| session.process_id()).expect("a worker");
    let started = pool.count().started;
    pool.compile("units/a.js", "export const main = 1;").expect("it compiles");
    pool.compile("units/b.js", "export const main = 1;").expect("it compiles");
    assert!(pool.count().started > started);
    assert_eq!(pool.with_session(|session| session.process_id()).expect("a worker"), units);
}

#[test]
#[cfg(target_os = "linux")]
fn no_worker_outlives_its_pool() {
    let pool = pool(2);
    let process = pool.with_session(|session| session.process_id()).expect("a worker");
    drop(pool);
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
}

/// Whether the kernel makes rules of Landlock; none is put in force here.
#[cfg(target_os = "linux")]
fn kernel_has_landlock() -> bool {
    use landlock::{ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _};
    let wanted = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    wanted.handle_access(AccessFs::from_all(ABI::V1)).and_then(landlock::Ruleset::create).is_ok()
}

#[test]
#[cfg(target_os = "linux")]
fn what_shuts_workers_in_is_told_and_true() {
    let pool = pool(1);
    let report = pool.report().clone();
    assert!(report.seccomp, "{report}");
    assert!(report.no_new_privileges, "{report}");
    assert_eq!(report.landlock > 0, kernel_has_landlock(), "{report}");
    assert_eq!(report.is_whole(), kernel_has_landlock(), "{report}");
    assert_eq!(
        report.limits,
        ["core files", "processor time", "file size", "address space", "open files", "processes"]
    );
    let process = pool.with_session(|session| session.process_id()).expect("a worker");
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("its status");
    assert!(status.contains("Seccomp:\t2"), "{status}");
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).expect("its limits");
    let line = |name: &str| limits.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    for (name, value) in
        [("Max open files", "0"), ("Max processes", "0"), ("Max file size", "0"), ("Max core file size", "0")]
    {
        assert_eq!(line(name)[name.len()..].split_whitespace().next(), Some(value), "{name}");
    }
    // Its socket is all it has open, and its environment is one time zone and one arena of memory.
    if let Ok(open) = std::fs::read_dir(format!("/proc/{process}/fd")) {
        assert_eq!(open.count(), 1);
    }
    if let Ok(environment) = std::fs::read(format!("/proc/{process}/environ")) {
        assert_eq!(environment, b"MALLOC_ARENA_MAX=1\0TZ=UTC0\0");
    }
}
