//! How long a unit call, a host call and compiling take: `cargo bench -p sandbox`.
#![expect(clippy::print_stdout, reason = "a measurement prints")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sandbox::{Call, Compiled, Host, HostError, Limits, Pool, PoolConfig, Session, Value};

/// A unit of some size: formats rows, builds a page of text.
const PAGE: &str = r#"
import { money } from "units/inc_money.js";
export function main(vars) {
  const rows = [];
  for (let i = 0; i < vars.queries; i++) rows.push(...shop.select("select id, name, price from products where category = :c", { c: i }));
  const lines = rows.map((row) => `<li data-id="${row.id}">${row.name}: ${money(row.price)}</li>`);
  return `<ul>${lines.join("")}</ul>`;
}
"#;

const MONEY: &str = "export const money = (minor) => (minor / 100).toFixed(2);";

/// Answers `select` with twenty rows, `unit` by calling a small unit.
struct Shop {
    rows: Value,
    small: Call,
}

impl Host for Shop {
    fn call(&mut self, session: &mut Session<'_>, name: &str, args: Vec<Value>) -> Result<Value, HostError> {
        match name {
            "select" => Ok(self.rows.clone()),
            "unit" => {
                let small = self.small.clone();
                session.call(&small, self).map_err(|error| HostError::new("unit", error.to_string()))
            }
            _ => Ok(args.into_iter().next().unwrap_or_default()),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut config = PoolConfig::new(PathBuf::from(env!("CARGO_BIN_EXE_unit-worker-test")), Vec::new());
    config.functions = ["select", "unit", "echo"].map(str::to_owned).into();
    let pool = Pool::start(config)?;
    println!("workers: {}", pool.report());

    let small = Arc::new(
        pool.compile("units/small.js", "export const main = (vars) => '<p>' + vars.text + '</p>';")?,
    );
    let small = call(vec![small], vec![Value::Map(vec![("text".to_owned(), Value::from("x"))])]);
    let page = vec![
        Arc::new(pool.compile("units/page.js", PAGE)?),
        Arc::new(pool.compile("units/inc_money.js", MONEY)?),
    ];
    let many = Arc::new(pool.compile(
        "units/many.js",
        "export const main = (n) => { for (let i = 0; i < n; i++) shop.echo(i); };",
    )?);
    let nesting = Arc::new(pool.compile(
        "units/nesting.js",
        "export const main = (n) => { for (let i = 0; i < n; i++) shop.unit(); };",
    )?);
    let mut host = Shop { rows: rows(20), small: small.clone() };
    let queries = |count| vec![Value::Map(vec![("queries".to_owned(), Value::Int(count))])];

    measure("a small unit, warm", 5_000, || run(&pool, &small, &mut host));
    measure("a page unit, five queries of twenty rows", 2_000, || {
        run(&pool, &call(page.clone(), queries(5)), &mut host)
    });
    measure("a thousand host calls in one unit", 200, || {
        run(&pool, &call(vec![Arc::clone(&many)], vec![Value::Int(1_000)]), &mut host)
    });
    measure("ten units in one", 500, || {
        run(&pool, &call(vec![Arc::clone(&nesting)], vec![Value::Int(10)]), &mut host)
    });
    measure("compiling the page unit, in a worker of its own", 30, || {
        pool.compile("units/page.js", PAGE).is_ok()
    });
    measure("analysing the page unit", 300, || pool.analyse("units/page.js", PAGE).is_ok());
    Ok(())
}

fn rows(count: i64) -> Value {
    let row = |id| {
        let fields = [
            ("id", Value::Int(id)),
            ("name", Value::from("Darjeeling first flush")),
            ("price", Value::Int(1990 + id)),
        ];
        Value::Map(fields.map(|(name, value)| (name.to_owned(), value)).into())
    };
    Value::List((0..count).map(row).collect())
}

fn call(modules: Vec<Arc<Compiled>>, args: Vec<Value>) -> Call {
    let limits = Limits { calls: 10_000, ..Limits::default() };
    Call { modules, function: "main".to_owned(), args, globals: Value::Null, limits }
}

fn run(pool: &Pool, call: &Call, host: &mut Shop) -> bool {
    pool.with_session(|session| session.call(call, host)).is_ok_and(|value| value.is_ok())
}

/// Does it many times, one after the other, and prints the median and the 99th of a hundred.
fn measure(what: &str, times: usize, mut work: impl FnMut() -> bool) {
    let mut took: Vec<Duration> = Vec::with_capacity(times);
    for _ in 0..times {
        let started = Instant::now();
        assert!(work(), "{what} fails");
        took.push(started.elapsed());
    }
    took.sort_unstable();
    println!("{what}: median {:?}, 99 of 100 within {:?}", took[times / 2], took[times * 99 / 100]);
}
