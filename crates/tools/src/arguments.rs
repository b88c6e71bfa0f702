//! The check of arguments against a tool's schema, before anything is asked of the store.
//!
//! Invariant: it never panics, whatever the schema and the arguments are, and
//! what it lets through holds no parameter that the schema does not know.

use std::borrow::Cow;

use serde_json::{Map, Value};
use wire::text::quoted;
use wire::{Refusal, catalogue};

/// Longest piece of a foreign value that a refusal repeats.
const QUOTE: usize = 60;
/// Whole numbers up to here are exact in a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Checks arguments against a schema that [`crate::input_schema`] made.
///
/// A parameter with `null` is not named. A list or object that arrives as its
/// own JSON in a string is parsed, and so is a plain whole number or truth value,
/// since some hosts send them so. Nothing else is converted.
pub fn check_arguments(schema: &Value, arguments: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    object(schema, arguments, "")
}

fn object(schema: &Value, given: Map<String, Value>, path: &str) -> Result<Map<String, Value>, Refusal> {
    let known = schema.get("properties").and_then(Value::as_object);
    let closed = schema.get("additionalProperties").and_then(Value::as_bool) == Some(false);
    let mut kept = Map::new();
    for (name, value) in given {
        let full = joined(path, &name);
        match known.and_then(|known| known.get(&name)) {
            None if closed => return Err(unknown(&full, known)),
            Some(_) if value.is_null() => {}
            // An object that takes any name takes what it says of each: `null` in a form is an empty field.
            None => {
                kept.insert(name, value);
            }
            Some(field) => {
                kept.insert(name, one(field, value, &full)?);
            }
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !kept.contains_key(name) {
            if let Some(values) = known.and_then(|known| known.get(name)).and_then(words_of) {
                return Err(catalogue::not_one_of(&joined(path, name), &values, "nothing"));
            }
            let about = known.and_then(|known| known.get(name)).and_then(|field| field.get("description"));
            let about = about.and_then(Value::as_str).unwrap_or_default();
            return Err(catalogue::missing_parameter(&joined(path, name), &sentence(about)));
        }
    }
    Ok(kept)
}

/// One value against its schema.
fn one(schema: &Value, value: Value, path: &str) -> Result<Value, Refusal> {
    let value = parsed(schema, value);
    if !fits(schema, &value) {
        return Err(wrong(schema, &value, path));
    }
    match value {
        Value::Object(inner) => Ok(Value::Object(object(schema, inner, path)?)),
        Value::Array(items) => list(schema, items, path),
        Value::Number(number) => Ok(Value::Number(whole(schema, number))),
        value => Ok(value),
    }
}

fn list(schema: &Value, items: Vec<Value>, path: &str) -> Result<Value, Refusal> {
    let Some(item) = schema.get("items").filter(|item| item.as_object().is_some_and(|item| !item.is_empty()))
    else {
        return Ok(Value::Array(items));
    };
    let items = items.into_iter().enumerate();
    items.map(|(index, value)| one(item, value, &format!("{path}[{index}]"))).collect()
}

/// A string where no text can stand, read as the value it spells: a list or an object as JSON, a whole number in
/// its plain form (`99`, `-1`; not `1.5`, `1e3`, `007`), `true` or `false`.
fn parsed(schema: &Value, value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    if takes(schema, "string") {
        return value;
    }
    let spelled = match text.as_str() {
        "true" | "false" if takes(schema, "boolean") => Some(Value::Bool(text == "true")),
        _ if takes(schema, "integer") => plain_number(text),
        _ if takes(schema, "array") || takes(schema, "object") => {
            serde_json::from_str::<Value>(text).ok().filter(|inner| inner.is_array() || inner.is_object())
        }
        _ => None,
    };
    spelled.unwrap_or(value)
}

fn plain_number(text: &str) -> Option<Value> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then(|| number.into())
}

/// Kinds the schema names; none means any.
fn kinds(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn takes(schema: &Value, kind: &str) -> bool {
    kinds(schema).contains(&kind)
}

fn fits(schema: &Value, value: &Value) -> bool {
    let kinds = kinds(schema);
    let of_kind = kinds.is_empty()
        || kinds.iter().any(|kind| match *kind {
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "number" => value.is_number(),
            "integer" => is_whole(value),
            _ => false,
        });
    let listed = schema.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(value));
    of_kind && listed && in_range(schema, value) && of_length(schema, value)
}

fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.as_f64().is_some_and(|n| n.fract() == 0.0 && n.abs() <= EXACT)
}

/// `5.0` is a whole number to JSON Schema, but not to the types behind it.
fn whole(schema: &Value, number: serde_json::Number) -> serde_json::Number {
    match number.as_f64() {
        Some(n) if number.is_f64() && takes(schema, "integer") && n.fract() == 0.0 && n.abs() <= EXACT => {
            #[expect(clippy::cast_possible_truncation, reason = "whole and in the exact range")]
            let n = n as i64;
            n.into()
        }
        _ => number,
    }
}

fn in_range(schema: &Value, value: &Value) -> bool {
    let Some(number) = value.as_f64() else { return true };
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    bound("minimum").is_none_or(|least| number >= least) && bound("maximum").is_none_or(|most| number <= most)
}

fn of_length(schema: &Value, value: &Value) -> bool {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    let (least, most, length) = match value {
        Value::String(text) => (bound("minLength"), bound("maxLength"), text.chars().count()),
        Value::Array(items) => (bound("minItems"), bound("maxItems"), items.len()),
        _ => return true,
    };
    let length = length as u64;
    least.is_none_or(|least| length >= least) && most.is_none_or(|most| length <= most)
}

fn unknown(name: &str, known: Option<&Map<String, Value>>) -> Refusal {
    let names: Vec<String> = known.into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
    let known = match names.as_slice() {
        [] => "There are no parameters here.".to_owned(),
        names => format!("Known: {}.", names.join(", ")),
    };
    catalogue::unknown_parameter(&quoted(name, QUOTE), &known)
}

fn wrong(schema: &Value, value: &Value, path: &str) -> Refusal {
    let path = quoted(path, 2 * QUOTE);
    match words_of(schema) {
        Some(values) => catalogue::not_one_of(&path, &values, &got(value)),
        None => catalogue::wrong_parameter(&path, &wanted(schema), &got(value)),
    }
}

/// The few values that a schema takes, where it names them.
fn words_of(schema: &Value) -> Option<String> {
    let values = schema.get("enum").and_then(Value::as_array)?;
    Some(values.iter().map(spelled).collect::<Vec<_>>().join(", "))
}

/// What the schema asks for, in words.
fn wanted(schema: &Value) -> String {
    let kinds: Vec<&str> = kinds(schema)
        .into_iter()
        .map(|kind| match kind {
            "string" => "text",
            "integer" => "a whole number",
            "number" => "a number",
            "boolean" => "true or false",
            "array" => "a list",
            "object" => "an object",
            other => other,
        })
        .collect();
    let mut words = if kinds.is_empty() { "another value".to_owned() } else { kinds.join(" or ") };
    for (name, before) in [
        ("minimum", "from"),
        ("maximum", "up to"),
        ("minLength", "of at least"),
        ("maxLength", "of at most"),
        ("minItems", "of at least"),
        ("maxItems", "of at most"),
    ] {
        if let Some(bound) = schema.get(name).filter(|bound| bound.is_number()) {
            words.push_str(&format!(" {before} {bound}"));
        }
    }
    words
}

fn spelled(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => format!("`{text}`").into(),
        other => other.to_string().into(),
    }
}

/// A foreign value in a few words, however big it is.
fn got(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => quoted(&number.to_string(), QUOTE),
        Value::String(text) => format!("the text `{}`", quoted(text, QUOTE)),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn joined(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

fn sentence(about: &str) -> String {
    match about.trim_end() {
        "" => String::new(),
        text if text.ends_with('.') => text.to_owned(),
        text => format!("{text}."),
    }
}

#[cfg(test)]
mod tests;
