//! Errors of scripts: what they say and where they were thrown.

use sandbox::{CallError, Place};

use crate::common::{Echo, call_of, modules, pool, run, run_with};

fn place(unit: &str, line: u32, column: u32, function: &str) -> Place {
    Place { unit: unit.to_owned(), line, column, function: function.to_owned() }
}

#[test]
fn an_exception_has_its_place_and_the_calls_that_led_there() {
    let pool = pool(1);
    let sources = [
        (
            "units/test.js",
            "import { format } from 'units/inc_format.js';\n\nexport function main() {\n  return format(null);\n}",
        ),
        (
            "units/inc_format.js",
            "export function format(value) {\n  return pad(value);\n}\n\nfunction pad(value) {\n  return value.length;\n}",
        ),
    ];
    let call = call_of(modules(&pool, &sources));
    let error = pool.with_session(|session| session.call(&call, &mut Echo::default())).expect("a worker");
    let Err(CallError::Exception { place: at, text, code, chain }) = error else { panic!("{error:?}") };
    assert_eq!(text, "TypeError: cannot read property 'length' of null");
    assert_eq!(code, "");
    assert_eq!(*at, place("units/inc_format.js", 6, 10, "pad"));
    assert_eq!(
        chain,
        [
            place("units/inc_format.js", 6, 10, "pad"),
            place("units/inc_format.js", 2, 14, "format"),
            place("units/test.js", 4, 17, "main"),
        ]
    );
}

#[test]
fn errors_keep_their_place_after_an_await_and_through_list_methods() {
    let pool = pool(1);
    let source = "export async function main() {\n  await null;\n  [1].map((n) => {\n    throw new RangeError('bad ' + n);\n  });\n}";
    let error = run(&pool, source).expect_err("it throws");
    let CallError::Exception { place, text, .. } = error else { panic!("{error:?}") };
    assert_eq!(text, "RangeError: bad 1");
    assert_eq!((place.unit.as_str(), place.line), ("units/test.js", 4));
}

#[test]
fn a_refusal_of_the_host_that_nobody_catches_keeps_its_code() {
    let pool = pool(1);
    let error = run(&pool, "export function main() {\n  shop.fail();\n}").expect_err("it throws");
    let CallError::Exception { place, text, code, .. } = error else { panic!("{error:?}") };
    assert_eq!((text.as_str(), code.as_str()), ("ShopError: there is no table `x`", "no_such_table"));
    assert_eq!((place.unit.as_str(), place.line, place.column), ("units/test.js", 2, 8));
}

#[test]
fn a_fatal_refusal_cannot_be_caught() {
    let pool = pool(1);
    let source = "export function main() {\n  while (true) {\n    try { shop.fatal(); } catch {}\n  }\n}";
    let error = run(&pool, source).expect_err("it is stopped");
    let CallError::Exception { place, text, code, .. } = error else { panic!("{error:?}") };
    assert_eq!((text.as_str(), code.as_str()), ("too many queries", "queries"));
    assert_eq!((place.unit.as_str(), place.line), ("units/test.js", 3));
    let swallowed = run(&pool, "export function main() {\n  try { shop.fatal(); } catch {}\n  return 1;\n}");
    assert!(
        matches!(swallowed, Err(CallError::Exception { ref code, .. }) if code == "queries"),
        "{swallowed:?}"
    );
}

#[test]
fn whatever_is_thrown_is_told() {
    let pool = pool(1);
    for (thrown, told) in [
        ("'text'", "text"),
        ("3", "3"),
        ("null", "null"),
        ("undefined", "undefined"),
        ("{ toString() { return 'own'; } }", "own"),
        ("{ toString() { throw 1; } }", "something that is no error and has no text"),
        ("Symbol('s')", "something that is no error and has no text"),
        ("Object.assign(new Error('a'), { name: 'Own' })", "Own: a"),
        ("Object.defineProperty(new Error('a'), 'message', { get() { throw 1; } })", "Error"),
        ("new AggregateError([])", "AggregateError"),
    ] {
        let error = run(&pool, &format!("export function main() {{ throw {thrown}; }}")).expect_err(thrown);
        let CallError::Exception { text, place, .. } = error else { panic!("{thrown}: {error:?}") };
        assert_eq!(text, told, "{thrown}");
        assert_eq!(place.unit, "units/test.js", "{thrown}");
    }
}

#[test]
fn a_missing_function_is_told_from_a_failing_one() {
    let pool = pool(1);
    for source in ["export const other = 1;", "export const main = 5;", "function main() {}"] {
        let error = run(&pool, source).expect_err(source);
        let expected =
            CallError::NoFunction { unit: "units/test.js".to_owned(), function: "main".to_owned() };
        assert_eq!(error, expected, "{source}");
    }
    let inherited = run_with(&pool, "export const main = 5;", |call| call.function = "toString".to_owned());
    assert!(matches!(inherited, Err(CallError::NoFunction { .. })), "{inherited:?}");
}

#[test]
fn a_module_that_was_not_handed_in_is_named() {
    let pool = pool(1);
    let error = run(&pool, "import { x } from 'units/inc_gone.js';\nexport const main = () => x;")
        .expect_err("no module");
    let expected =
        CallError::NoModule { unit: "units/test.js".to_owned(), name: "units/inc_gone.js".to_owned() };
    assert_eq!(error, expected);
}

#[test]
fn an_export_that_is_not_there_is_named() {
    let pool = pool(1);
    let sources = [
        ("units/test.js", "import { nope } from 'units/lib.js';\nexport const main = () => nope;"),
        ("units/lib.js", "export const yes = 1;"),
    ];
    let call = call_of(modules(&pool, &sources));
    let error = pool.with_session(|session| session.call(&call, &mut Echo::default())).expect("a worker");
    let Err(CallError::Exception { text, place, .. }) = error else { panic!("{error:?}") };
    assert!(text.contains("nope") && text.contains("units/lib.js"), "{text}");
    assert_eq!(place.unit, "units/test.js");
}

#[test]
fn an_error_at_the_top_of_a_module_has_its_place() {
    let pool = pool(1);
    let error = run(&pool, "\nnull.x;\nexport const main = () => 1;").expect_err("it throws");
    let CallError::Exception { place, .. } = error else { panic!("{error:?}") };
    assert_eq!((place.unit.as_str(), place.line), ("units/test.js", 2));
}

#[test]
fn long_texts_and_forged_stacks_are_cut() {
    let pool = pool(1);
    let source = r#"export function main() {
        const error = new Error("x".repeat(100000));
        error.code = "c".repeat(100000);
        Object.defineProperty(error, "stack", { value: "    at f (" + "u".repeat(100000) + ":1:2)\n".repeat(10000) });
        throw error;
    }"#;
    let error = run(&pool, source).expect_err("it throws");
    let CallError::Exception { text, code, chain, .. } = error else { panic!("{error:?}") };
    assert_eq!(text.chars().count(), 2_001);
    assert_eq!(code.chars().count(), 201);
    assert!(chain.len() <= 32, "{}", chain.len());
}
