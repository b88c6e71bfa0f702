//! Fields of the store's own AI tools: what a field of each type accepts, and what the unit gets for it.

use jiff::civil::Date;
use serde_json::{Map, Value};

/// Largest whole number that is still exact as a number with a fraction.
const EXACT: i64 = 9_007_199_254_740_992;
/// Longest piece of a foreign value that a refusal repeats.
const QUOTE: usize = 80;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One text.
    Str,
    /// One whole number.
    Int,
    /// One number.
    Float,
    /// Yes or no.
    Bool,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A day with an optional time.
    DateTime,
    /// A list or an object, as it is.
    Json,
    /// A list of objects.
    Rows,
    /// Attachments of the call.
    Files,
}

/// A field's type as the registry writes it: `int`, or `int/json` for one or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldType {
    /// What one value is.
    pub kind: Kind,
    /// Whether the unit gets a list of them.
    pub is_list: bool,
}

/// A field as it is declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Type, as the registry writes it.
    pub kind: String,
    /// Whether a call must name it.
    pub required: bool,
    /// The value where a call does not name it, as JSON.
    pub default: Option<String>,
    /// Description.
    pub descr: String,
}

/// Why the fields of a call are not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A field that the command does not have.
    Unknown(String),
    /// A required field is not named.
    Missing {
        /// The field.
        name: String,
        /// Its description.
        descr: String,
    },
    /// A value is not of the field's type.
    Wrong {
        /// The field.
        name: String,
        /// Its type.
        kind: String,
        /// What the type accepts, in words.
        wanted: &'static str,
        /// The value, in a few words.
        got: String,
    },
    /// Attachments travel beside the fields.
    Attachment(String),
    /// The registry declares something that no call can mend.
    Declared {
        /// The field.
        name: String,
        /// What is wrong.
        why: String,
    },
}

impl Field {
    /// Whether it stands for attachments.
    pub fn is_files(&self) -> bool {
        FieldType::parse(&self.kind).is_some_and(|kind| kind.kind == Kind::Files)
    }
}

impl FieldType {
    /// Reads a type; `None` is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, is_list) = text.strip_suffix("/json").map_or((text, false), |kind| (kind, true));
        let kind = match kind {
            "str" => Kind::Str,
            "int" => Kind::Int,
            "float" => Kind::Float,
            "bool" => Kind::Bool,
            "date" => Kind::Date,
            "time" => Kind::Time,
            "datetime" => Kind::DateTime,
            "json" => Kind::Json,
            "jsonl" => Kind::Rows,
            "files" => Kind::Files,
            _ => return None,
        };
        let is_scalar = !matches!(kind, Kind::Json | Kind::Rows | Kind::Files);
        (is_scalar || !is_list).then_some(Self { kind, is_list })
    }

    /// What the unit gets for a value; the error is what the type accepts, in words.
    pub fn taken(self, value: Value) -> Result<Value, &'static str> {
        if !self.is_list {
            return one(self.kind, value).ok_or(accepts(self.kind));
        }
        let items = match value {
            Value::Array(items) if items.is_empty() => return Err(list_of(self.kind)),
            Value::Array(items) => items,
            value => vec![value],
        };
        let taken: Option<Vec<Value>> = items.into_iter().map(|item| one(self.kind, item)).collect();
        taken.map(Value::Array).ok_or(list_of(self.kind))
    }
}

/// The fields of a call as the unit gets them: unknown ones first, then missing ones, then those of another type,
/// then what is not named and has a default.
pub fn taken(fields: &[Field], mut given: Map<String, Value>) -> Result<Map<String, Value>, Mistake> {
    given.retain(|_, value| !value.is_null());
    if let Some(name) = given.keys().find(|name| !fields.iter().any(|field| field.name == **name)) {
        return Err(Mistake::Unknown(short(name)));
    }
    let is_missing = |field: &&Field| field.required && !given.contains_key(&field.name) && !field.is_files();
    if let Some(field) = fields.iter().find(is_missing) {
        return Err(Mistake::Missing { name: field.name.clone(), descr: field.descr.clone() });
    }
    let mut kept = Map::new();
    for field in fields {
        if let Some(value) = given.remove(&field.name) {
            kept.insert(field.name.clone(), named(field, value)?);
        }
    }
    for field in fields.iter().filter(|field| !field.is_files()) {
        if let (false, Some(value)) = (kept.contains_key(&field.name), default(field)?) {
            kept.insert(field.name.clone(), value);
        }
    }
    Ok(kept)
}

fn declared(field: &Field) -> Result<FieldType, Mistake> {
    FieldType::parse(&field.kind).ok_or_else(|| Mistake::Declared {
        name: field.name.clone(),
        why: format!("its type [{}] is none", short(&field.kind)),
    })
}

fn named(field: &Field, value: Value) -> Result<Value, Mistake> {
    let kind = declared(field)?;
    if kind.kind == Kind::Files {
        return Err(Mistake::Attachment(field.name.clone()));
    }
    let got = told(&value);
    kind.taken(value).map_err(|wanted| Mistake::Wrong {
        name: field.name.clone(),
        kind: field.kind.clone(),
        wanted,
        got,
    })
}

fn default(field: &Field) -> Result<Option<Value>, Mistake> {
    let Some(text) = field.default.as_deref().filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    let kind = declared(field)?;
    let value = match serde_json::from_str::<Value>(text) {
        Ok(Value::Null) => return Ok(None),
        Ok(value) => kind.taken(value).ok(),
        Err(_) => None,
    };
    value.map(Some).ok_or_else(|| Mistake::Declared {
        name: field.name.clone(),
        why: format!("its default [{}] is not of its type [{}]", short(text), field.kind),
    })
}

/// One value as the unit gets it.
fn one(kind: Kind, value: Value) -> Option<Value> {
    match kind {
        Kind::Str => text(value).map(Value::String),
        Kind::Int => int(&value).map(Value::from),
        Kind::Float => float(&value),
        Kind::Bool => truth(&value).map(Value::Bool),
        Kind::Date => value.as_str().and_then(day).map(Value::String),
        Kind::Time => value.as_str().and_then(time).map(Value::String),
        Kind::DateTime => value.as_str().and_then(day_and_time).map(Value::String),
        Kind::Json => ((value.is_array() || value.is_object()) && is_storable(&value)).then_some(value),
        Kind::Rows => {
            let is_rows = value.as_array().is_some_and(|rows| rows.iter().all(Value::is_object));
            (is_rows && is_storable(&value)).then_some(value)
        }
        Kind::Files => None,
    }
}

/// PostgreSQL keeps the zero character in no text.
fn is_storable(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains('\0'),
        Value::Array(items) => items.iter().all(is_storable),
        Value::Object(map) => map.iter().all(|(name, item)| !name.contains('\0') && is_storable(item)),
        _ => true,
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => (!text.contains('\0')).then_some(text),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Some(whole),
            // `5.0` and `-0` are whole numbers; beyond this a spelling with a point is not exact.
            (None, Some(real)) if number.is_f64() && real.fract() == 0.0 && real.abs() <= EXACT as f64 => {
                Some(real as i64)
            }
            _ => None,
        },
        Value::String(text) => spelled(text),
        _ => None,
    }
}

/// A whole number in its plain spelling: no sign but `-`, no zeros in front, no spaces.
fn spelled(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// A number with a fraction, also where it was written without: the unit gets numbers of one kind.
fn float(value: &Value) -> Option<Value> {
    let Value::Number(number) = value else { return None };
    let is_exact = match (number.as_i64(), number.is_f64()) {
        (Some(whole), _) => whole.unsigned_abs() <= EXACT.unsigned_abs(),
        (None, is_real) => is_real,
    };
    number.as_f64().filter(|real| is_exact && real.is_finite()).map(Value::from)
}

fn truth(value: &Value) -> Option<bool> {
    let word = match value {
        Value::Bool(truth) => return Some(*truth),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.to_ascii_lowercase(),
        _ => return None,
    };
    match word.as_str() {
        "true" | "yes" | "1" | "on" => Some(true),
        "false" | "no" | "0" | "off" => Some(false),
        _ => None,
    }
}

/// `YYYY-MM-DD`, if the calendar has that day.
fn day(text: &str) -> Option<String> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return None };
    let number = |digits: &[u8]| {
        digits
            .iter()
            .try_fold(0_i16, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i16::from(digit - b'0')))
    };
    let year = number(&[*y1, *y2, *y3, *y4]).filter(|year| *year > 0)?;
    let month = i8::try_from(number(&[*m1, *m2])?).ok()?;
    let of_month = i8::try_from(number(&[*d1, *d2])?).ok()?;
    Date::new(year, month, of_month).ok()?;
    Some(text.to_owned())
}

/// `HH:MM` or `HH:MM:SS`, told with seconds.
fn time(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split(':').collect();
    let is_part = |part: &str, most: u8| {
        part.len() == 2
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u8>().is_ok_and(|part| part <= most)
    };
    match parts.as_slice() {
        [hour, minute] if is_part(hour, 23) && is_part(minute, 59) => Some(format!("{text}:00")),
        [hour, minute, second] if is_part(hour, 23) && is_part(minute, 59) && is_part(second, 59) => {
            Some(text.to_owned())
        }
        _ => None,
    }
}

/// A day with an optional time behind a space or `T`; without one it is midnight.
fn day_and_time(text: &str) -> Option<String> {
    let Some((date, clock)) = text.split_once([' ', 'T']) else {
        return day(text).map(|day| format!("{day} 00:00:00"));
    };
    Some(format!("{} {}", day(date)?, time(clock)?))
}

/// What a type accepts, in words.
fn accepts(kind: Kind) -> &'static str {
    match kind {
        Kind::Str => "one text, number or truth value, without the zero character",
        Kind::Int => "a whole number, or its plain spelling in a text",
        Kind::Float => "a number that is exact as one with a fraction",
        Kind::Bool => "true or false, yes or no, 1 or 0, on or off",
        Kind::Date => "a day of the calendar as YYYY-MM-DD",
        Kind::Time => "a time of day as HH:MM or HH:MM:SS",
        Kind::DateTime => "a day of the calendar as YYYY-MM-DD, with an optional time HH:MM or HH:MM:SS",
        Kind::Json => "a list or an object, without the zero character in its texts",
        Kind::Rows => "a list of objects, without the zero character in their texts",
        Kind::Files => "attachments of the call",
    }
}

/// What a type with `/json` accepts, in words.
fn list_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Str => "one text or a list of at least one, each a text, number or truth value",
        Kind::Int => "one whole number or a list of at least one",
        Kind::Float => "one number or a list of at least one",
        Kind::Bool => "one truth value or a list of at least one",
        Kind::Date => "one day as YYYY-MM-DD or a list of at least one",
        Kind::Time => "one time of day as HH:MM or HH:MM:SS or a list of at least one",
        Kind::DateTime => "one day with an optional time or a list of at least one",
        other => accepts(other),
    }
}

/// A foreign value in a few words.
fn told(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text `{}`", short(text)),
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        other => format!("`{}`", short(&other.to_string())),
    }
}

fn short(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let kept: String = text.chars().take(QUOTE).map(plain).collect();
    if text.chars().nth(QUOTE).is_some() { format!("{kept}…") } else { kept }
}

#[cfg(test)]
mod tests;
