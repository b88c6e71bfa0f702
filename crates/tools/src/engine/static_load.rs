//! `engine_static_load`: a static file or a log as text, with the bundles it is in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::text::quoted;
use wire::{Stop, catalogue};

use super::bundles::{self, Bundled};
use super::content;
use super::file_tree::Tree;
use crate::{EngineCx, LocalContext, Presented, Right, StorePath};

/// Most of a log that is shown, in bytes: its end.
const LOG: usize = 1 << 20;

crate::tool!("engine_static_load", right: Right::Command("AGENT_ENGINE_DEV_READ"), effect: Reads,
    refuses: [outside_store, config_closed, server_marker, not_a_static, file_not_found, not_utf8],
    run: run, present: present);

/// Loads a static file or a log (core/log/…) as text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// File
    path: String,
}

/// A file; its body is the text.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path.
    path: String,
    /// Its version: what a save names in `base`.
    version: i64,
    /// `parameters` and `description` of its place in bundles; null where it is in none.
    bundle: Option<Bundled>,
    /// File with the body, where it is too long for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The body, on its way to the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    body: Option<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let path = StorePath::parse("path", &args.path)?;
    let is_log = path.as_str().starts_with("core/log/");
    if !is_log && !Tree::Statics.has(&path) && !bundles::is_built(&path) {
        return Err(catalogue::not_a_static(&quoted(path.as_str(), 200)).into());
    }
    let file = cx.loaded_file(&path)?;
    let body = if is_log { end_of_log(&file.bytes) } else { String::from_utf8(file.bytes).ok() };
    let Some(body) = body else { return Err(catalogue::not_utf8(&quoted(path.as_str(), 200)).into()) };
    let bundle = bundles::of(cx, &path)?;
    let path = path.as_str().to_owned();
    Ok(Answer { path, version: file.version, bundle, file: None, body: Some(body) })
}

/// A log's end, from the beginning of a line on; what is no text in it is marked as such.
fn end_of_log(bytes: &[u8]) -> Option<String> {
    let Some(from) = bytes.len().checked_sub(LOG).filter(|from| *from > 0) else {
        return Some(String::from_utf8_lossy(bytes).into_owned());
    };
    let end = bytes.get(from..)?;
    let line = end.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let text = String::from_utf8_lossy(end.get(line..)?);
    Some(format!("=== TRUNCATED: showing the last 1 MB of {} MB\n{text}", bytes.len() >> 20))
}

fn present(local: &LocalContext, _: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let body = answer.body.take().unwrap_or_default();
    let path = answer.path.clone();
    content::shown(local, serde_json::to_value(answer)?, &path, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_is_shown_from_its_end() {
        assert_eq!(end_of_log(b"a\n\xff\n").as_deref(), Some("a\n\u{fffd}\n"));
        let long = "line of a log\n".repeat(200_000);
        let shown = end_of_log(long.as_bytes()).unwrap();
        assert!(shown.starts_with("=== TRUNCATED: showing the last 1 MB of 2 MB\nline of a log\n"));
        assert!(shown.len() <= LOG + 100 && shown.ends_with("line of a log\n"));
    }
}
