//! What the tests share: a pool of real workers, small hosts, units made of source.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sandbox::{Call, CallError, Compiled, Host, HostError, Limits, Pool, PoolConfig, Session, Value};

/// The facade of the tests: what a real one does more than name host calls.
pub(crate) const FACADE: &str = r#"
export default function (shop, host) {
  shop.transaction = (work) => {
    host("begin");
    try {
      const result = work();
      host("commit");
      return result;
    } catch (error) {
      host("rollback");
      throw error;
    }
  };
}
"#;

/// The configuration of a pool of this many workers.
pub(crate) fn config(workers: usize) -> PoolConfig {
    let mut config = PoolConfig::new(PathBuf::from(env!("CARGO_BIN_EXE_unit-worker-test")), Vec::new());
    config.workers = workers;
    config.warm = 1;
    config.wait = Duration::from_secs(60);
    // So that a machine that is busy with other tests makes no worker late.
    config.grace = Duration::from_secs(20);
    config.functions = ["echo", "fail", "fatal", "slow", "unit", "cart.add"].map(str::to_owned).into();
    config.facade = FACADE.to_owned();
    config
}

/// A pool of this many workers.
pub(crate) fn pool(workers: usize) -> Pool {
    Pool::start(config(workers)).expect("workers start")
}

/// Compiles modules, the entry first.
pub(crate) fn modules(pool: &Pool, sources: &[(&str, &str)]) -> Vec<Arc<Compiled>> {
    sources.iter().map(|(name, source)| Arc::new(pool.compile(name, source).expect(name))).collect()
}

/// A call of `main` without arguments.
pub(crate) fn call_of(modules: Vec<Arc<Compiled>>) -> Call {
    Call { modules, function: "main".to_owned(), args: Vec::new(), globals: Value::Null, limits: limits() }
}

/// Limits for tests: short, so that what runs into them does not take long.
pub(crate) fn limits() -> Limits {
    Limits { time: Duration::from_millis(1_000), ..Limits::default() }
}

/// Runs `main` of a unit made of this source.
pub(crate) fn run(pool: &Pool, source: &str) -> Result<Value, CallError> {
    run_with(pool, source, |_| {})
}

/// The same with something changed in the call.
pub(crate) fn run_with(
    pool: &Pool,
    source: &str,
    change: impl FnOnce(&mut Call),
) -> Result<Value, CallError> {
    let mut call = call_of(modules(pool, &[("units/test.js", source)]));
    change(&mut call);
    pool.with_session(|session| session.call(&call, &mut Echo::default())).expect("a worker")
}

/// Answers `echo` with its arguments, refuses `fail` and `fatal`, notes what was asked.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    pub(crate) asked: Vec<String>,
}

impl Host for Echo {
    fn call(&mut self, _session: &mut Session<'_>, name: &str, args: Vec<Value>) -> Result<Value, HostError> {
        self.asked.push(name.to_owned());
        match name {
            "echo" => Ok(args.into_iter().next().unwrap_or_default()),
            "fail" => Err(HostError::new("no_such_table", "there is no table `x`")),
            "fatal" => Err(HostError::fatal("queries", "too many queries")),
            _ => Ok(Value::List(args)),
        }
    }
}

/// A text of a value, for comparing whole answers.
pub(crate) fn text(value: &Value) -> &str {
    value.as_text().expect("a text")
}
