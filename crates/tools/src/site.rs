//! What a tool asks of the store's site, and what came back: the tool says both, the MCP server makes the visit.

use serde_json::{Map, Value};
use wire::{Stop, catalogue};

/// Fields of a form, in their order; a list is a name in brackets, more than once.
pub type FormFields = Vec<(String, String)>;

/// As whom a tool comes to the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteVisitor {
    /// Somebody who was never there: nothing is brought along, nothing is kept.
    Newcomer,
    /// A visitor who sends forms: cookies stay until the server ends.
    Customer,
    /// The person, with the proof of who they are; cookies of their own stay until the server ends.
    Person,
    /// The agent's own unit runs for the person. What it answers is final: no redirect is followed.
    Agent,
}

/// A visit that a tool asks for.
#[derive(Clone, Debug)]
pub struct SiteRequest {
    /// The address as the agent named it: from the store's root, or whole.
    pub url: String,
    /// The form that is sent; none is a plain look.
    pub form: Option<FormFields>,
    /// As whom.
    pub visitor: SiteVisitor,
    /// Whether the debugger looks on.
    pub is_debugged: bool,
}

/// What came back from the site. Its bytes are foreign, but hold neither proof nor debugger's code.
#[derive(Clone, Debug)]
pub struct SiteAnswer {
    /// Where the visit ended.
    pub url: String,
    /// Name for files of this address, without an ending; other addresses have other names.
    pub name: String,
    /// HTTP status.
    pub status: u16,
    /// Milliseconds it took.
    pub took: u64,
    /// The page.
    pub body: Vec<u8>,
    /// The debugger's report, where one was asked for and came.
    pub report: Option<Value>,
    /// Lines that units wrote to the log, told to people of the store only.
    pub log: Vec<String>,
    /// A redirect that was not followed, in words.
    pub stayed: Option<String>,
}

/// Fields of a form from what an agent names: texts, lists of texts. `parameter` and `takes` are for the refusal.
pub(crate) fn form_fields(
    parameter: &str,
    takes: &str,
    fields: &Map<String, Value>,
) -> Result<FormFields, Stop> {
    let mut form = FormFields::new();
    let refused = |name: &str| catalogue::field_not_flat(&wire::text::quoted(name, 60), parameter, takes);
    for (name, value) in fields {
        match value {
            Value::Array(items) => {
                for item in items {
                    let text = scalar(item).ok_or_else(|| refused(name))?;
                    form.push((format!("{name}[]"), text));
                }
            }
            value => form.push((name.clone(), scalar(value).ok_or_else(|| refused(name))?)),
        }
    }
    Ok(form)
}

/// A value as a form sends it; `None` where it is none.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_texts_and_lists_of_texts() {
        let fields = |value: Value| form_fields("post", "a value", value.as_object().unwrap());
        let field = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        assert_eq!(
            fields(json!({"a": 1, "b": [1.5, null, "x"], "c": null, "d": true, "e": []})).unwrap(),
            [
                field("a", "1"),
                field("b[]", "1.5"),
                field("b[]", ""),
                field("b[]", "x"),
                field("c", ""),
                field("d", "true")
            ]
        );
        for bad in [json!({"a": {}}), json!({"a": [[1]]}), json!({"a": [{"b": 1}]})] {
            let Err(Stop::Refused(refusal)) = fields(bad) else { panic!("taken") };
            assert!(refusal.text().starts_with("The field [a] of post takes a value"), "{}", refusal.text());
        }
    }
}
