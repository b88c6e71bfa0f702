//! `engine_history_list`: versions of a file.

use db::file_versions::{self, Version};
use db::seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::{Stop, catalogue};

use crate::{EngineCx, LocalContext, Presented, Right, StorePath, Table};

/// Most versions that are listed.
const MOST: u32 = 1000;

crate::tool!("engine_history_list", right: Right::Command("AGENT_ENGINE_DEV_READ"), effect: Reads,
    refuses: [outside_store, config_closed, server_marker, no_project_file],
    run: run, present: present);

/// Lists the versions of a file, a removed one's too, newest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// From the store's root
    path: String,
}

/// Versions of a file.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// The file.
    path: String,
    /// `id`, `time` (UTC), `user` (empty: changed on the server's disk), `application`, `tool`, `size` (empty: removed local), `moved_from` (the path before a rename).
    versions: Table,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let path = StorePath::parse("path", &args.path)?;
    let versions = file_versions::list(cx.tx, path.as_str(), MOST)?;
    if versions.is_empty() && !cx.has_file(&path)? {
        return Err(catalogue::no_project_file(&wire::text::quoted(path.as_str(), 200)).into());
    }
    let columns = ["id", "time", "user", "application", "tool", "size", "moved_from"];
    let versions = Table::new(columns, versions.into_iter().map(row));
    Ok(Answer { path: path.as_str().to_owned(), versions })
}

fn row(version: Version) -> [Value; 7] {
    [
        version.id.into(),
        seconds(version.time).into(),
        version.user.into(),
        version.application.into(),
        version.tool.into(),
        version.hash.map(|_| version.size).into(),
        version.moved_from.into(),
    ]
}

fn present(_: &LocalContext, _: Args, answer: Answer) -> Result<Presented, Stop> {
    let is_empty = answer.versions.rows.is_empty();
    let text = is_empty.then(|| "The file exists but has no saved versions yet.".to_owned());
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}
