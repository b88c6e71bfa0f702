//! What the pools of `engine_db_select` and `engine_db_execute` share: how a statement that reads is carried out and
//! told, what points to rows, and which rows become files.

use std::time::{Duration, Instant};

use db::agent_sql::{Limits, Reader, SelectError, Table};
use db::{Tx, schema, structure};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use wire::text::quoted;
use wire::{Stop, catalogue};

use crate::jsonl::is_bare;
use crate::{LocalContext, jsonl};

/// Longest statement, in time.
const LONGEST: Duration = Duration::from_secs(30);
/// Longest count of rows that are too many, in time.
const COUNTED: Duration = Duration::from_secs(5);
/// Longest pool, in time: who asked waits no longer.
pub(super) const WHOLE: Duration = Duration::from_secs(45);
/// Most rows of a heavy step.
const BIG_ROWS: usize = 1_000_000;
/// Most bytes of values of a pool: what an answer carries.
const BYTES: usize = 40 << 20;
/// From here on rows go to a file.
const TO_FILE: usize = 100_000;
/// What takes longer is slow.
const SLOW: Duration = Duration::from_secs(1);
/// Longest plan that is told, in characters.
const PLAN: usize = 2000;

/// A step's answer, or what is wrong with the step, in words.
pub(super) type Told = Result<Map<String, Value>, String>;

/// What carries out a statement that reads.
pub(super) trait Reads {
    /// Its rows.
    fn select(
        &mut self,
        sql: &str,
        params: &[(String, Value)],
        limits: &Limits,
    ) -> Result<Table, SelectError>;
    /// How the database goes about it.
    fn plan(
        &mut self,
        sql: &str,
        params: &[(String, Value)],
        time: Duration,
    ) -> Result<Vec<String>, SelectError>;
}

impl Reads for Reader {
    fn select(
        &mut self,
        sql: &str,
        params: &[(String, Value)],
        limits: &Limits,
    ) -> Result<Table, SelectError> {
        Reader::select(self, sql, params, limits)
    }

    fn plan(
        &mut self,
        sql: &str,
        params: &[(String, Value)],
        time: Duration,
    ) -> Result<Vec<String>, SelectError> {
        Reader::plan(self, sql, params, time)
    }
}

impl Reads for Tx {
    fn select(
        &mut self,
        sql: &str,
        params: &[(String, Value)],
        limits: &Limits,
    ) -> Result<Table, SelectError> {
        refuse_secret(sql)?;
        self.unit_select(sql, params, limits)
    }

    fn plan(
        &mut self,
        sql: &str,
        params: &[(String, Value)],
        time: Duration,
    ) -> Result<Vec<String>, SelectError> {
        self.agent_plan(sql, params, "", time)
    }
}

/// What is left to the steps of a call.
pub(super) struct Left {
    end: Instant,
    bytes: usize,
}

impl Left {
    pub(super) fn new(started: Instant) -> Self {
        Self { end: started + WHOLE, bytes: BYTES }
    }

    /// Time for one more statement.
    pub(super) fn time(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now()).min(LONGEST)
    }

    /// Carries out a statement that reads and tells its rows.
    pub(super) fn select(
        &mut self,
        database: &mut dyn Reads,
        sql: &str,
        params: &[(String, Value)],
        big: bool,
    ) -> Result<Told, Stop> {
        if let Some(words) = reads_not(sql) {
            return Ok(Err(words));
        }
        let started = Instant::now();
        let usual = Limits::default();
        let limits = Limits {
            rows: if big { BIG_ROWS } else { usual.rows },
            bytes: self.bytes,
            time: self.time(),
            ..usual
        };
        let answer = match database.select(sql, params, &limits) {
            Ok(table) => table,
            Err(SelectError::TooManyRows(most)) if !big => {
                let limits = Limits { time: self.time().min(COUNTED), ..limits };
                let count =
                    count(database, sql, params, &limits).unwrap_or_else(|| format!("more than {most}"));
                let words = format!(
                    "Too many rows: {count}. At most {most} are told; `big: true` writes all of them to a file."
                );
                return Ok(Err(words));
            }
            Err(error) => return failed(sql, error).map(Err),
        };
        let took = started.elapsed();
        let data = objects(answer);
        self.bytes = self.bytes.saturating_sub(data.iter().map(|row| row.to_string().len()).sum());
        let mut told = Map::from_iter([("rows".to_owned(), json!(data.len()))]);
        if is_slow(took) {
            let plan = database.plan(sql, params, self.time().min(COUNTED)).unwrap_or_default();
            told.insert("slow".to_owned(), slow(took, &plan));
        }
        told.insert("data".to_owned(), data.into());
        Ok(Ok(told))
    }
}

/// What the answer says of a statement that took long.
pub(super) fn slow(took: Duration, plan: &[String]) -> Value {
    let plan: String = plan.join("\n").chars().take(PLAN).collect();
    json!({"ms": took.as_millis(), "hint": HINT, "plan": plan})
}

/// Whether something took long enough to be told.
pub(super) fn is_slow(took: Duration) -> bool {
    took > SLOW
}

/// What is wrong with a statement, in words. What the database is not able to do is a fault instead.
pub(super) fn failed(sql: &str, error: SelectError) -> Result<String, Stop> {
    let words = match error {
        SelectError::Db(error) => return Err(error.into()),
        SelectError::Forbidden(words) if words == "a second one follows" => {
            return Ok("One statement a step: a second one follows.".to_owned());
        }
        error => error.to_string(),
    };
    match secret_in(sql, &words) {
        Some(column) => Ok(format!("Never readable here: {column}.")),
        None => Ok(format!("{}.", words.trim_end_matches('.'))),
    }
}

/// Refuses a statement that names a column which is a secret wherever there is one of this name: within a transaction
/// that writes, SQLite would read it as nothing.
pub(super) fn refuse_secret(sql: &str) -> Result<(), SelectError> {
    let sql = sql.to_lowercase();
    let mut words = sql.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let is_secret = |word: &&str| {
        let columns = schema::tables().flat_map(|table| table.columns()).filter(|c| c.name == *word);
        let secrets: Vec<bool> = columns.map(|column| column.is_secret).collect();
        !secrets.is_empty() && secrets.into_iter().all(|is_secret| is_secret)
    };
    match words.find(is_secret) {
        Some(word) => Err(SelectError::Wrong(format!("no such column: {word}"))),
        None => Ok(()),
    }
}

/// The secret column that a statement names and that the database says it does not know.
fn secret_in(sql: &str, words: &str) -> Option<&'static str> {
    let (sql, words) = (sql.to_lowercase(), words.to_lowercase());
    let columns = schema::tables().flat_map(|table| table.columns());
    let mut secrets = columns.filter(|column| column.is_secret).map(|column| column.name);
    secrets.find(|name| sql.contains(name) && words.contains(name))
}

/// What statements that read begin with. Only a first look for clear words: the database itself refuses all others.
const READING: [&str; 4] = ["select", "with", "values", "("];

/// Why a statement does not read, as far as its first word tells.
fn reads_not(sql: &str) -> Option<String> {
    let word = first_word(sql).filter(|word| !READING.contains(&word.to_ascii_lowercase().as_str()))?;
    Some(if word.eq_ignore_ascii_case("explain") {
        "An EXPLAIN of a statement is not carried out: the plan of a slow one is told with its rows."
            .to_owned()
    } else {
        format!(
            "This command reads only: a statement begins with select, with or values, not with [{}].",
            quoted(word, 40)
        )
    })
}

/// The first word of a statement behind comments and space, or its first sign.
pub(super) fn first_word(sql: &str) -> Option<&str> {
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
fn count(database: &mut dyn Reads, sql: &str, params: &[(String, Value)], limits: &Limits) -> Option<String> {
    let whole = format!("select count(*) as n from ({}) as counted", sql.trim().trim_end_matches(';'));
    let table = database.select(&whole, params, limits).ok()?;
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

/// Which tables point to a table, and by how many rows to these rows of it.
pub(super) fn dependent(tx: &mut Tx, table: &str, ids: Option<&[i64]>) -> Result<Told, Stop> {
    let Some(found) = structure::dependents(tx, table)? else {
        return Ok(Err(unknown_table(table)));
    };
    let mut depend = Vec::new();
    for one in found {
        let mut told =
            json!({"main": table, "table": one.table, "key": one.column, "nullable": one.is_nullable});
        if let Some(ids) = ids {
            let count = structure::pointing(tx, &one, ids)?;
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

/// The words for a table that is not there.
pub(super) fn unknown_table(name: &str) -> String {
    format!("Unknown table: {}. engine_db_tables lists them.", quoted(name, 80))
}

/// Writes the rows of heavy steps to files, and puts `file` and `head` in their place.
pub(super) fn rows_to_files(
    local: &LocalContext,
    pool: &[Value],
    steps: &mut [Map<String, Value>],
) -> Result<(), Stop> {
    let time = Timestamp::now().strftime("%Y%m%d-%H%M%S-%3f").to_string();
    for (at, told) in steps.iter_mut().enumerate() {
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
    Ok(())
}

/// A step's name as a part of a file's name; its number where it is none.
fn step_name(step: &Value, number: usize) -> String {
    let name = step.get("name").and_then(Value::as_str).filter(|name| is_bare(name));
    name.map_or_else(|| number.to_string(), str::to_owned)
}
