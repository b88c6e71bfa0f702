//! Units that call units, in the same worker.

use std::sync::Arc;

use sandbox::{Call, CallError, Compiled, Host, HostError, Limit, Session, Value};

use crate::common::{Echo, call_of, limits, modules, pool};

/// Answers `unit(n)` by calling the unit with `n`.
struct Nesting {
    module: Arc<Compiled>,
    deepest: u32,
    limit: u32,
}

impl Host for Nesting {
    fn call(&mut self, session: &mut Session<'_>, name: &str, args: Vec<Value>) -> Result<Value, HostError> {
        if name != "unit" {
            return Err(HostError::new("no", name));
        }
        self.deepest = self.deepest.max(session.depth());
        let call = nested(&self.module, args, self.limit);
        session.call(&call, self).map_err(|error| match error {
            CallError::Limit { which, .. } => HostError::new("limit", which.to_string()),
            other => HostError::new("unit", other.to_string()),
        })
    }
}

fn nested(module: &Arc<Compiled>, args: Vec<Value>, depth: u32) -> Call {
    let mut limits = limits();
    limits.time *= 20;
    limits.depth = depth;
    let modules = vec![Arc::clone(module)];
    Call { modules, function: "main".to_owned(), args, globals: Value::Null, limits }
}

const DOWN: &str = r#"
function deep(levels) { return levels === 0 ? 0 : deep(levels - 1) + 1; }
export function main(n) {
  deep(500);
  if (n === 0) return ["bottom"];
  const below = shop.unit(n - 1);
  below.push(n);
  return below;
}"#;

#[test]
fn sixteen_lie_in_each_other_and_the_seventeenth_is_refused() {
    let pool = pool(1);
    let module = modules(&pool, &[("units/down.js", DOWN)]).remove(0);
    let mut host = Nesting { module: Arc::clone(&module), deepest: 0, limit: 16 };
    let call = |n| nested(&module, vec![Value::Int(n)], 16);
    let value =
        pool.with_session(|session| session.call(&call(15), &mut host)).expect("a worker").expect("a value");
    let Value::List(levels) = value else { panic!("a list") };
    assert_eq!(levels.len(), 16);
    assert_eq!(host.deepest, 15);
    let error = pool.with_session(|session| session.call(&call(16), &mut host)).expect("a worker");
    let Err(CallError::Exception { code, text, .. }) = error else { panic!("{error:?}") };
    assert!(code == "unit" || code == "limit", "{code}: {text}");
    // Whatever the call's limits say, there are never more.
    host.limit = 1_000;
    let error =
        pool.with_session(|session| session.call(&nested(&module, vec![Value::Int(100)], 1_000), &mut host));
    assert!(matches!(error, Ok(Err(CallError::Exception { .. }))), "{error:?}");
    assert_eq!(host.deepest, 16);
    assert_eq!(pool.count().lost, 0);
}

#[test]
fn recursion_at_the_deepest_level_is_still_an_exception() {
    let pool = pool(1);
    let source = "const f = () => f() + 1;\nexport const main = (n) => { if (n > 0) return shop.unit(n - 1); try { f(); } catch (error) { return error.name; } };";
    let module = modules(&pool, &[("units/down.js", source)]).remove(0);
    let mut host = Nesting { module: Arc::clone(&module), deepest: 0, limit: 16 };
    let value =
        pool.with_session(|session| session.call(&nested(&module, vec![Value::Int(15)], 16), &mut host));
    assert_eq!(value.expect("a worker"), Ok(Value::from("RangeError")));
}

#[test]
fn a_unit_that_fails_leaves_the_one_around_it_running() {
    let pool = pool(1);
    let source = r#"export function main(n) {
        if (n === 0) throw new Error("below");
        if (n === 2) while (true) {}
        try { return shop.unit(0); } catch (error) { return "above: " + error.message; }
    }"#;
    let module = modules(&pool, &[("units/down.js", source)]).remove(0);
    let mut host = Nesting { module: Arc::clone(&module), deepest: 0, limit: 16 };
    let value =
        pool.with_session(|session| session.call(&nested(&module, vec![Value::Int(1)], 16), &mut host));
    let Ok(Ok(Value::Text(text))) = value else { panic!("{value:?}") };
    assert!(text.starts_with("above: units/down.js:2:"), "{text}");
    assert!(text.ends_with(": Error: below"), "{text}");
}

#[test]
fn the_time_of_a_call_holds_for_those_within_it() {
    let pool = pool(1);
    let module = modules(&pool, &[("units/down.js", "export const main = (n) => { if (n > 0) { try { shop.unit(n - 1); } catch {} return 1; } while (true) {} };")]).remove(0);
    let mut host = Nesting { module: Arc::clone(&module), deepest: 0, limit: 16 };
    let mut call = nested(&module, vec![Value::Int(2)], 16);
    call.limits.time = std::time::Duration::from_millis(300);
    let error = pool.with_session(|session| session.call(&call, &mut host)).expect("a worker");
    assert!(matches!(error, Err(CallError::Limit { which: Limit::Time, .. })), "{error:?}");
    assert_eq!(pool.count().lost, 0, "all of them stop by themselves");
}

#[test]
fn contexts_in_each_other_share_nothing() {
    let pool = pool(1);
    let source = "globalThis.mark = (globalThis.mark ?? 0) + 1;\nexport const main = (n) => { if (n > 0) shop.unit(n - 1); return globalThis.mark; };";
    let call = call_of(modules(&pool, &[("units/down.js", source)]));
    let mut host = Nesting { module: Arc::clone(&call.modules[0]), deepest: 0, limit: 16 };
    let value = pool.with_session(|session| {
        session.call(&nested(&host.module.clone(), vec![Value::Int(3)], 16), &mut host)
    });
    assert_eq!(value.expect("a worker"), Ok(Value::Int(1)));
    let _ = Echo::default();
}
