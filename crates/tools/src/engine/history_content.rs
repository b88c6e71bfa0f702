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

/// Shows what a file was at a version.
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
    /// File with the body, where it is too long for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The body, on its way to the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    body: Option<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let version = file_versions::find(cx.tx, args.id)?.filter(|version| is_open(&version.path));
    let version = version.ok_or_else(|| catalogue::version_not_found(args.id))?;
    let body = match &version.hash {
        Some(hash) => Some(String::from_utf8_lossy(&cx.files.content(hash)?).into_owned()),
        None => None,
    };
    Ok(Answer {
        id: version.id,
        path: version.path,
        time: seconds(version.time),
        user: version.user,
        removed: body.is_none(),
        file: None,
        body,
    })
}

fn present(local: &LocalContext, _: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let body = answer.body.take().unwrap_or_default();
    let name = format!("{}.{}", answer.id, answer.path);
    content::shown(local, serde_json::to_value(answer)?, &name, body)
}
