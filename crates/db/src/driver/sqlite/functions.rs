//! Functions of agents' statements on SQLite: those that PostgreSQL has too, and stand-ins for SQLite's own whose
//! single step could take very long.

use std::cmp::Ordering;

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};

/// The largest text that a function makes.
const MOST: usize = 2 << 20;

type Made = rusqlite::Result<Value>;
type Function = fn(&Context<'_>) -> Made;

pub(super) fn add(connection: &Connection) -> rusqlite::Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let functions: [(&str, i32, Function); 19] = [
        ("ceil", 1, |call| real(call, f64::ceil)),
        ("ceiling", 1, |call| real(call, f64::ceil)),
        ("floor", 1, |call| real(call, f64::floor)),
        ("sqrt", 1, |call| real(call, f64::sqrt)),
        ("power", 2, power),
        ("greatest", -1, |call| outermost(call, Ordering::Greater)),
        ("least", -1, |call| outermost(call, Ordering::Less)),
        ("instr", 2, find),
        ("strpos", 2, find),
        ("replace", 3, replace),
        ("left", 2, |call| part(call, true)),
        ("right", 2, |call| part(call, false)),
        ("trim", 2, |call| trim(call, true, true)),
        ("btrim", 2, |call| trim(call, true, true)),
        ("ltrim", 2, |call| trim(call, true, false)),
        ("rtrim", 2, |call| trim(call, false, true)),
        // SQLite's own know only Latin letters.
        ("lower", 1, |call| with_text(call, |text| Value::Text(text.to_lowercase()))),
        ("upper", 1, |call| with_text(call, |text| Value::Text(text.to_uppercase()))),
        ("char_length", 1, |call| with_text(call, |text| Value::Integer(text.chars().count() as i64))),
    ];
    for (name, arguments, function) in functions {
        connection.create_scalar_function(name, arguments, flags, move |call| function(call))?;
    }
    Ok(())
}

/// The argument as text; `None` for nothing.
fn text(call: &Context<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    Ok(match call.get_raw(at) {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(String::from_utf8_lossy(text).into_owned()),
    })
}

fn with_text(call: &Context<'_>, function: impl FnOnce(&str) -> Value) -> Made {
    Ok(text(call, 0)?.map_or(Value::Null, |text| function(&text)))
}

fn real(call: &Context<'_>, function: fn(f64) -> f64) -> Made {
    Ok(call.get::<Option<f64>>(0)?.map_or(Value::Null, |number| Value::Real(function(number))))
}

fn power(call: &Context<'_>) -> Made {
    let (base, exponent) = (call.get::<Option<f64>>(0)?, call.get::<Option<f64>>(1)?);
    Ok(base.zip(exponent).map_or(Value::Null, |(base, exponent)| Value::Real(base.powf(exponent))))
}

/// The greatest or the least argument; nothing does not count.
fn outermost(call: &Context<'_>, wanted: Ordering) -> Made {
    let mut found = ValueRef::Null;
    for at in 0..call.len() {
        let next = call.get_raw(at);
        if next != ValueRef::Null && (found == ValueRef::Null || compare(next, found) == Some(wanted)) {
            found = next;
        }
    }
    Ok(found.try_into()?)
}

fn compare(one: ValueRef<'_>, other: ValueRef<'_>) -> Option<Ordering> {
    #[expect(clippy::cast_precision_loss, reason = "SQLite compares so too, but for the last digits")]
    let number = |value| match value {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        _ => None,
    };
    match (one, other) {
        (ValueRef::Integer(one), ValueRef::Integer(other)) => Some(one.cmp(&other)),
        (ValueRef::Text(one), ValueRef::Text(other)) => Some(one.cmp(other)),
        _ => number(one)?.partial_cmp(&number(other)?),
    }
}

/// Where a text begins in another, in characters from 1; 0 where it does not.
fn find(call: &Context<'_>) -> Made {
    let (Some(whole), Some(wanted)) = (text(call, 0)?, text(call, 1)?) else { return Ok(Value::Null) };
    let at = whole.find(&wanted).map_or(0, |at| whole[..at].chars().count() + 1);
    Ok(Value::Integer(at as i64))
}

fn replace(call: &Context<'_>) -> Made {
    let (Some(whole), Some(from), Some(to)) = (text(call, 0)?, text(call, 1)?, text(call, 2)?) else {
        return Ok(Value::Null);
    };
    if from.is_empty() {
        return Ok(Value::Text(whole));
    }
    let found = whole.matches(&from).count();
    if whole.len() + found * to.len().saturating_sub(from.len()) > MOST {
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_TOOBIG),
            None,
        ));
    }
    Ok(Value::Text(whole.replace(&from, &to)))
}

/// So many characters of the beginning or the end; below zero, all but so many.
fn part(call: &Context<'_>, beginning: bool) -> Made {
    let (Some(whole), Some(wanted)) = (text(call, 0)?, call.get::<Option<i64>>(1)?) else {
        return Ok(Value::Null);
    };
    let count = whole.chars().count();
    let wanted = usize::try_from(wanted.unsigned_abs()).unwrap_or(usize::MAX).min(count);
    let taken = if call.get::<i64>(1)? < 0 { count - wanted } else { wanted };
    let cut: String = if beginning {
        whole.chars().take(taken).collect()
    } else {
        whole.chars().skip(count - taken).collect()
    };
    Ok(Value::Text(cut))
}

fn trim(call: &Context<'_>, begin: bool, end: bool) -> Made {
    let (Some(whole), Some(marks)) = (text(call, 0)?, text(call, 1)?) else { return Ok(Value::Null) };
    let marks: std::collections::HashSet<char> = marks.chars().collect();
    let mut rest = whole.as_str();
    if begin {
        rest = rest.trim_start_matches(|c| marks.contains(&c));
    }
    if end {
        rest = rest.trim_end_matches(|c| marks.contains(&c));
    }
    Ok(Value::Text(rest.to_owned()))
}
