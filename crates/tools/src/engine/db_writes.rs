//! The steps of `engine_db_execute`: each in words of its own, `@name` filled in.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use db::agent_sql::target;
use db::leases::{self, CALL, Take};
use db::trees::{self, Kind, Moved, Tree};
use db::{schema, structure, sweep};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use wire::Stop;
use wire::text::quoted;

use super::db_steps::{
    Left, Told, dependent, failed, first_word, is_slow, refuse_secret, slow, unknown_table,
};
use crate::engine_context::who;
use crate::{EngineCx, Table};

/// How long a lock lasts that nothing frees: longer than any pool.
const LOCKED: SignedDuration = SignedDuration::from_mins(2);
/// Rows that go to the database as one.
const ROWS: usize = 10_000;

/// What each kind of step may hold besides `do` and `name`.
const FIELDS: [(&str, &[&str]); 12] = [
    ("select", &["sql", "params", "big", "output"]),
    ("dependent", &["table", "ids"]),
    ("lock", &["tables"]),
    ("unlock", &["tables"]),
    ("modify", &["sql", "params"]),
    ("insert", &["table", "rows"]),
    ("tree_add", &["table", "parent_id"]),
    ("tree_move", &["table", "id", "parent_id"]),
    ("tree_up", &["table", "id"]),
    ("tree_down", &["table", "id"]),
    ("tree_remove", &["table", "id"]),
    ("clear_dependent", &["table"]),
];

/// Statements that change tables instead of rows.
const OF_TABLES: [&str; 12] = [
    "create", "alter", "drop", "truncate", "rename", "comment", "grant", "revoke", "reindex", "analyze",
    "vacuum", "pragma",
];

/// The steps of a call at work.
pub(super) struct Pool {
    left: Left,
    /// Under which the call holds tables.
    holder: String,
    locked: BTreeSet<String>,
    changed: BTreeSet<String>,
    /// Numbers that earlier steps lend, by name in small letters.
    lent: HashMap<String, i64>,
}

/// A step's fields.
struct Step {
    word: String,
    fields: Map<String, Value>,
}

/// A value of a step, or what is wrong with it, in words.
type Field<T> = Result<T, String>;

impl Pool {
    pub(super) fn new(started: Instant, now: Timestamp) -> Self {
        // Its locks end before the call's commit, so nobody ever reads this name.
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let (process, call) = (std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed));
        Self {
            left: Left::new(started),
            holder: format!("{CALL}{}-{process}-{call}", now.as_nanosecond()),
            locked: BTreeSet::new(),
            changed: BTreeSet::new(),
            lent: HashMap::new(),
        }
    }

    /// Tables that steps changed.
    pub(super) fn changed(self) -> Vec<String> {
        self.changed.into_iter().collect()
    }

    /// Frees the tables that the steps still hold.
    pub(super) fn unlock_all(&mut self, cx: &mut EngineCx<'_>) -> Result<Vec<String>, Stop> {
        let locked: Vec<String> = std::mem::take(&mut self.locked).into_iter().collect();
        for table in &locked {
            leases::free(cx.tx, table, &self.holder)?;
        }
        Ok(locked)
    }

    /// Carries out one step.
    pub(super) fn carry_out(&mut self, cx: &mut EngineCx<'_>, step: Value) -> Result<Told, Stop> {
        let name = step.get("name").and_then(Value::as_str).map(str::to_lowercase);
        let step = match Step::read(step) {
            Ok(step) => step,
            Err(words) => return Ok(Err(words)),
        };
        let told = match step.word.as_str() {
            "select" => self.select(cx, &step)?,
            "dependent" => self.dependent(cx, &step)?,
            "lock" => self.lock(cx, &step)?,
            "unlock" => self.unlock(cx, &step)?,
            "modify" => self.modify(cx, &step)?,
            "insert" => self.insert(cx, &step)?,
            "clear_dependent" => self.clear(cx, &step)?,
            _ => self.tree(cx, &step)?,
        };
        if let (Some(name), Ok(told)) = (name, &told)
            && let Some(number) = told.get("value").or_else(|| told.get("insert_id")).and_then(Value::as_i64)
        {
            self.lent.insert(name, number);
        }
        Ok(told)
    }

    fn select(&mut self, cx: &mut EngineCx<'_>, step: &Step) -> Result<Told, Stop> {
        let (sql, params) = match (step.text("sql"), self.params(step)) {
            (Ok(sql), Ok(params)) => (sql, params),
            (Err(words), _) | (_, Err(words)) => return Ok(Err(words)),
        };
        let is_big = step.fields.get("big").and_then(Value::as_bool).unwrap_or(false);
        self.left.select(cx.tx, sql, &params, is_big)
    }

    fn dependent(&mut self, cx: &mut EngineCx<'_>, step: &Step) -> Result<Told, Stop> {
        let table = match step.text("table") {
            Ok(table) => table,
            Err(words) => return Ok(Err(words)),
        };
        let ids = match step.fields.get("ids") {
            None | Some(Value::Null) => None,
            Some(Value::Array(ids)) => {
                match ids.iter().map(|id| self.number(Some(id))).collect::<Option<Vec<_>>>() {
                    Some(ids) => Some(ids),
                    None => return Ok(Err("The ids of this step take whole numbers.".to_owned())),
                }
            }
            Some(_) => return Ok(Err("The ids of this step take a list of whole numbers.".to_owned())),
        };
        dependent(cx.tx, table, ids.as_deref())
    }

    fn lock(&mut self, cx: &mut EngineCx<'_>, step: &Step) -> Result<Told, Stop> {
        let tables = match step.tables() {
            Ok(Some(tables)) => tables,
            Ok(None) => return Ok(Err("The tables of this step take a list of names.".to_owned())),
            Err(words) => return Ok(Err(words)),
        };
        let mut busy = Vec::new();
        for table in &tables {
            if let Some(held) = self.held(cx, table)? {
                busy.push(format!("{table} ({held})"));
            }
        }
        if !busy.is_empty() {
            return Ok(Err(format!("Table is busy: {}.", busy.join(", "))));
        }
        for table in &tables {
            let take = Take {
                table,
                holder: &self.holder,
                user_id: cx.caller.id,
                what: "engine_db_execute",
                now: cx.now,
                until: cx.now + LOCKED,
            };
            if !leases::take(cx.tx, &take)? {
                return Ok(Err(format!("Table is busy: {table}.")));
            }
        }
        self.locked.extend(tables.iter().cloned());
        Ok(Ok(Map::from_iter([("tables".to_owned(), json!(tables))])))
    }

    fn unlock(&mut self, cx: &mut EngineCx<'_>, step: &Step) -> Result<Told, Stop> {
        let tables = match step.tables() {
            Ok(Some(tables)) => tables,
            Ok(None) => self.locked.iter().cloned().collect(),
            Err(words) => return Ok(Err(words)),
        };
        if let Some(other) = tables.iter().find(|table| !self.locked.contains(*table)) {
            return Ok(Err(format!("Not locked by this pool: {other}.")));
        }
        for table in &tables {
            leases::free(cx.tx, table, &self.holder)?;
            self.locked.remove(table);
        }
        Ok(Ok(Map::from_iter([("tables".to_owned(), json!(tables))])))
    }

    /// Who else has a table in work, in words. Until the end of the call nobody takes it anew.
    fn held(&self, cx: &mut EngineCx<'_>, table: &str) -> Result<Option<String>, Stop> {
        let held = leases::held(cx.tx, table, cx.now)?;
        Ok(held.filter(|lease| lease.holder != self.holder).map(|lease| who(&lease)))
    }

    /// Whether rows of a table may be changed now; what keeps them from it, in words.
    fn refuses(&self, cx: &mut EngineCx<'_>, table: &str) -> Result<Option<String>, Stop> {
        if !is_known(cx, table)? {
            return Ok(Some(unknown_table(table)));
        }
        if !schema::is_written_by_agents(table) {
            return Ok(Some(format!(
                "Closed to direct writes: {table}. Its rows hang together with others; the commands and tools made for it change it."
            )));
        }
        Ok(self.held(cx, table)?.map(|held| format!("Table is busy: {table} ({held}).")))
    }

    fn modify(&mut self, cx: &mut EngineCx<'_>, step: &Step) -> Result<Told, Stop> {
        let (sql, params) = match (step.text("sql"), self.params(step)) {
            (Ok(sql), Ok(params)) => (sql, params),
            (Err(words), _) | (_, Err(words)) => return Ok(Err(words)),
        };
        let word = first_word(sql).unwrap_or_default().to_ascii_lowercase();
        if OF_TABLES.contains(&word.as_str()) {
            return Ok(Err(format!(
                "This step changes the tables themselves: [{word}] is for the server's owner."
            )));
        }
        let Some((_, table)) = target(sql) else {
            return Ok(Err(format!(
                "A modify step carries out insert, update or delete, not [{}].",
                quoted(&word, 40)
            )));
        };
        if let Some(words) = self.refuses(cx, &table)? {
            return Ok(Err(words));
        }
        let started = Instant::now();
        let done =
            refuse_secret(sql).and_then(|()| cx.tx.agent_modify(sql, &params, &table, self.left.time()));
        let done = match done {
            Ok(done) => done,
            Err(error) => return failed(sql, error).map(Err),
        };
        let took = started.elapsed();
        self.changed.insert(table.clone());
        let told = json!({"affected": done.affected, "insert_id": done.insert_id});
        let mut told = told.as_object().cloned().unwrap_or_default();
        if is_slow(took) {
            let plan = cx.tx.agent_plan(sql, &params, &table, self.left.time()).unwrap_or_default();
            told.insert("slow".to_owned(), slow(took, &plan));
        }
        Ok(Ok(told))
    }

    fn insert(&mut self, cx: &mut EngineCx<'_>, step: &Step) -> Result<Told, Stop> {
        let (table, rows) = match (step.text("table"), self.rows(step)) {
            (Ok(table), Ok(rows)) => (table.to_lowercase(), rows),
            (Err(words), _) | (_, Err(words)) => return Ok(Err(words)),
        };
        if let Some(words) = self.refuses(cx, &table)? {
            return Ok(Err(words));
        }
        let mut ids = Vec::with_capacity(rows.len());
        for some in rows.chunks(ROWS) {
            match cx.tx.agent_insert(&table, some) {
                Ok(some) => ids.extend(some),
                Err(error) => return failed("", error).map(Err),
            }
        }
        self.changed.insert(table);
        let told = json!({"affected": ids.len(), "insert_id": ids.first(), "ids": ids});
        Ok(Ok(told.as_object().cloned().unwrap_or_default()))
    }

    fn tree(&mut self, cx: &mut EngineCx<'_>, step: &Step) -> Result<Told, Stop> {
        let (table, tree) = match self.open_tree(cx, step)? {
            Ok(found) => found,
            Err(words) => return Ok(Err(words)),
        };
        let told = match step.word.as_str() {
            "tree_add" => self.tree_add(cx, step, &table, tree)?,
            "tree_move" => self.tree_move(cx, step, &table, tree)?,
            "tree_remove" => match self.node(step) {
                Ok(id) => match tree.remove(cx.tx, id, cx.now)? {
                    0 => Err(no_node(id, &table)),
                    count => Ok(Map::from_iter([("deleted".to_owned(), json!(count))])),
                },
                Err(words) => Err(words),
            },
            word => match self.node(step) {
                Ok(id) if tree.step(cx.tx, id, word == "tree_up", cx.now)? => Ok(Map::new()),
                Ok(id) => Err(no_node(id, &table)),
                Err(words) => Err(words),
            },
        };
        if told.is_ok() {
            self.changed.insert(table);
        }
        Ok(told)
    }

    /// The tree of a step, where it may be changed now.
    fn open_tree(&self, cx: &mut EngineCx<'_>, step: &Step) -> Result<Field<(String, Tree)>, Stop> {
        let table = match step.text("table") {
            Ok(table) => table.to_lowercase(),
            Err(words) => return Ok(Err(words)),
        };
        if !is_known(cx, &table)? {
            return Ok(Err(unknown_table(&table)));
        }
        Ok(match trees::kind(&table) {
            Kind::Closed => Err(format!("This tree is not for the agent: {table}.")),
            Kind::None => Err(format!("Not a tree table: {table}.")),
            Kind::Open(tree) => match self.held(cx, &table)? {
                Some(held) => Err(format!("Table is busy: {table} ({held}).")),
                None => Ok((table, tree)),
            },
        })
    }

    fn tree_add(&self, cx: &mut EngineCx<'_>, step: &Step, table: &str, tree: Tree) -> Result<Told, Stop> {
        let parent = match self.parent(cx, step, table, tree)? {
            Ok(parent) => parent,
            Err(words) => return Ok(Err(words)),
        };
        Ok(match tree.add(cx.tx, parent, cx.caller.id, cx.now)? {
            Some(id) => Ok(Map::from_iter([("value".to_owned(), json!(id))])),
            None => {
                Err("It is not clear which menu the item is of: insert it into menu_items with its menu_id, \
                         or name a parent."
                    .to_owned())
            }
        })
    }

    fn tree_move(&self, cx: &mut EngineCx<'_>, step: &Step, table: &str, tree: Tree) -> Result<Told, Stop> {
        let id = match self.node(step) {
            Ok(id) => id,
            Err(words) => return Ok(Err(words)),
        };
        let parent = match self.parent(cx, step, table, tree)? {
            Ok(parent) => parent,
            Err(words) => return Ok(Err(words)),
        };
        Ok(match tree.move_to(cx.tx, id, parent, cx.now)? {
            Moved::Done => Ok(Map::new()),
            Moved::Not => Err(format!("No such node, or the parent sits inside it: {id} in {table}.")),
        })
    }

    /// The node of a step.
    fn node(&self, step: &Step) -> Field<i64> {
        self.number(step.fields.get("id")).ok_or_else(|| {
            "The id of this step takes a whole number, or `@name` of an earlier step.".to_owned()
        })
    }

    /// The parent of a step; none is the top.
    fn parent(
        &self,
        cx: &mut EngineCx<'_>,
        step: &Step,
        table: &str,
        tree: Tree,
    ) -> Result<Field<Option<i64>>, Stop> {
        Ok(match self.number(step.fields.get("parent_id")) {
            None => {
                Err("The parent_id of this step takes a whole number, 0 for the top, or `@name`.".to_owned())
            }
            Some(0) => Ok(None),
            Some(id) if tree.has(cx.tx, id)? => Ok(Some(id)),
            Some(id) => Err(format!("No parent {id} in {table}.")),
        })
    }

    fn clear(&mut self, cx: &mut EngineCx<'_>, step: &Step) -> Result<Told, Stop> {
        let table = match step.text("table") {
            Ok(table) => table.to_lowercase(),
            Err(words) => return Ok(Err(words)),
        };
        if !is_known(cx, &table)? {
            return Ok(Err(unknown_table(&table)));
        }
        if sweep::is_closed(&table) {
            return Ok(Err(format!("This sweep is not for the agent: {table}.")));
        }
        if !self.locked.is_empty() {
            let locked: Vec<&str> = self.locked.iter().map(String::as_str).collect();
            return Ok(Err(format!("Unlock before this sweep: {}.", locked.join(", "))));
        }
        let tied = sweep::tied(&table);
        if tied.is_empty() {
            return Ok(Err(format!(
                "No dependent list for {table}: nothing is tied to its rows by `entity`."
            )));
        }
        let mut cleared = Vec::new();
        for name in tied {
            let count = match self.held(cx, name)? {
                Some(_) => json!("busy"),
                None => json!(sweep::clear(cx.tx, &table, name)?),
            };
            if count.as_u64().is_some_and(|count| count > 0) {
                self.changed.insert(name.to_owned());
            }
            cleared.push([json!(name), count]);
        }
        let cleared = Table::new(["table", "cleared"], cleared);
        Ok(Ok(Map::from_iter([("cleared".to_owned(), serde_json::to_value(cleared)?)])))
    }

    /// A whole number, or what an earlier step lends.
    fn number(&self, value: Option<&Value>) -> Option<i64> {
        match value? {
            Value::String(text) => self.lent.get(&text.strip_prefix('@')?.to_lowercase()).copied(),
            other => other.as_i64(),
        }
    }

    /// A value with what an earlier step lends in its place. What names no earlier step is data.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(_) => self.number(Some(value)).map_or_else(|| value.clone(), Value::from),
            other => other.clone(),
        }
    }

    fn params(&self, step: &Step) -> Field<Vec<(String, Value)>> {
        match step.fields.get("params") {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Object(params)) => {
                Ok(params.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect())
            }
            Some(_) => Err("The params of this step take an object of values by name.".to_owned()),
        }
    }

    fn rows(&self, step: &Step) -> Field<Vec<Vec<(String, Value)>>> {
        let Some(Value::Array(rows)) = step.fields.get("rows") else {
            return Err("The field rows takes a list of rows, each an object of values by column.".to_owned());
        };
        let Some(first) = rows.first() else {
            return Err("Nothing to insert: rows is empty.".to_owned());
        };
        let names = |row: &Map<String, Value>| row.keys().cloned().collect::<BTreeSet<String>>();
        let first = first.as_object().map(names).unwrap_or_default();
        let mut filled = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            let Value::Object(row) = row else {
                return Err(format!("The field rows takes a list of rows: row {} is no object.", at + 1));
            };
            if names(row) != first {
                return Err(format!("Row {} has other columns than the first.", at + 1));
            }
            filled.push(row.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect());
        }
        Ok(filled)
    }
}

impl Step {
    /// Reads a step; what it may not hold is refused.
    fn read(step: Value) -> Field<Self> {
        let Value::Object(mut fields) = step else {
            return Err("This step is not of its form: it is no object.".to_owned());
        };
        let word = match fields.remove("do") {
            Some(Value::String(word)) => word,
            _ => String::new(),
        };
        fields.remove("name");
        let Some((_, known)) = FIELDS.iter().find(|(known, _)| *known == word) else {
            let words: Vec<&str> = FIELDS.iter().map(|(word, _)| *word).collect();
            return Err(format!("Unknown step: {}. There are {}.", quoted(&word, 60), words.join(", ")));
        };
        match fields.keys().find(|name| !known.contains(&name.as_str())) {
            Some(other) => Err(format!(
                "This step is not of its form: unknown field `{}`, expected one of {}.",
                quoted(other, 60),
                known.join(", ")
            )),
            None => Ok(Self { word, fields }),
        }
    }

    fn text(&self, name: &str) -> Field<&str> {
        let text = self.fields.get(name).and_then(Value::as_str);
        text.ok_or_else(|| format!("This step is not of its form: `{name}` takes a text."))
    }

    /// Names of tables, each one there is.
    fn tables(&self) -> Field<Option<Vec<String>>> {
        let given = match self.fields.get("tables") {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(given)) if !given.is_empty() => given,
            Some(_) => return Err("The tables of this step take a list of names.".to_owned()),
        };
        let name = |name: &Value| match name.as_str() {
            Some(name) => match schema::table(name) {
                Some(table) => Ok(table.name.to_owned()),
                None => Err(unknown_table(name)),
            },
            None => Err("The tables of this step take a list of names.".to_owned()),
        };
        let names = given.iter().map(name).collect::<Field<BTreeSet<String>>>()?;
        Ok(Some(names.into_iter().collect()))
    }
}

fn no_node(id: i64, table: &str) -> String {
    format!("No node {id} in {table}.")
}

/// Whether agents know a table of this name.
fn is_known(cx: &mut EngineCx<'_>, name: &str) -> Result<bool, Stop> {
    if schema::table(name).is_some() {
        return Ok(true);
    }
    Ok(structure::tables(cx.tx)?.iter().any(|table| table.name.eq_ignore_ascii_case(name)))
}
