//! Compiling: mistakes with line and column, what is too deep or too long.

use sandbox::{CompileError, Pool, SyntaxError};

use crate::common::{config, pool};

fn mistake(pool: &Pool, source: &str) -> SyntaxError {
    match pool.compile("units/bad.js", source) {
        Err(CompileError::Syntax(error)) => error,
        other => panic!("{source:.80}: {other:?}"),
    }
}

#[test]
fn a_mistake_of_syntax_has_line_and_column() {
    let pool = pool(1);
    let error = mistake(&pool, "export function main() {\n  const x = ;\n}\n");
    assert_eq!((error.unit.as_str(), error.line, error.column), ("units/bad.js", 2, 13));
    assert!(!error.text.is_empty());
    let unfinished = mistake(&pool, "export function main() {\n  if (true) {\n");
    assert_eq!(unfinished.line, 3);
    for source in [
        "export const a = 1;\nexport const a = 2;",
        "let a; let a;",
        "await = 1;",
        "return 1;",
        "import x from 5;",
        "\u{feff}}{",
        "export { nothing };",
        "'\u{2028}\n",
        "for (",
        "`${",
        "/(/",
        "with (a) {}",
        "delete x;",
        "0777",
        "import { a } from './../../x.js';",
    ] {
        let error = mistake(&pool, source);
        assert!(error.line >= 1 && error.column >= 1 && !error.text.is_empty(), "{source}: {error:?}");
    }
}

#[test]
fn sources_nested_without_end_are_refused() {
    let pool = pool(1);
    for nested in [
        format!("export const x = {}1{};", "(".repeat(100_000), ")".repeat(100_000)),
        format!("export const x = {}{};", "[".repeat(100_000), "]".repeat(100_000)),
        "{".repeat(100_000),
        format!("export const x = {}1;", "!".repeat(400_000)),
        format!("export const x = {}1;", "a=>".repeat(100_000)),
        format!("export const x = {}1{};", "`${".repeat(100_000), "}`".repeat(100_000)),
        format!("x{}", ".a".repeat(300_000)),
        format!("x = 1{}", "+1".repeat(300_000)),
        format!("{};", "if (1) ".repeat(100_000)),
    ] {
        match pool.analyse("units/bad.js", &nested) {
            Ok(_) | Err(CompileError::Syntax(_)) => {}
            other => panic!("{nested:.30}: {other:?}"),
        }
    }
    pool.analyse("units/good.js", "export const x = 1;").expect("another worker");
}

#[test]
fn sources_and_names_have_bounds() {
    let pool = pool(1);
    assert!(mistake(&pool, &"x".repeat((1 << 20) + 1)).text.contains("1048576"));
    assert!(mistake(&pool, "'\0'").text.contains("zero byte"));
    for name in ["", "sandbox/prelude", "a\nb", "a (b)"] {
        assert!(matches!(pool.compile(name, ""), Err(CompileError::Syntax(_))), "{name}");
    }
    pool.compile("units/large.js", &format!("export const x = '{}';", "x".repeat(1_000_000)))
        .expect("a large one");
}

#[test]
fn equal_sources_have_equal_hashes_and_exports_are_told() {
    let pool = pool(1);
    let source = "export function main() {}\nconst a = 1, b = 2;\nexport { a, b as c };\nexport default class {}\nexport * from 'units/x.js';\nexport { y } from './x.js';\nexport * as z from 'units/x.js';";
    let one = pool.compile("units/a.js", source).expect("it compiles");
    let same = pool.compile("units/a.js", source).expect("it compiles");
    let other = pool.compile("units/b.js", source).expect("it compiles");
    assert_eq!(one.hash(), same.hash());
    assert_ne!(one.hash(), other.hash());
    assert_eq!(one.exports(), ["main", "a", "c", "default", "*", "y", "z"]);
    assert_eq!(one.imports(), ["units/x.js"]);
}

#[test]
fn a_facade_with_a_mistake_is_told_when_the_pool_starts() {
    let mut config = config(1);
    config.facade = "export default function (shop) {\n  shop.x = ;\n}".to_owned();
    let error = Pool::start(config).expect_err("a mistake");
    assert!(error.to_string().contains("sandbox/facade:2:"), "{error}");
}
