//! What a call gives: values both ways, host calls, modules, promises.

use sandbox::{CallError, Value};

use crate::common::{Echo, call_of, modules, pool, run, run_with, text};

#[test]
fn a_function_gets_plain_data_and_returns_it() {
    let pool = pool(1);
    let value = run_with(&pool, "export function main(vars) { return vars; }", |call| {
        call.args = vec![Value::Map(vec![
            ("whole".to_owned(), Value::Int(7)),
            ("exact".to_owned(), Value::Int((1 << 53) - 1)),
            ("big".to_owned(), Value::Int(i64::MIN)),
            ("broken".to_owned(), Value::Float(0.25)),
            ("text".to_owned(), Value::from("zażółć 🛒\0")),
            ("bytes".to_owned(), Value::Bytes(vec![0, 255, 7])),
            ("list".to_owned(), Value::List(vec![Value::Null, Value::Bool(true)])),
            ("__proto__".to_owned(), Value::from("own data")),
            ("".to_owned(), Value::Map(Vec::new())),
        ])];
    });
    let value = value.expect("a value");
    assert_eq!(value.get("big"), Some(&Value::Int(i64::MIN)));
    assert_eq!(value.get("exact"), Some(&Value::Int((1 << 53) - 1)));
    assert_eq!(value.get("__proto__"), Some(&Value::from("own data")));
    assert_eq!(value.get("text").map(text), Some("zażółć 🛒\0"));
    assert_eq!(value.get("bytes"), Some(&Value::Bytes(vec![0, 255, 7])));
    assert_eq!(value.get("list"), Some(&Value::List(vec![Value::Null, Value::Bool(true)])));
    let Value::Map(fields) = value else { panic!("a map") };
    assert_eq!(fields.len(), 9);
}

#[test]
fn numbers_past_two_to_the_53_are_big_integers_and_others_are_numbers() {
    let pool = pool(1);
    let source = "export const main = (a, b) => [typeof a, typeof b, a + 1n, b + 1, 2 ** 60, -0, 3.0];";
    let value =
        run_with(&pool, source, |call| call.args = vec![Value::Int(1 << 53), Value::Int((1 << 53) - 2)]);
    let expected = vec![
        Value::from("bigint"),
        Value::from("number"),
        Value::Int((1 << 53) + 1),
        Value::Int((1 << 53) - 1),
        Value::Float((1_u64 << 60) as f64),
        Value::Float(-0.0),
        Value::Int(3),
    ];
    assert_eq!(value, Ok(Value::List(expected)));
    let past = run(&pool, "export const main = () => 2n ** 64n;").expect_err("it does not fit");
    assert!(matches!(past, CallError::NoData { .. }), "{past:?}");
}

#[test]
fn dates_undefined_and_half_letters_cross_as_json_would_have_them() {
    let pool = pool(1);
    let source = r#"export const main = () => ({
        date: new Date(0), nothing: undefined, list: [undefined, null], half: "a\ud83d", buffer: new ArrayBuffer(2),
        own: { toJSON() { return { amount: 5 }; } },
    });"#;
    let value = run(&pool, source).expect("a value");
    assert_eq!(value.get("date").map(text), Some("1970-01-01T00:00:00.000Z"));
    assert_eq!(value.get("nothing"), None);
    assert_eq!(value.get("list"), Some(&Value::List(vec![Value::Null, Value::Null])));
    assert_eq!(value.get("half").map(text), Some("a\u{fffd}"));
    assert_eq!(value.get("buffer"), Some(&Value::Bytes(vec![0, 0])));
    assert_eq!(value.get("own"), Some(&Value::Map(vec![("amount".to_owned(), Value::Int(5))])));
}

#[test]
fn what_is_no_data_does_not_cross() {
    let pool = pool(1);
    for source in [
        "export const main = () => ({ f() {} });",
        "export const main = () => Symbol('s');",
        "export const main = () => [Promise.resolve(1)];",
        "export const main = () => { const ring = {}; ring.ring = ring; return ring; };",
        "export const main = () => { let deep = []; for (let i = 0; i < 100; i++) deep = [deep]; return deep; };",
    ] {
        let error = run(&pool, source).expect_err(source);
        assert!(matches!(error, CallError::NoData { .. }), "{source}: {error:?}");
    }
    let argument = run(&pool, "export function main() { shop.echo(() => 1); }").expect_err("a function");
    let CallError::Exception { place, text, .. } = argument else { panic!("{argument:?}") };
    assert_eq!(text, "TypeError: echo: an argument is no plain data: it holds a function");
    assert_eq!((place.unit.as_str(), place.line), ("units/test.js", 1));
}

#[test]
fn host_calls_are_functions_of_shop_and_their_refusals_exceptions() {
    let pool = pool(1);
    let source = r#"export function main() {
        try { shop.fail(1); } catch (error) {
            return [shop.echo({ a: [1] }), shop.cart.add(1, "x"), error.code, error.message, error instanceof Error, String(error)];
        }
    }"#;
    let expected = vec![
        Value::Map(vec![("a".to_owned(), Value::List(vec![Value::Int(1)]))]),
        Value::List(vec![Value::Int(1), Value::from("x")]),
        Value::from("no_such_table"),
        Value::from("there is no table `x`"),
        Value::Bool(true),
        Value::from("ShopError: there is no table `x`"),
    ];
    assert_eq!(run(&pool, source), Ok(Value::List(expected)));
}

#[test]
fn the_facade_adds_what_is_more_than_a_host_call() {
    let pool = pool(1);
    let call = call_of(modules(
        &pool,
        &[(
            "units/test.js",
            "export const main = () => { try { shop.transaction(() => { throw 1; }); } catch { return shop.transaction(() => 7); } };",
        )],
    ));
    let mut host = Echo::default();
    let value = pool.with_session(|session| session.call(&call, &mut host)).expect("a worker");
    assert_eq!(value, Ok(Value::Int(7)));
    assert_eq!(host.asked, ["begin", "rollback", "begin", "commit"]);
}

#[test]
fn globals_are_frozen_data_of_shop() {
    let pool = pool(1);
    let source = r#"export function main() {
        const tried = [];
        for (const change of [() => { shop.user.name = "x"; }, () => { shop.echo = 1; }, () => { shop.user.groups.push(1); },
                              () => { shop = 1; }, () => { delete globalThis.shop; }, () => { shop.cart.add.x = 1; }]) {
            try { change(); tried.push("done"); } catch (error) { tried.push(error.name); }
        }
        return [shop.user.name, shop.user.groups.length, ...tried];
    }"#;
    let value = run_with(&pool, source, |call| {
        call.globals = Value::Map(vec![(
            "user".to_owned(),
            Value::Map(vec![
                ("name".to_owned(), Value::from("Irina")),
                ("groups".to_owned(), Value::List(vec![Value::Int(3)])),
            ]),
        )]);
    });
    let mut expected = vec![Value::from("Irina"), Value::Int(1)];
    expected.extend(["TypeError"; 6].map(Value::from));
    assert_eq!(value, Ok(Value::List(expected)));
}

#[test]
fn modules_import_those_handed_in() {
    let pool = pool(1);
    let sources = [
        (
            "units/test.js",
            "import { twice } from 'units/inc_math.js';\nimport base from './inc_base.js';\nexport const main = () => twice(base);",
        ),
        (
            "units/inc_math.js",
            "import { two } from '../units/inc_two.js';\nexport const twice = (n) => n * two;",
        ),
        ("units/inc_two.js", "export const two = 2;"),
        ("units/inc_base.js", "export default 21;"),
    ];
    let call = call_of(modules(&pool, &sources));
    assert_eq!(call.modules[0].imports(), ["units/inc_math.js", "units/inc_base.js"]);
    assert_eq!(call.modules[1].imports(), ["units/inc_two.js"]);
    assert_eq!(call.modules[3].exports(), ["default"]);
    let value = pool.with_session(|session| session.call(&call, &mut Echo::default())).expect("a worker");
    assert_eq!(value, Ok(Value::Int(42)));
}

#[test]
fn modules_that_import_each_other_are_no_trouble() {
    let pool = pool(1);
    let sources = [
        (
            "units/test.js",
            "import { odd } from 'units/odd.js';\nexport const even = (n) => n === 0 || odd(n - 1);\nexport const main = () => even(10);",
        ),
        (
            "units/odd.js",
            "import { even } from 'units/test.js';\nexport const odd = (n) => n !== 0 && even(n - 1);",
        ),
    ];
    let call = call_of(modules(&pool, &sources));
    let value = pool.with_session(|session| session.call(&call, &mut Echo::default())).expect("a worker");
    assert_eq!(value, Ok(Value::Bool(true)));
}

#[test]
fn promises_are_waited_for() {
    let pool = pool(1);
    let source = r#"
        const early = await Promise.resolve(1);
        export async function main() {
            let sum = early;
            for (const n of [1, 2, 3]) sum += await shop.echo(n);
            await null;
            return sum;
        }"#;
    assert_eq!(run(&pool, source), Ok(Value::Int(7)));
}

#[test]
fn nothing_is_left_for_the_next_call() {
    let pool = pool(1);
    let source = "export const main = () => { globalThis.count = (globalThis.count ?? 0) + 1; return globalThis.count; };";
    let call = call_of(modules(&pool, &[("units/test.js", source)]));
    pool.with_session(|session| {
        for _ in 0..3 {
            assert_eq!(session.call(&call, &mut Echo::default()), Ok(Value::Int(1)));
        }
    })
    .expect("a worker");
}
