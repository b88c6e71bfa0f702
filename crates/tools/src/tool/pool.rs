//! `tool_pool`: several commands of the store's own tools in one call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wire::{Stop, catalogue};

use super::access::Access;
use super::call::{self, Asked};
use super::references::{self, Known};
use super::run::{self, fields, job};
use super::steps::{self, Step};
use super::tables::Place;
use crate::{EngineCx, LocalContext, Presented, Right, pool};

/// The part of the call's transaction that an atomic pool is.
const PART: &str = "pool";

crate::tool!("tool_pool", right: Right::Command("AGENT_TOOL_RUN"), effect: Writes,
    refuses: [missing_parameter, not_both, no_such_file, not_utf8, not_whole_json, no_list_of_entries,
        no_object_of_fields, params_not_fields, into_not_bare, unknown_parameter, too_many_steps, step_not_object,
        step_incomplete, step_with_files, step_name_with_dot, step_named_twice, reference_without_field,
        not_written, folder_not_made],
    run: run, prepare: prepare, present: present);

/// Runs commands of the store's own tools in order, all or none. "@name.field" in params is that step's detail.field.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Steps {name?, unit, command, params?, params_source?, into?, debug?}
    pool: Option<Vec<Value>>,
    /// Or a UTF-8 JSON file with them
    pool_source: Option<String>,
    /// false keeps what was done before a step that fails
    atomic: Option<bool>,
}

/// What travels.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    steps: Vec<Step>,
    atomic: bool,
}

/// What the steps answered, up to the first that failed.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Whether all did what they were asked.
    result: bool,
    /// What was kept.
    message: String,
    /// Answers of the steps, as of `tool_run`.
    steps: Vec<Value>,
    /// Milliseconds: `trip`.
    #[serde(default)]
    time: Map<String, Value>,
}

fn prepare(local: &LocalContext, args: Args) -> Result<Sent, Stop> {
    let steps = pool::given(local, args.pool, args.pool_source, catalogue::no_list_of_entries)?;
    let drafts = steps::checked(steps)?;
    let steps = drafts.into_iter().map(|draft| {
        job(draft.into.as_deref())?;
        let params = fields(local, draft.params, draft.params_source)?;
        let asked = run::asked(draft.unit, draft.command, params, draft.debug)?;
        Ok(Step { name: draft.name, into: draft.into, asked })
    });
    let steps: Vec<Step> = steps.collect::<Result<_, Stop>>()?;
    references::check(&steps)?;
    Ok(Sent { steps, atomic: args.atomic.unwrap_or(true) })
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    // Whoever sent it may have checked nothing.
    pool::few(sent.steps.len())?;
    let access = Access::read(cx)?;
    cx.tx.mark(PART)?;
    let mut known: Known = Known::new();
    let mut answers = Vec::new();
    let mut failed = None;
    for (at, step) in sent.steps.into_iter().enumerate() {
        let answer = one(cx, &access, &known, &step)?;
        let is_done = answer["result"] == Value::Bool(true);
        if let Some(name) = &step.name {
            known.insert(name.to_lowercase(), answer.get("detail").cloned().unwrap_or_default());
        }
        answers.push(answer);
        if !is_done {
            failed = Some(at + 1);
            break;
        }
    }
    cx.tx.end_mark(PART, failed.is_none() || !sent.atomic)?;
    let message = match failed {
        None => format!("{} steps were done.", answers.len()),
        Some(at) if sent.atomic => {
            cx.entry.princ_id = None;
            format!("Step {at} failed: nothing of the pool was kept. Its message says what next.")
        }
        Some(at) => format!("Step {at} failed: the steps before it were kept. Its message says what next."),
    };
    Ok(Answer { result: failed.is_none(), message, steps: answers, time: Map::new() })
}

/// One step's answer; a crash stops the pool and not the call.
fn one(cx: &mut EngineCx<'_>, access: &Access, known: &Known, step: &Step) -> Result<Value, Stop> {
    let params = match references::filled(known, Value::Object(step.asked.params.clone())) {
        Ok(Value::Object(params)) => params,
        Ok(_) => Map::new(),
        Err(words) => return Ok(json!({"result": false, "message": words})),
    };
    let asked = Asked { params, ..step.asked.clone() };
    let mut answer = match call::carry_out(cx, access, asked) {
        Ok(answer) => answer,
        Err(Stop::Refused(refusal)) => return Ok(json!({"result": false, "message": refusal.text()})),
        Err(broke) => return Err(broke),
    };
    if let Some(answer) = answer.as_object_mut() {
        for (key, value) in [("name", &step.name), ("into", &step.into)] {
            match value {
                Some(value) => answer.insert(key.to_owned(), value.as_str().into()),
                None => answer.remove(key),
            };
        }
    }
    Ok(answer)
}

fn present(local: &LocalContext, args: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let is_kept = answer.result || args.atomic == Some(false);
    let steps = std::mem::take(&mut answer.steps).into_iter().enumerate();
    answer.steps =
        steps.map(|(at, step)| shown(local, at + 1, is_kept, step)).collect::<Result<_, Stop>>()?;
    answer.time.insert("trip".to_owned(), call::millis(local.trip));
    let is_failed = !answer.result;
    Ok(Presented { is_failed, ..Presented::data(serde_json::to_value(answer)?) })
}

/// A step's answer with its tables in files. Rows of what was taken back join no job.
fn shown(local: &LocalContext, number: usize, is_kept: bool, step: Value) -> Result<Value, Stop> {
    if step.get("unit").is_none() {
        return Ok(step);
    }
    let foreign = |_| catalogue::unexpected_answer("a step's answer is not of the tool's form.");
    let mut answer: run::Answer = serde_json::from_value(step).map_err(foreign)?;
    let into = answer.rest.remove("into");
    let into = job(into.as_ref().and_then(Value::as_str))?.filter(|_| is_kept);
    let beginning = run::beginning(&answer)?;
    let place = Place { beginning: format!("step{number}.{beginning}"), job: into };
    Ok(serde_json::to_value(run::shown(local, &place, answer)?)?)
}
