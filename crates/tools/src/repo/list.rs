//! `repo_list`: the sections of the repository that a person may use.

use db::repo::{self, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::Stop;

use crate::{EngineCx, LocalContext, Presented, Right, Table};

crate::tool!("repo_list", right: Right::Command("AGENT_REPO_LIST"), effect: Reads, refuses: [], run: run, present: present);

/// Lists the sections of the repository, where assistants keep working data for each other, and what this person may do in each.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {}

/// A table of `id`, `skey`, `path`, `descr`, `kind_key`, `topics` (how many), `may` (list of what is allowed).
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Answer(Table);

fn run(cx: &mut EngineCx<'_>, _: Args) -> Result<Answer, Stop> {
    let sections = repo::sections(cx.tx, cx.caller.id, &cx.caller.groups)?;
    let columns = ["id", "skey", "path", "descr", "kind_key", "topics", "may"];
    Ok(Answer(Table::new(columns, sections.into_iter().map(row))))
}

fn row(section: Section) -> [Value; 7] {
    [
        section.id.into(),
        section.skey.into(),
        section.path.into(),
        section.descr.into(),
        section.kind_key.into(),
        section.topics.into(),
        section.may.into(),
    ]
}

fn present(_: &LocalContext, _: Args, answer: Answer) -> Result<Presented, Stop> {
    let empty =
        "No section is open to this person. An administrator makes sections and opens them in the program.";
    let text = answer.0.rows.is_empty().then(|| empty.to_owned());
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}
