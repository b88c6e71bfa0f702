//! `engine_db_tables`: the tables of the store's database, and what their columns mean.

use db::schema::Words;
use db::structure::{self, Column};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shop::caseless::folded;
use wire::text::quoted;
use wire::{Refusal, Stop, catalogue};

use crate::{EngineCx, LocalContext, Presented, Right, Table};

/// Most tables that are named for one that is not there.
const SIMILAR: usize = 8;

crate::tool!("engine_db_tables", right: Right::Command("AGENT_ENGINE_DB_TABLES"), effect: Reads,
    refuses: [table_not_found], run: run, present: present);

/// Lists the tables of the store's database, or the columns of one, with what they mean.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Table
    name: Option<String>,
    /// Taken, not needed: the answer is always of now
    #[serde(rename = "reload")]
    _reload: Option<bool>,
}

/// Tables, or one.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// A table of `name`, `about`, `closed` (only commands made for it write it).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tables: Option<Table>,
    /// Name of the one table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// What it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    /// Whether only commands made for it write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    closed: Option<bool>,
    /// A table of `name`, `type`, `key` (`PRI`, `UNI`, `MUL` or empty), `null`, `refs` (table it points to), `about`,
    /// `words` (`visitors` or `suppliers` where people from outside wrote it, else empty).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<Table>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let tables = structure::tables(cx.tx)?;
    let Some(name) = args.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) else {
        let columns = ["name", "about", "closed"];
        let rows =
            tables.into_iter().map(|table| [table.name.into(), table.about.into(), table.is_closed.into()]);
        return Ok(Answer { tables: Some(Table::new(columns, rows)), ..Answer::default() });
    };
    let found = tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
    let table =
        found.cloned().ok_or_else(|| not_found(name, tables.iter().map(|table| table.name.as_str())))?;
    let columns = ["name", "type", "key", "null", "refs", "about", "words"];
    Ok(Answer {
        name: Some(table.name),
        about: Some(table.about),
        closed: Some(table.is_closed),
        columns: Some(Table::new(columns, table.columns.into_iter().map(row))),
        ..Answer::default()
    })
}

/// Names the tables whose names look like the one that is not there.
fn not_found<'a>(name: &str, tables: impl Iterator<Item = &'a str>) -> Refusal {
    let wanted = folded(name);
    let stem = wanted.trim_end_matches(['s', 'y']);
    let like = |table: &&str| {
        !stem.is_empty() && (table.contains(stem) || wanted.contains(table.trim_end_matches('s')))
    };
    let similar: Vec<String> = tables.filter(like).take(SIMILAR).map(|table| format!("`{table}`")).collect();
    let similar =
        if similar.is_empty() { String::new() } else { format!(" Similar: {}.", similar.join(", ")) };
    catalogue::table_not_found(&quoted(name, 80), &similar)
}

fn row(column: Column) -> [Value; 7] {
    let words = match column.words {
        Words::Visitor => "visitors",
        Words::Supplier => "suppliers",
        Words::None | Words::Store => "",
    };
    [
        column.name.into(),
        column.kind.into(),
        column.key.into(),
        column.is_nullable.into(),
        column.points_to.into(),
        column.about.into(),
        words.into(),
    ]
}

fn present(_: &LocalContext, _: Args, answer: Answer) -> Result<Presented, Stop> {
    Ok(Presented::data(json!(answer)))
}
