//! One command on the engine's side: what is checked before the unit, the unit, the form of its answer.

use std::time::{Duration, Instant};

use db::ai_tools;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use shop::ai_field::{self, Field, Mistake};
use wire::text::quoted;
use wire::{Refusal, Stop, catalogue};

use super::access::{self, Access, Through};
use crate::engine::unit_path::is_unit_name;
use crate::jsonl::is_bare;
use crate::{CommandCall, CommandDone, CommandFailed, EngineCx};

/// Longest text of a failed unit that is told.
const FAILED: usize = 2_000;
/// Most tables of an answer.
const TABLES: usize = 100;

/// What is called.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// The tool's address.
    pub(super) unit: String,
    /// The command.
    pub(super) command: String,
    /// Its fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) params: Map<String, Value>,
    /// Whether times of statements are told.
    #[serde(default)]
    pub(super) debug: bool,
}

/// A command that is declared and open to the call.
struct Found {
    unit: String,
    command: ai_tools::Command,
    through: Through,
}

/// Carries a command out. A no of the engine's own has the form of a command's answer; a crash is a refusal.
pub(super) fn carry_out(cx: &mut EngineCx<'_>, access: &Access, asked: Asked) -> Result<Value, Stop> {
    let started = Instant::now();
    let found = match find(cx, access, &asked)? {
        Ok(found) => found,
        Err(no) => return Ok(told(&asked, (asked.unit.as_str(), &asked.command), no, started, None)),
    };
    let (unit, command) = (found.unit.clone(), found.command.name.clone());
    let names = (unit.as_str(), command.as_str());
    let fields = ai_tools::fields(cx.tx, found.command.id)?;
    if let Some(field) = fields.iter().find(|field| field.required && field.is_files()) {
        let words = format!(
            "The command [{command}] requires files ({}). Send them with this call in `files`.",
            field.descr
        );
        return Ok(told(&asked, names, no(&words), started, None));
    }
    let params = match ai_field::taken(&fields, asked.params.clone()) {
        Ok(params) => params,
        Err(mistake) => {
            let words = in_words(&command, &fields, mistake);
            return Ok(told(&asked, names, no(&words), started, None));
        }
    };
    let name = unit.to_lowercase();
    if !is_unit_name(&name) {
        return Err(catalogue::module_not_found(&quoted(&format!("units/{name}.js"), 120)).into());
    }
    if let Through::Principal(id) = found.through {
        cx.entry.princ_id = Some(id);
    }
    let call = CommandCall { unit: name, function: command.clone(), params };
    let units = cx.units;
    let done = units.command(cx.tx, call).map_err(|failed| stop(&unit, &command, failed))?;
    let mut answer = formed(&unit, &command, &done)?;
    if found.through != Through::Person {
        answer.insert("by".to_owned(), "princ".into());
    }
    Ok(told(&asked, names, answer, started, Some(&done)))
}

/// The command, or why it is not called.
fn find(
    cx: &mut EngineCx<'_>,
    access: &Access,
    asked: &Asked,
) -> Result<Result<Found, Map<String, Value>>, Stop> {
    let wanted = asked.unit.trim();
    let tool = ai_tools::by_unit(cx.tx, wanted)?;
    let (tool, unit) = tool.ok_or_else(|| catalogue::no_such_tool(&quoted(wanted, 80)))?;
    let commands = ai_tools::commands(cx.tx, Some(tool))?;
    let wanted = asked.command.trim();
    let position = commands.iter().position(|command| command.name.eq_ignore_ascii_case(wanted));
    let Some(command) = position.and_then(|at| commands.get(at)).cloned() else {
        let names: Vec<&str> = commands.iter().map(|command| command.name.as_str()).collect();
        let names = if names.is_empty() { "it has none yet".to_owned() } else { names.join(", ") };
        let words = format!("{unit} has no command [{}]. Its commands: {names}.", quoted(wanted, 80));
        return Ok(Err(no(&words)));
    };
    let Some(through) = access.through(command.id) else {
        let place = access::place(cx)?;
        let words = format!(
            "The command [{}] of {unit} is not granted to you. Who may save AI components grants it: {place}.",
            command.name
        );
        return Ok(Err(no(&words)));
    };
    Ok(Ok(Found { unit, command, through }))
}

/// A no of the engine's own.
fn no(words: &str) -> Map<String, Value> {
    let mut answer = Map::new();
    answer.insert("result".to_owned(), false.into());
    answer.insert("message".to_owned(), words.into());
    complete(&mut answer);
    answer
}

/// What is wrong with the fields, and the next step.
fn in_words(command: &str, fields: &[Field], mistake: Mistake) -> String {
    match mistake {
        Mistake::Unknown(name) => {
            let names: Vec<&str> =
                fields.iter().filter(|field| !field.is_files()).map(|field| field.name.as_str()).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            format!("The command [{command}] has no field [{name}]. It takes: {known}.")
        }
        Mistake::Missing { name, descr } => {
            format!("The field [{name}] is required: {descr}. Name it in `params`, and call again.")
        }
        Mistake::Wrong { name, kind, wanted, got } => {
            format!("The field [{name}] is of the type {kind}: {wanted}. It got {got}.")
        }
        Mistake::Attachment(name) => {
            format!(
                "The command [{command}] carries the files themselves: send them in `files`, not as [{name}]."
            )
        }
        Mistake::Declared { name, why } => format!(
            "The field [{name}] of the command [{command}] is declared wrongly: {why}. \
             Tell the person: who may save AI components mends it."
        ),
    }
}

fn stop(unit: &str, command: &str, failed: CommandFailed) -> Stop {
    match failed {
        CommandFailed::NoModule(file) => catalogue::module_not_found(&quoted(&file, 120)).into(),
        CommandFailed::NoFunction(function) => {
            catalogue::function_not_found(unit, &quoted(&function, 80)).into()
        }
        CommandFailed::Failed(text) => failure(unit, command, &text).into(),
        CommandFailed::Broke(stop) => stop,
    }
}

fn failure(unit: &str, command: &str, text: &str) -> Refusal {
    let kept = text.chars().filter(|letter| *letter == '\n' || !letter.is_control());
    let mut text: String = kept.take(FAILED).collect();
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    catalogue::command_failed(unit, command, &text)
}

/// The unit's answer in the one form of all commands. The unit's code is not trusted.
fn formed(unit: &str, command: &str, done: &CommandDone) -> Result<Map<String, Value>, Refusal> {
    let Some(answer) =
        done.answer.as_object().filter(|answer| answer.get("result").is_some_and(Value::is_boolean))
    else {
        return Err(catalogue::command_without_result(unit, command));
    };
    let mut answer = answer.clone();
    // These are the engine's to say.
    for key in ["by", "time", "unit", "command", "job", "job_rows"] {
        answer.remove(key);
    }
    answer.retain(|_, value| !value.is_null());
    complete(&mut answer);
    let of = |key: &str| answer.get(key).unwrap_or(&Value::Null);
    let wrong = if !of("message").is_string() {
        "its `message` is no text"
    } else if !of("detail").is_object() {
        "its `detail` is no object of values"
    } else if !of("files").is_array() {
        "its `files` is no list"
    } else if !is_tables(of("tables")) {
        "its `tables` is no object of lists of rows, named with Latin letters, digits, `-` and `_`"
    } else {
        return Ok(answer);
    };
    Err(failure(unit, command, wrong))
}

fn is_tables(value: &Value) -> bool {
    value.as_object().is_some_and(|tables| {
        tables.len() <= TABLES
            && tables.iter().all(|(name, rows)| {
                is_bare(name) && rows.as_array().is_some_and(|rows| rows.iter().all(Value::is_object))
            })
    })
}

fn complete(answer: &mut Map<String, Value>) {
    for (key, empty) in
        [("message", json!("")), ("detail", json!({})), ("tables", json!({})), ("files", json!([]))]
    {
        answer.entry(key).or_insert(empty);
    }
}

/// The answer with names and times, as it goes to the MCP server.
fn told(
    asked: &Asked,
    (unit, command): (&str, &str),
    mut answer: Map<String, Value>,
    started: Instant,
    done: Option<&CommandDone>,
) -> Value {
    let mut time = Map::new();
    time.insert("server".to_owned(), millis(started.elapsed()));
    time.insert("module".to_owned(), millis(done.map_or(Duration::ZERO, |done| done.took)));
    if let (true, Some(done)) = (asked.debug, done) {
        time.insert("sql".to_owned(), done.queries.into());
        time.insert("sql_ms".to_owned(), millis(done.query_time));
    }
    answer.insert("time".to_owned(), Value::Object(time));
    answer.insert("unit".to_owned(), unit.into());
    answer.insert("command".to_owned(), command.into());
    Value::Object(answer)
}

/// Milliseconds, to the tenth.
pub(super) fn millis(time: Duration) -> Value {
    json!((time.as_secs_f64() * 10_000.0).round() / 10.0)
}
