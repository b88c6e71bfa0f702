//! `engine_whole_load`: one file of the store byte for byte.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue, text::quoted};

use crate::{EngineCx, LocalContext, Presented, Right, StorePath};

crate::tool!("engine_whole_load", right: Right::Command("AGENT_ENGINE_DEV_READ"), effect: Reads,
    refuses: [path_and_output, outside_store, config_closed, server_marker, file_not_found, not_written,
        folder_not_made],
    run: run, prepare: prepare, download: download, present: present);

/// Copies one file of the store to this computer, byte for byte; logs too.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Path in the store
    path: Option<String>,
    /// File or folder on this computer
    output: Option<String>,
}

/// What the engine is asked for.
#[derive(Serialize, Deserialize)]
struct Sent {
    path: String,
}

/// The file.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path in the store.
    path: String,
    /// The file on this computer.
    #[serde(default)]
    file: String,
    /// Its size.
    bytes: u64,
}

/// Both parameters.
fn named(args: Args) -> Result<(StorePath, String), Stop> {
    match (args.path, args.output) {
        (Some(path), Some(output)) if !path.is_empty() && !output.trim().is_empty() => {
            Ok((StorePath::parse("path", &path)?, output))
        }
        _ => Err(catalogue::path_and_output().into()),
    }
}

fn prepare(_: &LocalContext, args: Args) -> Result<Sent, Stop> {
    let (path, _) = named(args)?;
    Ok(Sent { path: path.as_str().to_owned() })
}

fn download(local: &LocalContext, args: Args) -> Result<PathBuf, Stop> {
    let (path, output) = named(args)?;
    local.output_file(&output, path.file_name())
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    let path = StorePath::parse("path", &sent.path)?;
    let bytes = cx.files.send(cx.tx, &path)?;
    let bytes = bytes.ok_or_else(|| catalogue::file_not_found(&quoted(path.as_str(), 200)))?;
    Ok(Answer { path: path.as_str().to_owned(), file: String::new(), bytes })
}

fn present(_: &LocalContext, _: Args, answer: Answer) -> Result<Presented, Stop> {
    Ok(Presented::data(serde_json::to_value(answer)?))
}
