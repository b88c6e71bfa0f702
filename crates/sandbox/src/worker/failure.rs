//! What a script's exception says, and where it was thrown.

use rquickjs::{Coerced, Ctx, Error, Exception, FromJs, Object, Value};

use super::limits::{Budget, Stop};
use crate::analysis::SyntaxError;
use crate::call::{CallError, HostError, Limit, Place};

/// The longest text of an error, in characters.
const TEXT: usize = 2_000;

/// The longest name in a chain.
const NAME: usize = 200;

/// The longest chain.
const CHAIN: usize = 32;

/// An exception, read.
#[derive(Debug, Default)]
pub(super) struct Caught {
    text: String,
    code: String,
    stack: Option<String>,
    /// It is what is thrown when there is no memory even for an error.
    is_null: bool,
}

/// Reads what was thrown. Getters of the script may run; they are under the same limits.
pub(super) fn caught(ctx: &Ctx<'_>, error: &Error) -> Caught {
    if !error.is_exception() {
        return Caught { text: error.to_string(), ..Caught::default() };
    }
    let thrown = ctx.catch();
    let read = read(ctx, &thrown);
    // Reading it may have thrown again; nobody is to find that later.
    ctx.catch();
    read
}

fn read<'js>(ctx: &Ctx<'js>, thrown: &Value<'js>) -> Caught {
    let Some(object) = thrown.as_object().filter(|_| thrown.is_error()) else {
        let text =
            text_of(ctx, thrown).unwrap_or_else(|| "something that is no error and has no text".to_owned());
        return Caught { text: short(&text, TEXT), is_null: thrown.is_null(), ..Caught::default() };
    };
    let field = |name: &str| -> Option<String> { text_of(ctx, &object.get(name).ok()?) };
    let name = field("name").unwrap_or_else(|| "Error".to_owned());
    let message = field("message").unwrap_or_default();
    let text = if message.is_empty() { name } else { format!("{name}: {message}") };
    let code = object.get::<_, Value>("code").ok().and_then(|code| code.as_string()?.to_string().ok());
    let stack = object.get::<_, Value>("stack").ok().and_then(|stack| stack.as_string()?.to_string().ok());
    Caught { text: short(&text, TEXT), code: short(&code.unwrap_or_default(), NAME), stack, is_null: false }
}

fn text_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Option<String> {
    let text = Coerced::<rquickjs::String>::from_js(ctx, value.clone()).ok()?;
    text.0.to_string().ok()
}

/// The failure of a call: what stopped it, or else what it threw.
pub(super) fn failure(budget: &Budget, entry: &str, caught: Option<Caught>) -> CallError {
    let caught = caught.unwrap_or_default();
    let stack = budget.stack().or(caught.stack);
    let chain = frames(stack.as_deref().unwrap_or_default());
    let place =
        chain.first().cloned().unwrap_or_else(|| Place { unit: entry.to_owned(), ..Place::default() });
    let place = Box::new(place);
    match budget.stopped() {
        Some(Stop::Limit(which)) => CallError::Limit { place, which, chain },
        Some(Stop::Host(error)) => CallError::Exception { place, text: error.text, code: error.code, chain },
        Some(Stop::Line) => CallError::WorkerLost { text: "the engine is gone".to_owned() },
        None if caught.is_null && budget.meter.is_over() => {
            CallError::Limit { place, which: Limit::Memory, chain }
        }
        None => CallError::Exception { place, text: caught.text, code: caught.code, chain },
    }
}

/// A mistake of syntax, from what the compiler threw.
pub(super) fn syntax(ctx: &Ctx<'_>, name: &str, error: &Error) -> SyntaxError {
    let caught = caught(ctx, error);
    let mut places = caught.stack.as_deref().unwrap_or_default().lines().filter_map(frame);
    let place = places.find(|place| place.unit == name).unwrap_or_default();
    let text = match caught.text.strip_prefix("SyntaxError: ") {
        Some(text) => text.to_owned(),
        None if caught.is_null => "the source takes too much memory to compile".to_owned(),
        None => caught.text,
    };
    SyntaxError { unit: name.to_owned(), line: place.line.max(1), column: place.column.max(1), text }
}

/// Throws a refusal of the host.
pub(super) fn throw(ctx: &Ctx<'_>, refusal: &HostError) -> Error {
    match error_here(ctx) {
        Some(error) => {
            let fields = [("name", "ShopError"), ("message", &refusal.text), ("code", &refusal.code)];
            for (name, text) in fields {
                if let Err(error) =
                    error.prop(name, rquickjs::object::Property::from(text).writable().configurable())
                {
                    return error;
                }
            }
            ctx.throw(error.into_value())
        }
        None => Exception::throw_internal(ctx, &refusal.text),
    }
}

/// The stack of the script at this moment.
pub(super) fn stack_here(ctx: &Ctx<'_>) -> Option<String> {
    error_here(ctx)?.get::<_, String>("stack").ok()
}

/// An error that knows where it is; only throwing one makes its stack.
fn error_here<'js>(ctx: &Ctx<'js>) -> Option<Object<'js>> {
    Exception::throw_message(ctx, "");
    ctx.catch();
    Exception::throw_type(ctx, "");
    ctx.catch().into_object()
}

/// The calls that a stack tells of, without those in code of ours.
fn frames(stack: &str) -> Vec<Place> {
    stack.lines().filter_map(frame).filter(|place| !place.unit.starts_with("sandbox/")).take(CHAIN).collect()
}

/// A line of a stack: `    at function (unit:line:column)`, or `    at unit:line:column` where the
/// compiler speaks.
fn frame(line: &str) -> Option<Place> {
    let line = line.trim_start().strip_prefix("at ")?;
    let (function, place) = match line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")) {
        Some((function, place)) => (function, place),
        None => ("", line),
    };
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    let unit = short(parts.next()?, NAME);
    let function = if function == "<anonymous>" { String::new() } else { short(function, NAME) };
    Some(Place { unit, line, column, function })
}

/// The beginning of a text.
fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
