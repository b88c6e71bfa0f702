//! `engine_db_select`: statements that read, and what points to rows.
//!
//! That a statement only reads is enforced by the database: each runs under a login (on SQLite an authorizer) that
//! can do nothing else, and that does not see secrets. See `db::agent_sql`.

use std::time::{Duration, Instant};

use db::agent_sql::{Limits, SelectError, Table, select};
use db::structure;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wire::text::quoted;
use wire::{Stop, catalogue};

use crate::jsonl::is_bare;
use crate::{EngineCx, LocalContext, Presented, Right, jsonl, pool};

/// Longest statement, in time.
const LONGEST: Duration = Duration::from_secs(30);
/// Longest count of rows that are too many, in time.
const COUNTED: Duration = Duration::from_secs(5);
/// Longest pool, in time: who asked waits no longer.
const WHOLE: Duration = Duration::from_secs(45);
/// Most rows of a heavy step.
const BIG_ROWS: usize = 1_000_000;
/// Most bytes of values of a pool: what an answer carries.
const BYTES: usize = 40 << 20;
/// From here on rows go to a file.
const TO_FILE: usize = 100_000;
/// What takes longer is slow.
const SLOW: Duration = Duration::from_secs(1);

crate::tool!("engine_db_select", right: Right::Command("AGENT_ENGINE_DB_SELECT"), effect: Reads,
    refuses: [missing_parameter, not_both, no_such_file, not_utf8, not_whole_json, no_list_of_steps, too_many_steps,
        not_written, folder_not_made],
    run: run, prepare: prepare, present: present);

/// Reads the database: steps {do: "select", sql, params? for :name, name?, big?, output?} or {do: "dependent", table, ids?} (what points there), in order up to the first error.
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
    let mut left = Pool { end: started + WHOLE, bytes: BYTES };
    let mut steps = Vec::with_capacity(sent.pool.len());
    let mut ok = true;
    for (at, step) in sent.pool.into_iter().enumerate() {
        let mut told = Map::from_iter([("num".to_owned(), json!(at + 1))]);
        for key in ["do", "name"] {
            if let Some(Value::String(word)) = step.get(key) {
                told.insert(key.to_owned(), quoted(word, 80).into());
            }
        }
        match left.carry_out(cx, step)? {
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

/// What is left to the steps of a call.
struct Pool {
    end: Instant,
    bytes: usize,
}

/// A step's answer, or what is wrong with the step, in words.
type Told = Result<Map<String, Value>, String>;

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
            Ok(Step::Dependent { table, ids, .. }) => dependent(cx, &table, ids),
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
        if let Some(other) =
            first_word(sql).filter(|word| !READING.contains(&word.to_ascii_lowercase().as_str()))
        {
            let words = format!(
                "This command reads only: a statement begins with select, with or values, not with [{}].",
                quoted(other, 40)
            );
            return Ok(Err(words));
        }
        let params: Vec<(String, Value)> = params.into_iter().collect();
        let started = Instant::now();
        let time = self.end.saturating_duration_since(started).min(LONGEST);
        let usual = Limits::default();
        let limits =
            Limits { rows: if big { BIG_ROWS } else { usual.rows }, bytes: self.bytes, time, ..usual };
        let answer = match select(cx.db, sql, &params, &limits) {
            Ok(table) => table,
            Err(SelectError::TooManyRows(most)) if !big => {
                let left = self.end.saturating_duration_since(Instant::now());
                let limits = Limits { time: left.min(COUNTED), ..limits };
                let count = count(cx, sql, &params, &limits).unwrap_or_else(|| format!("more than {most}"));
                let words = format!(
                    "Too many rows: {count}. At most {most} are told; `big: true` writes all of them to a file."
                );
                return Ok(Err(words));
            }
            // What the database is not able to do is a fault; what is wrong with the statement is the agent's.
            Err(SelectError::Db(error)) => return Err(error.into()),
            Err(error) => return Ok(Err(format!("{}.", error.to_string().trim_end_matches('.')))),
        };
        let took = started.elapsed();
        let data = objects(answer);
        self.bytes = self.bytes.saturating_sub(data.iter().map(|row| row.to_string().len()).sum());
        let mut told = Map::from_iter([("rows".to_owned(), json!(data.len()))]);
        if took > SLOW {
            told.insert("slow".to_owned(), json!({"ms": took.as_millis(), "hint": HINT}));
        }
        told.insert("data".to_owned(), data.into());
        Ok(Ok(told))
    }
}

/// What statements that read begin with. Only a first look for clear words: the database itself refuses all others.
const READING: [&str; 4] = ["select", "with", "values", "("];

/// The first word of a statement behind comments and space, or its first sign.
fn first_word(sql: &str) -> Option<&str> {
    let mut rest = sql.trim_start();
    loop {
        rest = match (rest.strip_prefix("--"), rest.strip_prefix("/*")) {
            (Some(comment), _) => comment.split_once('\n')?.1.trim_start(),
            (_, Some(comment)) => comment.split_once("*/")?.1.trim_start(),
            (None, None) => break,
        };
    }
    let end =
        rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
    let end = if end == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { end };
    rest.get(..end).filter(|word| !word.is_empty())
}

/// What helps a slow statement.
const HINT: &str = "Look in engine_db_tables for a column with a key that narrows the rows, join by numbers, and \
                    name the columns that you need instead of `*`.";

/// How many rows a statement has altogether, where the database can tell in time.
fn count(cx: &mut EngineCx<'_>, sql: &str, params: &[(String, Value)], limits: &Limits) -> Option<String> {
    let whole = format!("select count(*) as n from ({}) as counted", sql.trim().trim_end_matches(';'));
    let table = select(cx.db, &whole, params, limits).ok()?;
    table.rows.first()?.first()?.as_i64().map(|count| count.to_string())
}

/// Rows by the names of their columns; of two with one name the later is `name_2`.
fn objects(table: Table) -> Vec<Value> {
    let mut names: Vec<String> = Vec::with_capacity(table.columns.len());
    for column in table.columns {
        let taken = |name: &String| names.iter().any(|known| known == name);
        let others = (2..).map(|number| format!("{column}_{number}"));
        let free = std::iter::once(column.clone()).chain(others).find(|name| !taken(name));
        names.push(free.unwrap_or(column));
    }
    let object =
        |row: Vec<Value>| names.iter().cloned().zip(row.into_iter().map(exact)).collect::<Map<_, _>>();
    table.rows.into_iter().map(|row| Value::Object(object(row))).collect()
}

/// A whole number that floats do not hold exactly goes as text: many readers of JSON know floats only.
fn exact(value: Value) -> Value {
    const MOST: u64 = 1 << 53;
    match value.as_i64() {
        Some(number) if number.unsigned_abs() > MOST => number.to_string().into(),
        _ => value,
    }
}

fn dependent(cx: &mut EngineCx<'_>, table: &str, ids: Option<Vec<i64>>) -> Result<Told, Stop> {
    let Some(found) = structure::dependents(cx.tx, table)? else {
        return Ok(Err(format!("Unknown table: {}. engine_db_tables lists them.", quoted(table, 80))));
    };
    let mut depend = Vec::new();
    for one in found {
        let mut told =
            json!({"main": table, "table": one.table, "key": one.column, "nullable": one.is_nullable});
        if let Some(ids) = &ids {
            let count = structure::pointing(cx.tx, &one, ids)?;
            if count == 0 {
                continue;
            }
            if let Some(told) = told.as_object_mut() {
                told.insert("count".to_owned(), count.into());
            }
        }
        depend.push(told);
    }
    Ok(Ok(Map::from_iter([("depend".to_owned(), depend.into())])))
}

fn present(local: &LocalContext, args: Args, mut answer: Answer) -> Result<Presented, Stop> {
    // The file was read before the call; what it says of `big` and `output` counts again here.
    let pool = pool::given(local, args.pool, args.pool_source, catalogue::no_list_of_steps)?;
    let time = Timestamp::now().strftime("%Y%m%d-%H%M%S-%3f").to_string();
    for (at, told) in answer.steps.iter_mut().enumerate() {
        let asked = pool.get(at).unwrap_or(&Value::Null);
        let is_big = asked.get("big").and_then(Value::as_bool).unwrap_or(false);
        let output = asked.get("output").and_then(Value::as_str);
        let Some(Value::Array(rows)) = told.get("data") else { continue };
        let lines = jsonl::lines(rows);
        let bytes: usize = lines.iter().map(String::len).sum();
        if !is_big && output.is_none() && bytes <= TO_FILE {
            continue;
        }
        let name = format!("{time}.{}.jsonl", step_name(asked, at + 1));
        let text = jsonl::text(&lines);
        let file = match output {
            Some(output) => local.output_file(output, &name)?,
            None => local.conversation.join("queries").join(&name),
        };
        let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str()))
        else {
            return Err(
                catalogue::not_written(&quoted(&file.to_string_lossy(), 400), "it names no file").into()
            );
        };
        let file = local.write(folder, name, text.as_bytes())?;
        told.remove("data");
        told.insert("file".to_owned(), file.to_string_lossy().into());
        told.insert("head".to_owned(), jsonl::head(&lines).into());
    }
    Ok(Presented { is_failed: !answer.ok, ..Presented::data(serde_json::to_value(answer)?) })
}

/// A step's name as a part of a file's name; its number where it is none.
fn step_name(step: &Value, number: usize) -> String {
    let name = step.get("name").and_then(Value::as_str).filter(|name| is_bare(name));
    name.map_or_else(|| number.to_string(), str::to_owned)
}
