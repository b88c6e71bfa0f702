//! `repo_list`: the sections of the repository that a person may use.

use db::repo::Section;
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

/// What the call answers.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// A table of `id`, `skey`, `path`, `descr`, `kind_key`, `topics` (how many), `may` (list of what is allowed).
    repos: Table,
}

fn run(cx: &mut EngineCx<'_>, _: Args) -> Result<Answer, Stop> {
    let sections = super::open_sections(cx)?;
    let columns = ["id", "skey", "path", "descr", "kind_key", "topics", "may"];
    Ok(Answer { repos: Table::new(columns, sections.into_iter().map(row)) })
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
    let empty = "No section of the repository is open to you in this store. Who may save AI components makes sections and opens them in the program.";
    let text = answer.repos.rows.is_empty().then(|| empty.to_owned());
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}
