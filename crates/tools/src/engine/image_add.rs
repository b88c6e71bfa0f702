//! `engine_image_add`: a picture of a group of templates, new or in place of the one that is there.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::text::quoted;
use wire::{Stop, catalogue};

use super::file_tree::{Tree, is_plain};
use crate::{EngineCx, LocalContext, Right};

/// Largest picture, in bytes.
const LARGEST: u64 = 16 << 20;

crate::tool!("engine_image_add", right: Right::Command("AGENT_ENGINE_DEV_WRITE"), effect: Writes,
    refuses: [not_both, no_such_file, give_source, outside_store, config_closed, server_marker, not_an_image,
        image_there, a_folder, folder_not_found, plain_file_name],
    run: run, prepare: prepare);

/// Puts a picture into templates/<group>/images/.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// File in the store
    path: String,
    /// File on this computer
    content_source: Option<String>,
    /// Or the text of an svg
    content: Option<String>,
    /// true: in place of one that is there
    overwrite: Option<bool>,
}

/// What travels: the bytes in base64.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    path: String,
    base64: String,
    #[serde(default)]
    overwrite: bool,
}

/// The picture.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path.
    path: String,
    /// Its size.
    bytes: u64,
    /// Whether there was one before.
    replaced: bool,
    /// Its version.
    version: i64,
}

fn prepare(local: &LocalContext, args: Args) -> Result<Sent, Stop> {
    let bytes = match (args.content, args.content_source) {
        (Some(_), Some(_)) => return Err(catalogue::not_both("content", "content_source").into()),
        (None, None) => return Err(catalogue::give_source().into()),
        (Some(content), None) => content.into_bytes(),
        (None, Some(source)) => local.read_bytes(&source, LARGEST)?,
    };
    let base64 = BASE64_STANDARD.encode(bytes);
    Ok(Sent { path: args.path, base64, overwrite: args.overwrite.unwrap_or(false) })
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    let path = Tree::Images.file("path", &sent.path)?;
    if !is_plain(path.file_name()) {
        return Err(catalogue::plain_file_name(&quoted(path.file_name(), 80)).into());
    }
    let wrong = |_| catalogue::bad_request("`base64` is none");
    let bytes = BASE64_STANDARD.decode(&sent.base64).map_err(wrong)?;
    cx.hold_file(&path)?;
    let replaced = cx.has_file(&path)?;
    if replaced && !sent.overwrite {
        return Err(catalogue::image_there(&quoted(path.as_str(), 200)).into());
    }
    if cx.files.has_folder(cx.tx, &path)? {
        return Err(catalogue::a_folder(&quoted(path.as_str(), 200)).into());
    }
    Tree::Images.refuse_no_folder(cx, &path)?;
    let version = cx.save_file(&path, &bytes)?;
    Ok(Answer { path: path.as_str().to_owned(), bytes: bytes.len() as u64, replaced, version })
}
