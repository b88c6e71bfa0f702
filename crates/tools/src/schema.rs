//! Schemas of arguments and answers, in the one form every host accepts.
//!
//! Invariant: no definitions apart, no combinator at the top, no `null` among
//! the kinds of a parameter (a parameter with `null` is one that is not named).
//! Real hosts lose a tool, or all tools, over each of these.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Formats that JSON Schema itself knows; `int64` and its like are not among them.
const FORMATS: &[&str] =
    &["date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid", "regex"];

/// Schema of a tool's arguments. Its `description` is the tool's own text.
pub fn input_schema<T: JsonSchema>() -> Value {
    let mut schema = generated::<T>(SchemaSettings::draft2020_12().for_deserialize());
    tidy(&mut schema, Null::Dropped);
    if let Some(object) = schema.as_object_mut() {
        object.insert("type".to_owned(), json!("object"));
        object.entry("properties").or_insert_with(|| json!({}));
        object.insert("additionalProperties".to_owned(), json!(false));
    }
    schema
}

/// Schema of a tool's data block, whole and described: what the reference shows.
pub fn output_schema<T: JsonSchema>() -> Value {
    let mut schema = generated::<T>(SchemaSettings::draft2020_12().for_serialize());
    tidy(&mut schema, Null::Kept);
    if let Some(object) = schema.as_object_mut() {
        object.insert("type".to_owned(), json!("object"));
        // A newer engine may say more than this build knows.
        object.remove("additionalProperties");
    }
    schema
}

/// What becomes of `null` among the kinds of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Null {
    Dropped,
    Kept,
}

fn generated<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Rewrites a schema and everything below it.
fn tidy(schema: &mut Value, null: Null) {
    if schema.as_bool() == Some(true) {
        // Some hosts accept only objects as schemas; an empty one says the same.
        *schema = json!({});
    }
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("title");
    object.remove("$schema");
    if object.get("format").and_then(Value::as_str).is_some_and(|format| !FORMATS.contains(&format)) {
        object.remove("format");
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    tidy_fields(object, null);
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().for_each(|s| tidy(s, null));
    }
    for key in ["items", "additionalProperties"] {
        // `false` is the one boolean that says something here.
        if let Some(inner) = object.get_mut(key).filter(|inner| inner.is_object()) {
            tidy(inner, null);
        }
    }
    fold_choice(object, null);
    fold_kinds(object, null);
    if object.get("items").and_then(Value::as_bool) == Some(true) {
        object.remove("items");
    }
}

/// The fields of an object. One that may be left out is left out rather than `null`.
fn tidy_fields(object: &mut Map<String, Value>, null: Null) {
    let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let fields = object.get_mut("properties").and_then(Value::as_object_mut);
    for (name, field) in fields.into_iter().flatten() {
        let promised = required.iter().any(|required| required == name);
        tidy(field, if promised { null } else { Null::Dropped });
    }
}

/// Choices between a schema and `null`, and between constants, without a combinator.
fn fold_choice(object: &mut Map<String, Value>, null: Null) {
    for key in ["anyOf", "oneOf"] {
        let Some(choices) = object.get_mut(key).and_then(Value::as_array_mut) else { continue };
        let before = choices.len();
        choices.retain(|choice| choice.get("type").and_then(Value::as_str) != Some("null"));
        let nullable = choices.len() < before;
        let constants: Option<Vec<Value>> =
            choices.iter().map(constants).collect::<Option<Vec<_>>>().map(|c| c.concat());
        let folded = match constants {
            Some(constants) if !constants.is_empty() => json!({"type": "string", "enum": constants}),
            _ if choices.len() == 1 => choices.remove(0),
            _ => {
                if nullable && null == Null::Kept {
                    choices.push(json!({"type": "null"}));
                }
                continue;
            }
        };
        object.remove(key);
        for (name, value) in folded.as_object().into_iter().flatten() {
            object.entry(name).or_insert_with(|| value.clone());
        }
        if nullable && null == Null::Kept {
            allow_null(object);
        }
    }
}

/// The texts a choice stands for, where it is nothing but texts.
fn constants(choice: &Value) -> Option<Vec<Value>> {
    if let Some(constant) = choice.get("const").filter(|constant| constant.is_string()) {
        return Some(vec![constant.clone()]);
    }
    let listed = choice.get("enum")?.as_array()?;
    listed.iter().all(Value::is_string).then(|| listed.clone())
}

fn allow_null(object: &mut Map<String, Value>) {
    if let Some(kind) = object.get("type").and_then(Value::as_str).map(str::to_owned) {
        object.insert("type".to_owned(), json!([kind, "null"]));
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.push(Value::Null);
    }
}

/// `["string", "null"]` of a parameter is `"string"`.
fn fold_kinds(object: &mut Map<String, Value>, null: Null) {
    if null == Null::Kept {
        return;
    }
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            object.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

#[cfg(test)]
mod tests;
