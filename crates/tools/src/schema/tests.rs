//! Tests of the schemas' form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{input_schema, output_schema};

/// Does a thing
/// over two lines.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Number.
    id: i64,
    /// Word.
    name: Option<String>,
    /// Way.
    way: Option<Way>,
    /// Steps.
    steps: Option<Vec<Step>>,
    /// Anything.
    value: Option<Value>,
    /// Left out where empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    rest: Option<String>,
    #[serde(default)]
    many: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Way {
    /// There.
    There,
    /// And back.
    Back,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Step {
    count: Option<u32>,
    rows: Vec<Vec<Value>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Empty {}

#[test]
fn arguments_are_inlined_closed_and_without_null() {
    let schema = input_schema::<Args>();
    assert_eq!(schema["description"], "Does a thing over two lines.");
    assert_eq!(schema["properties"]["name"], json!({"description": "Word.", "type": "string"}));
    assert_eq!(
        schema["properties"]["way"],
        json!({"description": "Way.", "type": "string", "enum": ["there", "back"]})
    );
    assert_eq!(schema["properties"]["value"], json!({"description": "Anything."}));
    assert_eq!(schema["properties"]["steps"]["items"]["properties"]["count"]["type"], "integer");
    assert_eq!(schema["required"], json!(["id"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    let text = schema.to_string();
    for absent in ["$ref", "$defs", "$schema", "title", "null", "oneOf", "anyOf", "format", "int64"] {
        assert!(!text.contains(absent), "{absent} is in {text}");
    }
}

#[test]
fn no_arguments_are_an_empty_closed_object() {
    assert_eq!(
        input_schema::<Empty>(),
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    );
}

#[test]
fn answers_keep_null_and_stay_open() {
    let schema = output_schema::<Args>();
    assert_eq!(schema["properties"]["name"]["type"], json!(["string", "null"]));
    assert_eq!(schema["properties"]["way"]["enum"], json!(["there", "back", null]));
    assert_eq!(schema["properties"]["rest"]["type"], "string");
    assert!(schema.get("additionalProperties").is_none());
}
