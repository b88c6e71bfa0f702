//! `engine_db_select`: statements that read, and what points to rows.
//!
//! That a statement only reads is enforced by the database: each runs under a login (on SQLite an authorizer) that
//! can do nothing else, and that does not see secrets. See `db::agent_sql`.

use std::time::Instant;

use db::agent_sql::Reader;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wire::text::quoted;
use wire::{Stop, catalogue};

use super::db_steps::{Left, Told, WHOLE, dependent, failed, rows_to_files};
use crate::{EngineCx, LocalContext, Presented, Right, pool};

crate::tool!("engine_db_select", right: Right::Command("AGENT_ENGINE_DB_SELECT"), effect: Reads,
    refuses: [missing_parameter, not_both, no_such_file, not_utf8, not_whole_json, no_list_of_steps, too_many_steps,
        not_written, folder_not_made],
    run: run, prepare: prepare, present: present);

/// Reads the database: steps {do: "select", sql, params? for :name, name?, big?, output?} or {do: "dependent", table, ids?} (what points there), in order up to the first error; all see one moment.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Steps; one statement each
    pool: Option<Vec<Value>>,
    /// Or a UTF-8 JSON file with them
    pool_source: Option<String>,
}

/// What travels.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    pool: Vec<Value>,
}

/// What the steps answered, up to the first that failed.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Whether all steps were carried out.
    ok: bool,
    /// For each `num`, `do`, `name` and its answer: `rows` and `data` or, where there is much, `file` and `head`; `depend`; or `error`.
    steps: Vec<Map<String, Value>>,
    /// Milliseconds in the store.
    ms: u64,
}

/// A step as the agent writes it.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Step {
    Select {
        sql: String,
        #[serde(default)]
        params: Map<String, Value>,
        #[serde(default, rename = "name")]
        _name: Option<String>,
        #[serde(default)]
        big: bool,
        #[serde(default, rename = "output")]
        _output: Option<String>,
    },
    Dependent {
        table: String,
        #[serde(default)]
        ids: Option<Vec<i64>>,
        #[serde(default, rename = "name")]
        _name: Option<String>,
    },
}

fn prepare(local: &LocalContext, args: Args) -> Result<Sent, Stop> {
    let pool = pool::given(local, args.pool, args.pool_source, catalogue::no_list_of_steps)?;
    pool::few(pool.len())?;
    Ok(Sent { pool })
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    pool::few(sent.pool.len())?;
    let started = Instant::now();
    let mut at_work = Pool { left: Left::new(started), reader: None };
    let mut steps = Vec::with_capacity(sent.pool.len());
    let mut ok = true;
    for (at, step) in sent.pool.into_iter().enumerate() {
        let mut told = Map::from_iter([("num".to_owned(), json!(at + 1))]);
        for key in ["do", "name"] {
            if let Some(Value::String(word)) = step.get(key) {
                told.insert(key.to_owned(), quoted(word, 80).into());
            }
        }
        match at_work.carry_out(cx, step)? {
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
    Ok(Answer { ok, steps, ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX) })
}

/// The steps of a call at work.
struct Pool {
    left: Left,
    /// Begun with the first statement.
    reader: Option<Reader>,
}

impl Pool {
    fn carry_out(&mut self, cx: &mut EngineCx<'_>, step: Value) -> Result<Told, Stop> {
        let word = step.get("do").and_then(Value::as_str).unwrap_or_default();
        if !["select", "dependent"].contains(&word) {
            let words =
                format!("This command runs select and dependent steps only, got [{}].", quoted(word, 60));
            return Ok(Err(words));
        }
        match serde_json::from_value(step) {
            Ok(Step::Select { sql, params, big, .. }) => self.select(cx, &sql, params, big),
            Ok(Step::Dependent { table, ids, .. }) => dependent(cx.tx, &table, ids.as_deref()),
            Err(error) => {
                Ok(Err(format!("This step is not of its form: {}.", quoted(&error.to_string(), 200))))
            }
        }
    }

    fn select(
        &mut self,
        cx: &mut EngineCx<'_>,
        sql: &str,
        params: Map<String, Value>,
        big: bool,
    ) -> Result<Told, Stop> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => match Reader::begin(cx.db, WHOLE) {
                Ok(reader) => none.insert(reader),
                Err(error) => return failed(sql, error).map(Err),
            },
        };
        let params: Vec<(String, Value)> = params.into_iter().collect();
        self.left.select(reader, sql, &params, big)
    }
}

fn present(local: &LocalContext, args: Args, mut answer: Answer) -> Result<Presented, Stop> {
    // The file was read before the call; what it says of `big` and `output` counts again here.
    let pool = pool::given(local, args.pool, args.pool_source, catalogue::no_list_of_steps)?;
    rows_to_files(local, &pool, &mut answer.steps)?;
    Ok(Presented { is_failed: !answer.ok, ..Presented::data(serde_json::to_value(answer)?) })
}
