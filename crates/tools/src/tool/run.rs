//! `tool_run`: runs a command of one of the store's own tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wire::text::quoted;
use wire::{Refusal, Stop, catalogue};

use super::access::Access;
use super::call::{self, Asked};
use super::tables::{self, Place};
use crate::jsonl::is_bare;
use crate::{EngineCx, LocalContext, Presented, Right};

crate::tool!("tool_run", right: Right::Command("AGENT_TOOL_RUN"), effect: Writes,
    refuses: [missing_parameter, not_both, no_such_file, not_utf8, not_whole_json, no_object_of_fields,
        params_not_fields, into_not_bare, no_such_tool, module_not_found, function_not_found, command_failed,
        command_without_result, not_written, folder_not_made],
    run: run, prepare: prepare, present: present);

/// Runs a command of one of the store's own tools, which `tool_list` shows. Tables of its answer go to files.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Address of the tool
    unit: String,
    /// Its command
    command: String,
    /// Object of fields
    params: Option<Value>,
    /// Or a UTF-8 JSON file with it
    params_source: Option<String>,
    /// Adds rows of tables to the files of a job too
    into: Option<String>,
    /// With times of statements
    debug: Option<bool>,
}

/// The command's answer; other keys of it pass through.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct Answer {
    /// Whether it did what it was asked.
    pub(super) result: bool,
    /// What happened, and what next.
    pub(super) message: String,
    /// Values.
    pub(super) detail: Map<String, Value>,
    /// Tables: `rows`, `file`, `head`; with `into` also `job`, `job_rows`.
    pub(super) tables: Value,
    /// Attachments it kept.
    pub(super) files: Vec<Value>,
    /// Milliseconds: `server`, `module`, `trip`; `sql` statements in `sql_ms`.
    pub(super) time: Map<String, Value>,
    /// `princ` where the principal's grant let it through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
    /// The tool as it is declared; not shown.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub(super) unit: String,
    /// The command as it is declared; not shown.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub(super) command: String,
    /// Other keys.
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

fn prepare(local: &LocalContext, args: Args) -> Result<Asked, Stop> {
    let params = fields(local, args.params, args.params_source)?;
    job(args.into.as_deref())?;
    asked(args.unit, args.command, params, args.debug)
}

/// What goes to the store.
pub(super) fn asked(
    unit: String,
    command: String,
    params: Map<String, Value>,
    debug: Option<bool>,
) -> Result<Asked, Stop> {
    for (name, value) in [("unit", &unit), ("command", &command)] {
        if value.trim().is_empty() {
            return Err(catalogue::missing_parameter(name, "`tool_list` shows tools and commands.").into());
        }
    }
    Ok(Asked { unit, command, params, debug: debug.unwrap_or(false) })
}

/// The fields of a call, from itself or from a file.
pub(super) fn fields(
    local: &LocalContext,
    params: Option<Value>,
    source: Option<String>,
) -> Result<Map<String, Value>, Stop> {
    let (value, source) = match (params, source) {
        (Some(_), Some(_)) => return Err(catalogue::not_both("params", "params_source").into()),
        (None, None) => return Ok(Map::new()),
        (Some(value), None) => (parsed(value), None),
        (None, Some(source)) => (local.read_json(&source)?, Some(source)),
    };
    match (value, source) {
        (Value::Object(fields), _) => Ok(fields),
        (_, Some(source)) => Err(catalogue::no_object_of_fields(&quoted(&source, 400)).into()),
        (_, None) => Err(catalogue::params_not_fields().into()),
    }
}

/// Some hosts send an object as a text.
fn parsed(value: Value) -> Value {
    match &value {
        Value::String(text) => serde_json::from_str(text).unwrap_or(value),
        _ => value,
    }
}

/// A job's name, which becomes part of names of files.
pub(super) fn job(into: Option<&str>) -> Result<Option<&str>, Refusal> {
    match into {
        Some(into) if !is_bare(into) => Err(catalogue::into_not_bare(&quoted(into, 80))),
        into => Ok(into),
    }
}

fn run(cx: &mut EngineCx<'_>, asked: Asked) -> Result<Value, Stop> {
    let access = Access::read(cx)?;
    call::carry_out(cx, &access, asked)
}

fn present(local: &LocalContext, args: Args, answer: Answer) -> Result<Presented, Stop> {
    let job = job(args.into.as_deref())?;
    let beginning = beginning(&answer)?;
    let mut answer = shown(local, &Place { beginning, job }, answer)?;
    let is_failed = !answer.result;
    answer.time.insert("trip".to_owned(), call::millis(local.trip));
    Ok(Presented { is_failed, ..Presented::data(serde_json::to_value(answer)?) })
}

/// How names of the files of an answer begin. The store's bytes are not trusted.
pub(super) fn beginning(answer: &Answer) -> Result<String, Refusal> {
    let has_tables = answer.tables.as_object().is_some_and(|tables| !tables.is_empty());
    if has_tables && !(is_bare(&answer.unit) && is_bare(&answer.command)) {
        return Err(catalogue::unexpected_answer("the names of tool and command are none."));
    }
    Ok(format!("{}.{}", answer.unit, answer.command))
}

/// The answer with its tables in files.
pub(super) fn shown(local: &LocalContext, place: &Place<'_>, mut answer: Answer) -> Result<Answer, Stop> {
    answer.tables = tables::write(local, place, std::mem::take(&mut answer.tables))?;
    Ok(answer)
}
