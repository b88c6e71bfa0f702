//! `tool_list`: the store's own tools, or one of them with its commands.

use db::ai_tools;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shop::ai_field::Field;
use wire::text::quoted;
use wire::{Stop, catalogue};

use super::access::{self, Access, Through};
use crate::{EngineCx, LocalContext, Presented, Right, Table};

/// Longest description of a tool in the list.
const SHOWN: usize = 160;

crate::tool!("tool_list", right: Right::Command("AGENT_TOOL_LIST"), effect: Reads,
    refuses: [no_such_tool], run: run, present: present);

/// Lists the tools that the owner made for this store; with `unit` one tool's commands and their fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Address of a tool
    unit: Option<String>,
}

/// All tools, or one.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Where tools are made and granted.
    grant: String,
    /// `unit, path, descr`, commands that you `may` run, and those that you may `also` run through the principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<Table>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// Its folders and name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    descr: Option<String>,
    /// Its commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commands: Option<Vec<Command>>,
}

/// A command.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Command {
    /// Its name.
    command: String,
    /// Whether you may run it.
    may: bool,
    /// `princ` where only the principal's grant opens it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// Its description.
    descr: String,
    /// `name, type, required, default, descr`.
    params: Table,
    /// Whether it takes attachments, and what they are.
    files: Option<Files>,
}

/// Attachments of a command.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Files {
    /// Whether it needs them.
    required: bool,
    /// What they are.
    descr: String,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let access = Access::read(cx)?;
    let grant = access::place(cx)?;
    let tools = ai_tools::all(cx.tx)?;
    let empty = Answer { grant, tools: None, unit: None, path: None, descr: None, commands: None };
    let Some(unit) = args.unit.filter(|unit| !unit.trim().is_empty()) else {
        return Ok(Answer { tools: Some(table(cx, &access, tools)?), ..empty });
    };
    let tool = tools.into_iter().find(|tool| tool.unit.eq_ignore_ascii_case(unit.trim()));
    let tool = tool.ok_or_else(|| catalogue::no_such_tool(&quoted(&unit, 80)))?;
    let mut commands = Vec::new();
    for command in ai_tools::commands(cx.tx, Some(tool.id))? {
        let fields = ai_tools::fields(cx.tx, command.id)?;
        let through = access.through(command.id);
        commands.push(Command {
            command: command.name,
            may: through.is_some(),
            by: matches!(through, Some(Through::Principal(_))).then(|| "princ".to_owned()),
            descr: command.descr,
            files: fields
                .iter()
                .find(|field| field.is_files())
                .map(|field| Files { required: field.required, descr: field.descr.clone() }),
            params: Table::new(
                ["name", "type", "required", "default", "descr"],
                fields.into_iter().filter(|field| !field.is_files()).map(row),
            ),
        });
    }
    let (path, descr) = (Some(tool.path), Some(tool.descr));
    Ok(Answer { unit: Some(tool.unit), path, descr, commands: Some(commands), ..empty })
}

fn table(cx: &mut EngineCx<'_>, access: &Access, tools: Vec<ai_tools::Tool>) -> Result<Table, Stop> {
    let commands = ai_tools::commands(cx.tx, None)?;
    let rows = tools.into_iter().map(|tool| {
        let named = |is_wanted: fn(Through) -> bool| -> Vec<&str> {
            let own = commands.iter().filter(|command| command.tool_id == tool.id);
            let open = own.filter(|command| access.through(command.id).is_some_and(is_wanted));
            open.map(|command| command.name.as_str()).collect()
        };
        let may = named(|through| through == Through::Person);
        let also = named(|through| through != Through::Person);
        [
            Value::from(tool.unit.as_str()),
            tool.path.as_str().into(),
            phrase(&tool.descr).into(),
            json!(may),
            json!(also),
        ]
    });
    Ok(Table::new(["unit", "path", "descr", "may", "also"], rows))
}

fn row(field: Field) -> [Value; 5] {
    let default = field.default.as_deref().and_then(|text| serde_json::from_str(text).ok());
    [
        field.name.into(),
        field.kind.into(),
        field.required.into(),
        default.unwrap_or(Value::Null),
        field.descr.into(),
    ]
}

/// A description up to the end of its last phrase that fits, else of its last word.
fn phrase(text: &str) -> String {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(SHOWN) else { return text.to_owned() };
    let head = text.get(..end).unwrap_or_default();
    let of = |marks: &[char]| {
        let mut ends = head.match_indices(marks).filter(|(at, mark)| {
            text.get(at + mark.len()..).is_some_and(|rest| rest.starts_with(char::is_whitespace))
        });
        ends.next_back().map(|(at, mark)| at + mark.len())
    };
    match of(&['.', '!', '?', ';']).or_else(|| of(&[',', ':'])) {
        Some(end) => head.get(..end).unwrap_or_default().to_owned(),
        None => format!("{}…", head.rsplit_once(' ').map_or(head, |(words, _)| words)),
    }
}

fn present(_: &LocalContext, _: Args, answer: Answer) -> Result<Presented, Stop> {
    let is_empty = answer.tools.as_ref().is_some_and(|tools| tools.rows.is_empty());
    let text = is_empty.then(|| {
        format!(
            "This store has no AI-tools of its own yet. Who may save AI components makes and grants them: {}.",
            answer.grant
        )
    });
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_cut_at_the_end_of_a_phrase() {
        assert_eq!(phrase(" short "), "short");
        let long = format!("First sentence. Second one, {}", "word ".repeat(60));
        assert_eq!(phrase(&long), "First sentence.");
        let long = format!("Version 1.5 of it, and {}", "word ".repeat(60));
        assert_eq!(phrase(&long), "Version 1.5 of it,");
        let long = "слово ".repeat(60);
        assert!(phrase(&long).ends_with("слово…") && phrase(&long).chars().count() <= SHOWN);
        assert_eq!(phrase(&"x".repeat(300)).chars().count(), SHOWN + 1);
    }
}
