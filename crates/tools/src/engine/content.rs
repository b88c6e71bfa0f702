//! What the tools for files share on this computer: where new content comes from, and how a body is shown.

use serde_json::Value;
use wire::Stop;

use crate::inline::Room;
use crate::{LocalContext, Presented};

/// Most characters of a file that are read for the store.
const CONTENT_MOST: usize = 4_000_000;

/// The new content, named itself or by a file of this computer; `None` where neither is.
pub(crate) fn given(
    local: &LocalContext,
    content: Option<String>,
    source: Option<String>,
) -> Result<Option<String>, Stop> {
    local.text_or_file("content", content, source, CONTENT_MOST)
}

/// Data with a body as the text behind it. A body that is too long for an answer becomes a file, with its beginning
/// as the text and `file` among the data; no text is shown for an empty one.
pub(crate) fn shown(
    local: &LocalContext,
    mut data: Value,
    path: &str,
    body: String,
) -> Result<Presented, Stop> {
    if local.room.holds(&body) {
        return Ok(Presented { text: (!body.is_empty()).then_some(body), ..Presented::data(data) });
    }
    let file = local.write(local.conversation.join("files"), &file_name(path), body.as_bytes())?;
    data["file"] = file.to_string_lossy().into();
    let head = Room::HEAD.beginning(&body);
    let text = format!("{head}\n… (the beginning; the whole is in `file`)");
    Ok(Presented { text: Some(text), ..Presented::data(data) })
}

/// `templates/default/units/home/main.htm` as one plain name.
pub(crate) fn file_name(path: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_');
    path.chars().map(|letter| if plain(letter) { letter } else { '_' }).collect()
}
