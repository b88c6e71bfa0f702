//! What a call gives: values both ways, host calls, errors with their place.

use sandbox::{CallError, Value};

use crate::common::{call_of, modules, pool, run, run_with, text};

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
    let Value::Map(fields) = value else { panic!("a map") };
    assert_eq!(fields.len(), 9);
}

#[test]
fn a_limit_is_told_with_its_place() {
    let pool = pool(1);
    let call = call_of(modules(
        &pool,
        &[(
            "units/test.js",
            "function turn() {\n  let n = 0;\n  while (true) n += 1;\n}\nexport function main() {\n  turn();\n}",
        )],
    ));
    let error = pool
        .with_session(|session| session.call(&call, &mut crate::common::Echo::default()))
        .expect("a worker");
    assert!(matches!(error, Err(CallError::Limit { .. })), "{error:?}");
    let CallError::Limit { place, .. } = error.expect_err("a limit") else { panic!("a limit") };
    assert_eq!(place.unit, "units/test.js");
    assert_eq!(place.line, 3);
    assert_eq!(run(&pool, "export const main = () => 1;"), Ok(Value::Int(1)));
}
