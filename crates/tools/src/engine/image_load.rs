//! `engine_image_load`: a picture of a group of templates, as a file here and to be looked at.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Stop;

use super::content::file_name;
use super::file_tree::Tree;
use crate::{EngineCx, LocalContext, Picture, Presented, Right};

/// Largest picture that is shown besides, in bytes.
const SHOWN: u64 = 1 << 20;
/// Pictures that models can look at, by their endings.
const KINDS: [(&str, &str); 5] = [
    ("gif", "image/gif"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("png", "image/png"),
    ("webp", "image/webp"),
];

crate::tool!("engine_image_load", right: Right::Command("AGENT_ENGINE_DEV_READ"), effect: Reads,
    refuses: [outside_store, config_closed, server_marker, not_an_image, no_image, a_folder, not_written,
        folder_not_made],
    run: run, prepare: prepare, download: download, present: present);

/// Copies a picture of the templates to this computer and shows it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// File in the store
    path: String,
    /// File or folder on this computer
    output: Option<String>,
}

/// What the engine is asked for.
#[derive(Serialize, Deserialize)]
struct Sent {
    path: String,
}

/// The picture.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Its path in the store.
    path: String,
    /// The file on this computer.
    #[serde(default)]
    file: String,
    /// Its size.
    bytes: u64,
    /// Its type.
    mime: String,
}

fn prepare(_: &LocalContext, args: Args) -> Result<Sent, Stop> {
    let path = Tree::Images.file("path", &args.path)?;
    Ok(Sent { path: path.as_str().to_owned() })
}

fn download(local: &LocalContext, args: Args) -> Result<PathBuf, Stop> {
    let path = Tree::Images.file("path", &args.path)?;
    match args.output.filter(|output| !output.trim().is_empty()) {
        Some(output) => local.output_file(&output, path.file_name()),
        None => {
            let folder = local.conversation.join("files");
            local.output_file(&folder.join(file_name(path.as_str())).to_string_lossy(), path.file_name())
        }
    }
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    let path = Tree::Images.file("path", &sent.path)?;
    let Some(bytes) = cx.files.send(cx.tx, &path)? else {
        return Err(Tree::Images.missing(cx, &path)?);
    };
    let mime = mime(path.file_name()).to_owned();
    Ok(Answer { path: path.as_str().to_owned(), file: String::new(), bytes, mime })
}

/// The type that a name says.
fn mime(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    match KINDS.iter().find(|(known, _)| *known == ending) {
        Some((_, mime)) => mime,
        None if ending == "svg" => "image/svg+xml",
        None if ending == "ico" => "image/x-icon",
        None if ending == "avif" => "image/avif",
        None => "application/octet-stream",
    }
}

fn present(_: &LocalContext, _: Args, answer: Answer) -> Result<Presented, Stop> {
    let is_shown = answer.bytes <= SHOWN;
    let read = || wire::files::read_regular(Path::new(&answer.file), SHOWN).ok();
    let is_picture = KINDS.iter().any(|(_, mime)| *mime == answer.mime);
    let (mut text, mut picture) = (None, None);
    if is_shown && is_picture {
        picture =
            read().map(|bytes| Picture { mime: answer.mime.clone(), base64: BASE64_STANDARD.encode(bytes) });
    } else if is_shown && answer.mime == "image/svg+xml" {
        text = read().and_then(|bytes| String::from_utf8(bytes).ok());
    } else if is_picture {
        text = Some("It is too large to be shown here; the file has it.".to_owned());
    }
    Ok(Presented { text, picture, ..Presented::data(serde_json::to_value(answer)?) })
}
