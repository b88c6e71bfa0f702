//! Groups of templates: folders below `templates/`.

use wire::text::quoted;
use wire::{Refusal, Stop, catalogue};

use super::file_tree::is_plain_folder;
use crate::{EngineCx, StorePath};

/// The group that others fall back to.
const FALLBACK: &str = "default";

fn folder(name: &str) -> Option<StorePath> {
    // Names of devices are none of a folder, on some systems.
    let path = StorePath::parse("template", &format!("templates/{name}")).ok()?;
    is_plain_folder(name).then_some(path)
}

/// The folder of the group that the parameter `template` names.
pub(crate) fn named(name: &str) -> Result<StorePath, Refusal> {
    folder(name).ok_or_else(|| catalogue::group_name(&quoted(name, 80)))
}

/// The folder of the group that the parameter `new_template` names.
pub(crate) fn named_anew(name: &str) -> Result<StorePath, Refusal> {
    folder(name).ok_or_else(|| catalogue::group_new_name(&quoted(name, 80)))
}

/// Refuses a group that is not there.
pub(crate) fn refuse_missing(cx: &mut EngineCx<'_>, path: &StorePath) -> Result<(), Stop> {
    if cx.files.has_folder(cx.tx, path)? {
        return Ok(());
    }
    Err(catalogue::group_not_found(path.file_name()).into())
}

/// Refuses a group that is there.
pub(crate) fn refuse_there(cx: &mut EngineCx<'_>, path: &StorePath) -> Result<(), Stop> {
    if !cx.files.has_folder(cx.tx, path)? {
        return Ok(());
    }
    Err(catalogue::group_exists(path.file_name()).into())
}

/// Refuses the group that pages are made from, and the one that others fall back to.
pub(crate) fn refuse_default(cx: &EngineCx<'_>, path: &StorePath) -> Result<(), Stop> {
    let name = path.file_name();
    if name != FALLBACK && name != cx.server.default_group() {
        return Ok(());
    }
    Err(catalogue::default_group(name).into())
}
