//! `engine_history_content`: what a file was at a version.

use db::file_versions;
use db::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue};

use super::content;
use crate::{EngineCx, LocalContext, Presented, Right, is_open};

crate::tool!("engine_history_content", right: Right::Command("AGENT_ENGINE_DEV_READ"), effect: Reads,
    refuses: [version_not_found],
    run: run, present: present);

/// Shows what a file was at a version; what is no text is named with its size.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// take it from engine_history_list
    id: i64,
}

/// A version; its body is the text.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Number of the version.
    id: i64,
    /// The file.
    path: String,
    /// When it was saved, in UTC.
    time: String,
    /// Who saved it; empty: it was changed on the server's disk.
    user: String,
    /// Whether the file was removed by this version.
    removed: bool,
    /// File with the body, where it is too long for an answer or no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The body, on its way to the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    body: Option<String>,
    /// What the body is that is no text: kind and size in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    no_text: Option<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let version = file_versions::find(cx.tx, args.id)?.filter(|version| is_open(&version.path));
    let version = version.ok_or_else(|| catalogue::version_not_found(args.id))?;
    let content = version.hash.as_deref().map(|hash| cx.files.content(hash)).transpose()?;
    let removed = content.is_none();
    let (body, no_text) = match content.map(String::from_utf8) {
        None => (None, None),
        Some(Ok(text)) => (Some(text), None),
        Some(Err(bytes)) => {
            let bytes = bytes.as_bytes();
            (None, Some(format!("{} of {} bytes", kind(bytes), bytes.len())))
        }
    };
    Ok(Answer {
        id: version.id,
        path: version.path,
        time: seconds(version.time),
        user: version.user,
        removed,
        file: None,
        body,
        no_text,
    })
}

/// What bytes are by how they begin.
fn kind(bytes: &[u8]) -> &'static str {
    const BEGINNINGS: [(&[u8], &str); 9] = [
        (b"\x89PNG\r\n\x1a\n", "A PNG picture"),
        (b"\xff\xd8\xff", "A JPEG picture"),
        (b"GIF8", "A GIF picture"),
        (b"\0\0\x01\0", "An icon"),
        (b"wOF2", "A WOFF2 font"),
        (b"wOFF", "A WOFF font"),
        (b"%PDF-", "A PDF document"),
        (b"PK\x03\x04", "A ZIP archive"),
        (b"\x1f\x8b", "A gzip archive"),
    ];
    let inside = |at: usize, wanted: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(wanted));
    match BEGINNINGS.iter().find(|(beginning, _)| bytes.starts_with(beginning)) {
        Some((_, kind)) => kind,
        None if inside(0, b"RIFF") && inside(8, b"WEBP") => "A WebP picture",
        None if inside(4, b"ftypavif") => "An AVIF picture",
        None => "A file that is no text,",
    }
}

fn present(local: &LocalContext, _: Args, mut answer: Answer) -> Result<Presented, Stop> {
    if let Some(what) = answer.no_text.take() {
        let text = format!(
            "{what}: `engine_history_restore` brings it back, `engine_whole_load` copies the file as it is now."
        );
        return Ok(Presented { text: Some(text), ..Presented::data(serde_json::to_value(answer)?) });
    }
    let body = answer.body.take().unwrap_or_default();
    let name = format!("{}.{}", answer.id, answer.path);
    content::shown(local, serde_json::to_value(answer)?, &name, body)
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn what_is_no_text_is_known_by_its_beginning() {
        for (bytes, wanted) in [
            (b"\x89PNG\r\n\x1a\n\0".as_slice(), "A PNG picture"),
            (b"RIFF\xff\0\0\0WEBPVP8 ", "A WebP picture"),
            (b"\0\0\0\x20ftypavif", "An AVIF picture"),
            (b"\xff", "A file that is no text,"),
        ] {
            assert_eq!(kind(bytes), wanted);
        }
    }
}
