//! `@name.field` in the params of a pool's step: a value of an earlier step's `detail`, with its type.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use wire::text::quoted;
use wire::{Refusal, catalogue};

use super::steps::Step;

/// Details of the steps that were done, by name in small letters.
pub(super) type Known = HashMap<String, Value>;

/// Refuses references to an earlier step that name no field. What names no earlier step is data.
pub(super) fn check(steps: &[Step]) -> Result<(), Refusal> {
    let mut names: HashSet<String> = HashSet::new();
    for step in steps {
        let is_wrong = |text: &str| {
            parts(text)
                .is_some_and(|(name, path)| names.contains(&name) && path.split('.').any(str::is_empty))
        };
        if let Some(text) = step.asked.params.values().find_map(|value| first(value, &is_wrong)) {
            return Err(catalogue::reference_without_field(&quoted(&text, 80)));
        }
        names.extend(step.name.as_ref().map(|name| name.to_lowercase()));
    }
    Ok(())
}

/// The value with its references filled in; the error says which one leads nowhere.
pub(super) fn filled(known: &Known, value: Value) -> Result<Value, String> {
    match value {
        Value::String(text) => match parts(&text) {
            Some((name, path)) => match known.get(&name) {
                Some(detail) => found(detail, path).cloned().ok_or_else(|| {
                    let text = quoted(&text, 80);
                    format!("[{text}] leads nowhere: the `detail` of that step has no such field.")
                }),
                None => Ok(Value::String(text)),
            },
            None => Ok(Value::String(text)),
        },
        Value::Array(items) => items.into_iter().map(|item| filled(known, item)).collect(),
        Value::Object(map) => map.into_iter().map(|(key, item)| Ok((key, filled(known, item)?))).collect(),
        other => Ok(other),
    }
}

/// Name in small letters and path of what may be a reference.
fn parts(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix('@')?;
    let (name, path) = rest.split_once('.').unwrap_or((rest, ""));
    (!name.is_empty()).then(|| (name.to_lowercase(), path))
}

/// Fields and numbers of a list, one after the other.
fn found<'a>(detail: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(detail, |value, part| match value {
        Value::Object(map) => map.get(part),
        Value::Array(items) => part.parse::<usize>().ok().and_then(|at| items.get(at)),
        _ => None,
    })
}

/// The first text at any depth that is so.
fn first(value: &Value, is_so: &impl Fn(&str) -> bool) -> Option<String> {
    match value {
        Value::String(text) => is_so(text).then(|| text.clone()),
        Value::Array(items) => items.iter().find_map(|item| first(item, is_so)),
        Value::Object(map) => map.values().find_map(|item| first(item, is_so)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::super::call::Asked;
    use super::*;

    #[test]
    fn references_keep_types_at_any_depth_and_strangers_are_data() {
        let detail = json!({"id": 7, "sum": 1.5, "list": [1, {"x": null}], "more": {"yes": true}});
        let known = Known::from([("card".to_owned(), detail)]);
        let given = json!({
            "a": "@card.id", "b": ["@Card.sum", {"c": "@CARD.list.0"}], "d": "@card.list.1.x", "e": "@card.more",
            "f": "@other.id", "g": "@", "h": "a @card.id", "i": "irina@card.id", "j": "@.id", "@card.id": 1,
        });
        let wanted = json!({
            "a": 7, "b": [1.5, {"c": 1}], "d": null, "e": {"yes": true},
            "f": "@other.id", "g": "@", "h": "a @card.id", "i": "irina@card.id", "j": "@.id", "@card.id": 1,
        });
        assert_eq!(filled(&known, given), Ok(wanted));
        for bad in ["@card.none", "@card.list.2", "@card.list.x", "@card.id.x", "@card.list.-1"] {
            let words = filled(&known, json!({"deep": [bad]})).unwrap_err();
            assert!(words.starts_with(&format!("[{bad}] leads nowhere")), "{words}");
        }
    }

    #[test]
    fn a_reference_to_an_earlier_step_names_a_field() {
        let step = |name: &str, params: Value| Step {
            name: Some(name.to_owned()),
            into: None,
            asked: Asked {
                unit: "A".to_owned(),
                command: "CmdB".to_owned(),
                params: params.as_object().cloned().unwrap_or_else(Map::new),
                debug: false,
            },
        };
        for bad in ["@One", "@one.", "@one..a", "@one.a."] {
            let refused = check(&[step("one", json!({})), step("two", json!({"a": [bad]}))]).unwrap_err();
            assert_eq!(refused.name(), "reference_without_field", "{bad}");
        }
        // Neither a later step nor the step itself is known yet.
        assert!(check(&[step("one", json!({"a": "@two", "b": "@one"})), step("two", json!({}))]).is_ok());
    }
}
