//! Scripts that would take all there is: each is stopped within its limit, and the worker's next call is served.

use std::time::{Duration, Instant};

use sandbox::{Call, CallError, Limit, Pool, Value};

use crate::common::{pool, run, run_with};

/// Runs a script that must be stopped by a limit. The pool serves the next call whatever became of it.
fn stopped(pool: &Pool, source: &str, change: impl FnOnce(&mut Call)) -> (Limit, sandbox::Place) {
    let error = run_with(pool, source, change).expect_err(source);
    let CallError::Limit { place, which, .. } = error else { panic!("{source}: {error:?}") };
    assert_eq!(place.unit, "units/test.js", "{source}");
    assert_eq!(run(pool, "export const main = () => 'next';"), Ok(Value::from("next")), "{source}");
    (which, *place)
}

#[test]
fn endless_loops_are_stopped_where_they_turn() {
    let pool = pool(1);
    for (source, line) in [
        ("export function main() {\n  let n = [0];\n  while (true) {\n    n[0].toFixed();\n  }\n}", 4),
        ("export function main() {\n  for (;;) {\n    try { JSON.parse('x'); } catch {}\n  }\n}", 3),
        (
            "const turn = () => {\n  while (true) Math.random();\n};\nexport function main() {\n  turn();\n}",
            2,
        ),
        ("export async function main() {\n  await null;\n  while (true) {\n    Math.random();\n  }\n}", 4),
        ("export async function main() {\n  while (true) {\n    await shop.slow();\n  }\n}", 0),
        ("while (true) {\n  Math.random();\n}\nexport const main = 1;", 1),
        ("export function main() {\n  return { get x() { while (true) Math.random(); } };\n}", 2),
        ("export function main() {\n  return { toJSON() { while (true) Math.random(); } };\n}", 2),
        ("export function main() {\n  throw { toString() { while (true) Math.random(); } };\n}", 0),
        ("export const main = () => new Proxy({}, { ownKeys() { while (true) Math.random(); } });", 1),
        (
            "export function main() {\n  class E extends Error { get message() { while (true) Math.random(); } }\n  throw new E();\n}",
            0,
        ),
    ] {
        let (which, place) = stopped(&pool, source, |call| {
            // Long enough to come to its line on a machine that is busy with others.
            call.limits.time = Duration::from_secs(1);
            call.limits.calls = 100_000_000;
        });
        assert_eq!(which, Limit::Time, "{source}");
        assert!(line == 0 || place.line == line, "{source}: {place:?}");
    }
    assert_eq!(pool.count().lost, 0, "none of these needs its worker killed");
}

#[test]
fn endless_promises_are_stopped() {
    let pool = pool(1);
    for source in [
        "export const main = async () => { while (true) await null; };",
        "const again = () => Promise.resolve().then(again);\nexport const main = () => again();",
        "export const main = () => { const again = () => queueMicrotask(again); again(); return new Promise(() => {}); };",
    ] {
        let (which, _) = stopped(&pool, source, |call| call.limits.time = Duration::from_millis(300));
        // A chain of promises grows, and may be stopped for that.
        assert!(which == Limit::Time || source.contains(".then(again)"), "{source}: {which:?}");
    }
}

#[test]
fn a_promise_that_nothing_can_settle_is_an_error_at_once() {
    let pool = pool(1);
    let started = Instant::now();
    for source in [
        "export const main = () => new Promise(() => {});",
        "export async function main() { await { then() {} }; }",
        "await new Promise(() => {});\nexport const main = 1;",
    ] {
        let error =
            run_with(&pool, source, |call| call.limits.time = Duration::from_secs(600)).expect_err(source);
        let expected =
            CallError::NeverSettles { unit: "units/test.js".to_owned(), function: "main".to_owned() };
        assert_eq!(error, expected, "{source}");
    }
    assert!(started.elapsed() < Duration::from_secs(300));
}

#[test]
fn endless_recursion_and_endless_texts_are_exceptions_and_the_worker_lives() {
    let pool = pool(1);
    for source in [
        "const f = () => f() + 1;\nexport const main = () => f();",
        "export const main = () => { let s = 'x'; while (true) s += s; };",
        "export const main = () => { let big = 1n; while (true) big <<= 100000n; };",
        "export const main = () => { const o = { toString() { return `${o}`; } }; return `${o}`; };",
        "export const main = () => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a); };",
        "export const main = () => { let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x; };",
        "export const main = () => JSON.parse('['.repeat(200000));",
        "export const main = () => new RegExp('('.repeat(50000) + ')'.repeat(50000));",
        "export const main = () => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a.flat(Infinity); };",
    ] {
        let error = run(&pool, source).expect_err(source);
        assert!(matches!(error, CallError::Exception { .. }), "{source}: {error:?}");
    }
    assert_eq!(pool.count().lost, 0);
}

#[test]
fn memory_has_an_end() {
    let pool = pool(1);
    for source in [
        "export const main = () => { const all = []; while (true) all.push('x'.repeat(100000) + all.length); };",
        "export const main = () => new Uint8Array(1024 * 1024 * 1024).length;",
        "export const main = () => 'x'.repeat(1024 * 1024 * 1024 - 100).length;",
        "export const main = () => { try { return 'x'.repeat(2 ** 29).length; } catch { return 'caught'; } };",
        "export const main = () => { const o = {}; for (let i = 0; ; i++) o['k' + i] = i; };",
        "export const main = () => { const all = []; while (true) all.push(() => all); };",
        "export const main = () => { const map = new Map(); for (let i = 0; ; i++) map.set(i, {}); };",
        "export const main = () => Array.from({ length: 4e9 });",
        "export const main = () => [...(function* () { while (true) yield {}; })()];",
        "export const main = async () => { const all = []; while (true) { all.push('x'.repeat(1e5) + all.length); await null; } };",
    ] {
        let (which, _) = stopped(&pool, source, |call| call.limits.time = Duration::from_secs(20));
        assert_eq!(which, Limit::Memory, "{source}");
    }
}

#[test]
fn a_catastrophic_regular_expression_is_stopped() {
    let pool = pool(1);
    let source = "export function main() {\n  return /^(a+)+$/.test('a'.repeat(40) + 'b');\n}";
    let (which, place) = stopped(&pool, source, |call| call.limits.time = Duration::from_millis(300));
    assert_eq!(which, Limit::Time);
    assert_eq!(place.line, 2);
}

#[test]
fn native_loops_without_end_are_refused() {
    let pool = pool(1);
    for source in [
        "export const main = () => { const a = []; a.length = 4294967295; return a.join(); };",
        "export const main = () => Array.prototype.reverse.call({ length: 2 ** 53 - 1 });",
        "export const main = () => Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1);",
        "export const main = () => { const a = []; a.length = 4e9; a.forEach(() => {}); };",
        "export const main = () => String({ length: 2 ** 53 - 1, toString: Array.prototype.toString, join: Array.prototype.join });",
        "export const main = () => 'a'.repeat(2e6).indexOf('a'.repeat(1e4) + 'b');",
        "export const main = () => 'a'.repeat(2e6).split('a'.repeat(1e4) + 'b');",
    ] {
        let error = run(&pool, source).expect_err(source);
        let CallError::Exception { text, .. } = &error else { panic!("{source}: {error:?}") };
        assert!(text.starts_with("RangeError: "), "{source}: {text}");
    }
    assert_eq!(pool.count().lost, 0);
}

#[test]
fn ten_million_host_calls_are_cut_at_the_limit() {
    let pool = pool(1);
    let source = "export function main() {\n  for (let i = 0; i < 1e7; i++) {\n    try { shop.echo(i); } catch {}\n  }\n}";
    let (which, place) = stopped(&pool, source, |call| call.limits.time = Duration::from_secs(60));
    assert_eq!(which, Limit::Calls);
    assert_eq!(place.line, 3);
}

#[test]
fn output_has_an_end_both_as_value_and_as_argument() {
    let pool = pool(1);
    for source in [
        "export const main = () => 'x'.repeat(9_000_000);",
        "export const main = () => new Array(1_000_000).fill(0);",
        "export const main = () => { const a = []; a.length = 4e9; return a; };",
        "export function main() {\n  const list = [];\n  list.length = 4e9;\n  shop.echo(list);\n}",
        "export function main() {\n  try { shop.echo('x'.repeat(9_000_000)); } catch {}\n}",
        "export const main = () => { const s = ['x'.repeat(1_000_000)]; return Array(20).fill(s); };",
    ] {
        let (which, _) = stopped(&pool, source, |call| call.limits.memory = 128 << 20);
        assert_eq!(which, Limit::Output, "{source}");
    }
}
