//! Tests of the check of arguments.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::check_arguments;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "integer", "description": "Number of the note"},
            "name": {"type": "string"},
            "ids": {"type": "array", "items": {"type": "integer"}},
            "params": {"type": "object"},
            "deep": {
                "type": "object",
                "properties": {"way": {"enum": ["a", "b"]}},
                "required": ["way"],
                "additionalProperties": false
            },
            "share": {"type": "number", "minimum": 0, "maximum": 1},
            "sure": {"type": "boolean"},
            "any": {}
        },
        "required": ["id"],
        "additionalProperties": false
    })
}

fn check(arguments: Value) -> Result<Value, String> {
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    check_arguments(&schema(), arguments).map(Value::Object).map_err(|refusal| refusal.text())
}

#[test]
fn what_fits_passes_as_it_is() {
    let given = json!({"id": 1, "name": "x", "ids": [1, 2], "params": {"a": null}, "deep": {"way": "a"},
        "share": 0.5, "sure": true, "any": [1]});
    // What an object holds that takes any name is no parameter: `null` there is a value.
    assert_eq!(check(given.clone()), Ok(given));
}

#[test]
fn null_is_not_named() {
    assert_eq!(check(json!({"id": 1, "name": null})), Ok(json!({"id": 1})));
    assert_eq!(check(json!({"id": null})), Err("id is required. Number of the note.".to_owned()));
}

#[test]
fn unknown_parameter_lists_the_known_even_when_null() {
    for value in [json!(1), json!(null)] {
        let said = check(json!({"id": 1, "nmae": value})).unwrap_err();
        assert!(said.starts_with("Unknown parameter `nmae`. Known: `id`, `name`,"), "{said}");
    }
    let said = check(json!({"id": 1, "deep": {"way": "a", "wya": 1}})).unwrap_err();
    assert_eq!(said, "Unknown parameter `deep.wya`. Known: `way`.");
}

#[test]
fn json_in_a_string_is_parsed_where_only_a_list_or_object_fits() {
    let given = json!({"id": 1, "ids": "[1, 2]", "params": "{\"a\": 1}", "deep": "{\"way\":\"b\"}"});
    assert_eq!(check(given), Ok(json!({"id": 1, "ids": [1, 2], "params": {"a": 1}, "deep": {"way": "b"}})));
    assert_eq!(
        check(json!({"id": 1, "name": "[1]", "any": "[1]"})),
        Ok(json!({"id": 1, "name": "[1]", "any": "[1]"}))
    );
    assert!(check(json!({"id": 1, "ids": "{\"a\": 1}"})).is_err());
    assert!(check(json!({"id": 1, "ids": "1"})).is_err());
    assert!(check(json!({"id": 1, "ids": "[".repeat(100_000)})).is_err());
}

#[test]
fn wrong_kinds_say_what_is_wanted_and_what_came() {
    let cases = [
        (json!({"id": "1.5"}), "Wrong value for parameter `id`: wanted a whole number, got the text `1.5`."),
        (
            json!({"id": 9_223_372_036_854_775_808_u64}),
            "Wrong value for parameter `id`: wanted a whole number, got 9223372036854775808.",
        ),
        (json!({"id": 1.5}), "Wrong value for parameter `id`: wanted a whole number, got 1.5."),
        (json!({"id": 1, "name": 5}), "Wrong value for parameter `name`: wanted text, got 5."),
        (json!({"id": 1, "ids": 5}), "Wrong value for parameter `ids`: wanted a list, got 5."),
        (
            json!({"id": 1, "ids": [1, {}]}),
            "Wrong value for parameter `ids[1]`: wanted a whole number, got an object.",
        ),
        (
            json!({"id": 1, "sure": "yes"}),
            "Wrong value for parameter `sure`: wanted true or false, got the text `yes`.",
        ),
        (
            json!({"id": 1, "share": 2}),
            "Wrong value for parameter `share`: wanted a number from 0 up to 1, got 2.",
        ),
        (json!({"id": 1, "deep": {"way": "c"}}), "deep.way is one of `a`, `b`; got the text `c`."),
    ];
    for (given, said) in cases {
        assert_eq!(check(given), Err(said.to_owned()));
    }
}

#[test]
fn plain_numbers_and_truth_values_in_a_string_are_read() {
    assert_eq!(check(json!({"id": "99", "sure": "true"})), Ok(json!({"id": 99, "sure": true})));
    assert_eq!(check(json!({"id": "-1", "ids": ["7"]})), Ok(json!({"id": -1, "ids": [7]})));
    for odd in ["1.5", "", "1e3", "007", "+5", " 5", "5 ", "0x10", "٣", "-0", "99999999999999999999"] {
        assert!(check(json!({"id": odd})).is_err(), "{odd}");
    }
    for odd in ["True", "1", "yes", ""] {
        assert!(check(json!({"id": 1, "sure": odd})).is_err(), "{odd}");
    }
}

#[test]
fn a_whole_float_is_a_whole_number() {
    assert_eq!(check(json!({"id": 5.0})), Ok(json!({"id": 5})));
    assert!(check(json!({"id": 1e300})).is_err());
}

#[test]
fn huge_values_are_quoted_short() {
    let said = check(json!({"id": "я".repeat(5_000_000)})).unwrap_err();
    assert!(said.len() < 300, "{}", said.len());
    let mut arguments = Map::new();
    arguments.insert("x".repeat(1_000_000), json!(1));
    assert!(check(Value::Object(arguments)).unwrap_err().len() < 300);
}

/// Any JSON value, with the names of the schema among its keys.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        "[\\[\\]{}\":,0-9a-z ]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((name(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(vec!["id", "name", "ids", "params", "deep", "way", "share", "sure", "any"])
            .prop_map(str::to_owned),
        ".{0,6}",
        proptest::sample::select(vec![
            "type",
            "properties",
            "required",
            "items",
            "enum",
            "additionalProperties"
        ])
        .prop_map(str::to_owned),
    ]
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    proptest::collection::vec((name(), value()), 0..8).prop_map(|fields| fields.into_iter().collect())
}

proptest! {
    #[test]
    fn never_accepts_an_unknown_or_leaves_out_a_required(arguments in object()) {
        let schema = schema();
        let known = schema["properties"].as_object().unwrap();
        match check_arguments(&schema, arguments.clone()) {
            Ok(kept) => {
                prop_assert!(arguments.keys().all(|name| known.contains_key(name)));
                prop_assert!(kept.contains_key("id"));
                prop_assert!(kept.values().all(|value| !value.is_null()));
                prop_assert_eq!(check_arguments(&schema, kept.clone()).unwrap(), kept);
            }
            Err(refusal) => prop_assert!(refusal.text().len() < 2_000),
        }
    }

    #[test]
    fn any_schema_is_survived(schema in value(), arguments in object()) {
        let _ = check_arguments(&schema, arguments);
    }
}
