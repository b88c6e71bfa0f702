//! Tricks with prototypes, code made of text, imports of what was not handed in.

use sandbox::{CallError, Value};

use crate::common::{pool, run, run_with};

#[test]
fn no_text_becomes_code() {
    let pool = pool(1);
    for code in [
        "eval('1')",
        "(0, eval)('1')",
        "globalThis.eval('1')",
        "new Function('return 1')()",
        "Function('return 1')()",
        "(() => {}).constructor('return 1')()",
        "(function* () {}).constructor('yield 1')().next()",
        "(async () => {}).constructor('return 1')()",
        "Reflect.construct(Function, ['return 1'])()",
    ] {
        let error = run(&pool, &format!("export const main = () => {code};")).expect_err(code);
        assert!(matches!(error, CallError::Exception { .. }), "{code}: {error:?}");
    }
}

#[test]
fn nothing_of_the_machine_is_there() {
    let pool = pool(1);
    let source = r#"export const main = () => ["std", "os", "bjson", "require", "process", "Deno", "fetch", "print", "console",
        "setTimeout", "performance", "navigator", "WebAssembly", "Worker", "Atomics", "SharedArrayBuffer", "WeakRef",
        "FinalizationRegistry", "gc", "scriptArgs", "argv0", "__loadScript"].filter((name) => name in globalThis);"#;
    assert_eq!(run(&pool, source), Ok(Value::List(Vec::new())));
    for module in [
        "std",
        "os",
        "qjs:std",
        "file:///etc/passwd",
        "/etc/passwd",
        "../../etc/passwd",
        "sandbox/prelude",
        "sandbox/facade",
        "data:text/javascript,1",
    ] {
        let error =
            run(&pool, &format!("export const main = async () => (await import('{module}')).default;"));
        assert!(matches!(error, Err(CallError::Exception { .. })), "{module}: {error:?}");
    }
}

#[test]
fn imports_above_the_root_and_of_other_units_are_refused() {
    let pool = pool(1);
    for module in ["../../../etc/passwd", "units/other.js", "./other.js", "https://example.org/x.js"] {
        let source = format!("import x from '{module}';\nexport const main = () => x;");
        match pool.compile("units/test.js", &source) {
            Ok(_) => assert!(matches!(run(&pool, &source), Err(CallError::NoModule { .. })), "{module}"),
            Err(error) => assert!(error.to_string().contains("Module not found!"), "{module}: {error}"),
        }
    }
}

#[test]
fn prototypes_that_a_script_bends_bend_nothing_of_the_hosts() {
    let pool = pool(1);
    let source = r#"
        let seen = "";
        for (const prototype of [Object.prototype, Array.prototype]) {
            for (const name of ["a", "0", "then", "toJSON", "length2"]) {
                Object.defineProperty(prototype, name, {
                    get() { return undefined; },
                    set(value) { seen += "set " + name; },
                    configurable: true,
                });
            }
        }
        Array.prototype.push = () => { seen += "push"; };
        Object.freeze = () => { seen += "freeze"; };
        Reflect.apply = () => { seen += "apply"; };
        export function main(vars) {
            const answer = shop.echo({ __proto__: null, b: 1 });
            const list = shop.cart.add(1);
            return [vars.a, vars.list[0], Object.hasOwn(vars, "a"), answer.b, list[0], Object.isFrozen(shop), seen];
        }"#;
    let value = run_with(&pool, source, |call| {
        call.args = vec![Value::Map(vec![
            ("a".to_owned(), Value::Int(5)),
            ("list".to_owned(), Value::List(vec![Value::Int(6)])),
        ])];
    });
    let expected = vec![
        Value::Int(5),
        Value::Int(6),
        Value::Bool(true),
        Value::Int(1),
        Value::Int(1),
        Value::Bool(true),
        Value::from(""),
    ];
    assert_eq!(value, Ok(Value::List(expected)));
}

#[test]
fn a_field_named_proto_is_data_both_ways() {
    let pool = pool(1);
    let source = r#"export function main(vars) {
        const made = JSON.parse('{"__proto__": {"admin": true}}');
        return [vars.admin === undefined, Object.getPrototypeOf(vars) === Object.prototype, Object.keys(vars), made, shop.echo(made)];
    }"#;
    let own =
        Value::Map(vec![("__proto__".to_owned(), Value::Map(vec![("admin".to_owned(), Value::Bool(true))]))]);
    let value = run_with(&pool, source, |call| call.args = vec![own.clone()]);
    let keys = Value::List(vec![Value::from("__proto__")]);
    assert_eq!(value, Ok(Value::List(vec![Value::Bool(true), Value::Bool(true), keys, own.clone(), own])));
}

#[test]
fn the_hosts_function_is_out_of_reach() {
    let pool = pool(1);
    // Neither the arguments of a function of shop nor its callers lead to the function behind it.
    let source = r#"export function main() {
        const tried = [];
        for (const way of [() => shop.echo.caller, () => shop.echo.arguments, () => shop.echo.call.call.caller,
                           () => { try { shop.fail(); } catch (error) { return error.host ?? error.cause; } },
                           () => new shop.echo(1), () => shop.constructor]) {
            try { tried.push(typeof way()); } catch (error) { tried.push(error.name); }
        }
        return tried;
    }"#;
    let value = run(&pool, source).expect("a value");
    let Value::List(tried) = value else { panic!("a list") };
    for one in tried {
        assert!(["undefined", "TypeError"].contains(&one.as_text().expect("a text")), "{one:?}");
    }
}
