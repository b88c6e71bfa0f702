//! Texts for columns: as both databases keep them, and as long as they may be.

use std::borrow::Cow;

use wire::{Refusal, catalogue};

/// Without the zero character, which PostgreSQL keeps in no text.
pub(crate) fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "").into() } else { text.into() }
}

/// Refuses what has more characters than its field takes.
pub(crate) fn short(field: &str, value: &str, most: usize) -> Result<(), Refusal> {
    match value.chars().count() {
        got if got > most => Err(catalogue::too_long(field, most, got)),
        _ => Ok(()),
    }
}

/// A line of a field, without space around it.
pub(crate) fn line(field: &str, value: &str, most: usize) -> Result<String, Refusal> {
    let value = storable(value).trim().to_owned();
    short(field, &value, most).map(|()| value)
}
