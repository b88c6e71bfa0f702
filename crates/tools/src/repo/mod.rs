//! Working data the assistants keep for each other. See spec: tools.md, repo.

use db::repo::topics::{self, Topic};
use db::repo::{self, Section};
use wire::text::quoted;
use wire::{Stop, catalogue};

use crate::EngineCx;

pub mod list;
pub mod read;
pub mod write;

#[cfg(test)]
mod tests;

/// The sections in which the caller may do something.
fn open_sections(cx: &mut EngineCx<'_>) -> Result<Vec<Section>, Stop> {
    // Who may save AI components makes the sections, and may do everything in them.
    let is_keeper = cx.caller.is_demo || cx.caller.commands.iter().any(|command| command == "AI_COMPONENTS");
    match is_keeper {
        true => Ok(repo::all_sections(cx.tx)?),
        false => Ok(repo::sections(cx.tx, cx.caller.id, &cx.caller.groups)?),
    }
}

/// The section, where the caller may do what the flag stands for.
fn section(cx: &mut EngineCx<'_>, id: i64, flag: &str) -> Result<Section, Stop> {
    let open = open_sections(cx)?.into_iter().find(|section| section.id == id);
    let section = open.ok_or_else(|| catalogue::no_open_section(id))?;
    refuse_without(&section, flag)?;
    Ok(section)
}

fn refuse_without(section: &Section, flag: &str) -> Result<(), Stop> {
    match section.may.iter().any(|may| may == flag) {
        true => Ok(()),
        false => Err(catalogue::section_flag_missing(&quoted(&section.path, 200), flag).into()),
    }
}

/// A topic that the caller sees, where the caller may do what the flag stands for.
fn topic(cx: &mut EngineCx<'_>, id: Option<i64>, flag: &str) -> Result<Topic, Stop> {
    let id = id.filter(|id| *id > 0).ok_or_else(catalogue::topic_is_a_number)?;
    let found = topics::by_id(cx.tx, id)?;
    let sections = open_sections(cx)?;
    let seen = found.and_then(|topic| {
        sections.iter().find(|section| section.id == topic.section_id).map(|section| (topic, section))
    });
    let (topic, section) = seen.ok_or_else(|| catalogue::no_such_topic(id))?;
    refuse_without(section, flag)?;
    Ok(topic)
}
