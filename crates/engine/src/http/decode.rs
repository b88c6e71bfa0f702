//! From bytes to a request. Nobody is known yet here, so it may cost little, whatever the bytes are.

use db::tickets;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wire::{Request, Stop, catalogue};

use crate::app_state::AppState;
use crate::http::body::SMALL;
use crate::settings::Settings;

/// Most values, keys and lists of a request: each takes some hundred bytes when it is read, however short it is.
const MOST_PARTS: usize = 200_000;

/// What a large request is context before its parameters are read.
#[derive(Deserialize)]
struct Head {
    command: String,
    #[serde(default)]
    session: Option<String>,
}

/// Reads a request. The parameters of a large one are read only for somebody with a ticket.
///
/// A large one takes long enough to keep other requests waiting: it belongs into [`crate::blocking::blocking`].
pub(crate) fn read_request(
    state: &AppState,
    settings: &Settings,
    was_forwarded: bool,
    bytes: &[u8],
) -> Result<Request, Stop> {
    if has_too_many_parts(bytes) {
        let words = format!("the JSON has more than {MOST_PARTS} values");
        return Err(catalogue::bad_request(&words).into());
    }
    if bytes.len() > SMALL && !state.is_demo(settings, was_forwarded) {
        let Head { command, session } = parse(bytes)?;
        admit(state, &command, session.as_deref())?;
    }
    parse(bytes)
}

/// Whether a large request of this command and ticket is wanted.
pub(crate) fn admit(state: &AppState, command: &str, session: Option<&str>) -> Result<(), Stop> {
    if state.is_locked() {
        return Err(catalogue::shop_is_lock().into());
    }
    if command == Request::SIGN_IN || command == Request::PROGRAM_SIGN_IN {
        return Err(catalogue::bad_request("nobody signs in with so many bytes").into());
    }
    let hash = session.map(crate::gate::tickets::hash);
    let ticket = match &hash {
        Some(hash) => state.db.read(|tx| tickets::find(tx, hash))?,
        None => None,
    };
    if ticket.is_some() { Ok(()) } else { Err(catalogue::ticket_unknown().into()) }
}

/// Whether there are more commas, colons and opened brackets outside of texts than any request needs.
fn has_too_many_parts(bytes: &[u8]) -> bool {
    let (mut parts, mut is_text, mut is_escaped) = (0, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b',' | b':' | b'[' | b'{' if !is_text => parts += 1,
            _ => {}
        }
    }
    parts > MOST_PARTS
}

/// The message of a JSON error may quote a value, and a value may be a password: only the place is told.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Stop> {
    serde_json::from_slice(bytes).map_err(|error| {
        let what = match error.classify() {
            serde_json::error::Category::Data => "a field is missing or of the wrong kind",
            serde_json::error::Category::Eof => "the JSON ends too early",
            _ => "not JSON",
        };
        let words = format!("{what} (line {}, column {})", error.line(), error.column());
        catalogue::bad_request(&words).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_outside_of_texts_only() {
        let many = |what: &str| what.repeat(MOST_PARTS + 1);
        for text in [many(","), many("[").to_owned(), many("{\"\":"), format!("\"\\\"\"{}", many("0,"))] {
            assert!(has_too_many_parts(text.as_bytes()));
        }
        for text in
            [many(" "), format!("[\"{}\"]", many(",:[{")), format!("\"\\\"{}\"", many(",")), many("]}")]
        {
            assert!(!has_too_many_parts(text.as_bytes()));
        }
        assert!(!has_too_many_parts(",".repeat(MOST_PARTS).as_bytes()));
    }
}
