//! `engine_db_execute`: statements and steps that change rows, as one transaction unless told otherwise.
//!
//! What a statement may change is enforced by the database; tables that only the commands made for them write, and
//! tables that somebody has in work, are refused. See `db::agent_sql`.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wire::text::quoted;
use wire::{Stop, catalogue};

use super::db_steps::rows_to_files;
use super::db_writes::Pool;
use crate::{EngineCx, LocalContext, Presented, Right, pool};

/// The part of the transaction that all steps are.
const ALL: &str = "pool";
/// The part that one step is.
const STEP: &str = "pool_step";

crate::tool!("engine_db_execute", right: Right::Command("AGENT_ENGINE_DB_EXECUTE"), effect: Destroys,
    refuses: [missing_parameter, not_both, no_such_file, not_utf8, not_whole_json, no_list_of_steps, too_many_steps,
        not_written, folder_not_made],
    run: run, prepare: prepare, present: present);

/// Changes the database. Steps as in engine_db_select, and {do: "modify", sql, params}, "insert" (table, rows), "lock"/"unlock" (tables), "tree_add"/"tree_move"/"tree_up"/"tree_down"/"tree_remove" (table, id, parent_id: 0 is the top), "clear_dependent" (table). "@name" lends an earlier step's number.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Steps
    pool: Option<Vec<Value>>,
    /// Or a UTF-8 JSON file with them
    pool_source: Option<String>,
    /// false: steps before an error stay
    atomic: Option<bool>,
    /// true: all is taken back at the end
    preview: Option<bool>,
}

/// What travels.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    pool: Vec<Value>,
    #[serde(default = "yes")]
    atomic: bool,
    #[serde(default)]
    preview: bool,
}

fn yes() -> bool {
    true
}

/// What the steps answered, up to the first that failed.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Whether all steps were carried out.
    ok: bool,
    /// For each `num`, `do`, `name` and its answer, or `error`.
    steps: Vec<Map<String, Value>>,
    /// Tables that are changed now.
    changed: Vec<String>,
    /// Tables that the steps had locked and that are free again.
    unlocked: Vec<String>,
    /// Whether everything was taken back: after an error, or as a preview.
    rolled_back: bool,
    /// Milliseconds in the store.
    ms: u64,
}

fn prepare(local: &LocalContext, args: Args) -> Result<Sent, Stop> {
    let pool = pool::given(local, args.pool, args.pool_source, catalogue::no_list_of_steps)?;
    pool::few(pool.len())?;
    Ok(Sent { pool, atomic: args.atomic.unwrap_or(true), preview: args.preview.unwrap_or(false) })
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    pool::few(sent.pool.len())?;
    let started = Instant::now();
    let mut pool = Pool::new(started, cx.now);
    let mut steps = Vec::with_capacity(sent.pool.len());
    let mut ok = true;
    cx.tx.mark(ALL)?;
    for (at, step) in sent.pool.into_iter().enumerate() {
        let mut told = Map::from_iter([("num".to_owned(), json!(at + 1))]);
        for key in ["do", "name"] {
            if let Some(Value::String(word)) = step.get(key) {
                told.insert(key.to_owned(), quoted(word, 80).into());
            }
        }
        cx.tx.mark(STEP)?;
        let done = pool.carry_out(cx, step)?;
        cx.tx.end_mark(STEP, done.is_ok())?;
        match done {
            Ok(answer) => told.extend(answer),
            Err(words) => {
                told.insert("error".to_owned(), words.into());
                ok = false;
            }
        }
        steps.push(told);
        if !ok {
            break;
        }
    }
    let unlocked = pool.unlock_all(cx)?;
    let rolled_back = sent.preview || (sent.atomic && !ok);
    cx.tx.end_mark(ALL, !rolled_back)?;
    let changed = if rolled_back { Vec::new() } else { pool.changed() };
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Answer { ok, steps, changed, unlocked, rolled_back, ms })
}

fn present(local: &LocalContext, args: Args, mut answer: Answer) -> Result<Presented, Stop> {
    // The file was read before the call; what it says of `big` and `output` counts again here.
    let pool = pool::given(local, args.pool, args.pool_source, catalogue::no_list_of_steps)?;
    rows_to_files(local, &pool, &mut answer.steps)?;
    Ok(Presented { is_failed: !answer.ok, ..Presented::data(serde_json::to_value(answer)?) })
}
