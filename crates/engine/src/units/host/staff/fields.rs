//! The named fields of a change: each is checked and becomes a column; what is not named stays as it is.

use db::{Tx, Value, rows};
use serde_json::{Map, Value as Json};
use shop::text::is_gtin;
use wire::text::quoted;

use crate::shopping::staff::{StaffDone, StaffError};
use crate::units::clean_html;

/// What a field may hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// A text that says something, of at most so many letters.
    Name(usize),
    /// A text, of at most so many letters.
    Text(usize),
    /// A text, or null.
    TextOrNull(usize),
    /// HTML, which is cleaned.
    Html,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number that is at least so large.
    Int(i64),
    /// Such a number, or null.
    IntOrNull(i64),
    /// True or false.
    Truth,
    /// The number of a row of this table that is there.
    Row(&'static str),
    /// Such a number, or null.
    RowOrNull(&'static str),
    /// A GTIN, or null.
    Gtin,
}

/// A field: its name, its column, what it may hold.
pub(super) type Field = (&'static str, &'static str, Form);

/// The columns of what is named. A field that is neither among them nor read otherwise is refused.
pub(super) fn columns(
    tx: &mut Tx,
    given: &Map<String, Json>,
    fields: &[Field],
    others: &[&str],
) -> StaffDone<Vec<(&'static str, Value)>> {
    let is_known = |name: &str| fields.iter().any(|(field, _, _)| *field == name) || others.contains(&name);
    if let Some(name) = given.keys().find(|name| !is_known(name)) {
        return Err(wrong(format!("there is no field `{}` here", quoted(name, 60))));
    }
    let mut found = Vec::new();
    for (name, column, form) in fields {
        if let Some(value) = given.get(*name) {
            found.push((*column, value_of(tx, name, *form, value)?));
        }
    }
    Ok(found)
}

/// Something that the rules do not allow, in words.
pub(super) fn wrong(words: impl Into<String>) -> StaffError {
    StaffError::Wrong(words.into())
}

/// A number that is named.
pub(super) fn int(given: &Map<String, Json>, name: &str) -> StaffDone<Option<i64>> {
    match given.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => whole(value).map(Some).ok_or_else(|| wrong(format!("`{name}` is a whole number"))),
    }
}

/// A text that is named.
pub(super) fn text<'a>(given: &'a Map<String, Json>, name: &str) -> StaffDone<Option<&'a str>> {
    match given.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(format!("`{name}` is a text"))),
    }
}

/// A list of numbers of rows that are there.
pub(super) fn ids(
    tx: &mut Tx,
    given: &Map<String, Json>,
    name: &str,
    table: &'static str,
) -> StaffDone<Option<Vec<i64>>> {
    let Some(value) = given.get(name) else { return Ok(None) };
    let list = || wrong(format!("`{name}` is a list of numbers"));
    let items = value.as_array().ok_or_else(list)?;
    let mut found = Vec::new();
    for item in items {
        let id = whole(item).ok_or_else(list)?;
        is_there(tx, name, table, id)?;
        if !found.contains(&id) {
            found.push(id);
        }
    }
    Ok(Some(found))
}

/// An address within the shop: parts with `/` between them.
pub(super) fn path(given: &Map<String, Json>) -> StaffDone<Option<&str>> {
    let Some(path) = text(given, "path")? else { return Ok(None) };
    let is_part =
        |letter: char| letter.is_control() || letter.is_whitespace() || "\\?#%<>\"".contains(letter);
    let is_whole = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    if path.len() > 200 || path.chars().any(is_part) || !is_whole {
        return Err(wrong(format!("`{}` is no address: write it like tea/green", quoted(path, 80))));
    }
    Ok(Some(path))
}

fn value_of(tx: &mut Tx, name: &str, form: Form, value: &Json) -> StaffDone<Value> {
    let must = |what: String| Err(wrong(format!("`{name}` is {what}")));
    Ok(match form {
        Form::TextOrNull(_) | Form::IntOrNull(_) | Form::RowOrNull(_) | Form::Gtin if value.is_null() => {
            Value::Null
        }
        Form::Name(most) => match value.as_str().map(str::trim) {
            Some(text) if !text.is_empty() && text.chars().count() <= most => text.into(),
            _ => return must(format!("a text of 1 to {most} letters")),
        },
        Form::Text(most) | Form::TextOrNull(most) => match value.as_str() {
            Some(text) if text.chars().count() <= most => text.into(),
            _ => return must(format!("a text of at most {most} letters")),
        },
        Form::Html => match value.as_str() {
            Some(text) if text.len() <= 1 << 20 => clean_html(text).into(),
            _ => return must("a text of at most a megabyte".to_owned()),
        },
        Form::Word(words) => match value.as_str().filter(|word| words.contains(word)) {
            Some(word) => word.into(),
            None => return must(format!("one of {}", words.join(", "))),
        },
        Form::Int(least) | Form::IntOrNull(least) => match whole(value).filter(|it| *it >= least) {
            Some(number) => number.into(),
            None => return must(format!("a whole number of at least {least}")),
        },
        Form::Truth => match value.as_bool() {
            Some(truth) => truth.into(),
            None => return must("true or false".to_owned()),
        },
        Form::Row(table) | Form::RowOrNull(table) => match whole(value) {
            Some(id) => {
                is_there(tx, name, table, id)?;
                id.into()
            }
            None => return must("the number of a row".to_owned()),
        },
        Form::Gtin => match value.as_str().filter(|code| is_gtin(code)) {
            Some(code) => code.into(),
            None => return must("a GTIN: 8, 12, 13 or 14 digits with the right last one".to_owned()),
        },
    })
}

fn is_there(tx: &mut Tx, name: &str, table: &'static str, id: i64) -> StaffDone<()> {
    if rows::is_there(tx, table, id)? {
        Ok(())
    } else {
        Err(wrong(format!("`{name}`: {table} has no row {id}")))
    }
}

fn whole(value: &Json) -> Option<i64> {
    value.as_i64().or_else(|| {
        value
            .as_f64()
            .filter(|number| number.fract() == 0.0 && number.abs() < 9e15)
            .map(|number| number as i64)
    })
}
