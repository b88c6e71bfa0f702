//! Schemas of arguments and answers, and the check of arguments against them.

use schemars::JsonSchema;
use serde_json::Value;

/// Schema of a tool's arguments, in the form hosts accept.
pub fn input_schema<T: JsonSchema>() -> Value {
    serde_json::to_value(schemars::schema_for!(T)).unwrap_or_default()
}

/// Schema of a tool's data block.
pub fn output_schema<T: JsonSchema>() -> Value {
    input_schema::<T>()
}
