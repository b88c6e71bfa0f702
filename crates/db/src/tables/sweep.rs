//! Rows that are tied to a row by its table's name and its number, and whose row is gone.

use crate::schema::{self, TableSpec, is_written_by_agents};
use crate::{DbError, Tx};

/// Tables whose sweep is a matter of the people who look after them.
const CLOSED: [&str; 5] = ["users", "groups", "operations", "ai_tools", "repo_sections"];

/// Whether agents may not sweep what is tied to this table.
pub fn is_closed(table: &str) -> bool {
    CLOSED.contains(&table)
}

/// Tables with rows that may be tied to a row of `table`; none where its rows have no number.
pub fn tied(table: &str) -> Vec<&'static str> {
    if schema::table(table).is_none_or(|table| !table.has_id()) {
        return Vec::new();
    }
    let is_tied = |spec: &&TableSpec| {
        let has = |name: &str| spec.columns().any(|column| column.name == name);
        has("entity") && has("elem_id") && !spec.is_tree && is_written_by_agents(spec.name)
    };
    schema::tables().filter(is_tied).map(|spec| spec.name).collect()
}

/// Removes the rows of `tied` that are tied to rows of `table` that are not there; how many.
pub fn clear(tx: &mut Tx, table: &str, tied: &'static str) -> Result<u64, DbError> {
    // Both names are checked: they are of declared tables.
    let Some(spec) = schema::table(table) else { return Ok(0) };
    let sql = format!(
        "delete from {tied} where entity = :entity and elem_id is not null
           and not exists (select 1 from {} t where t.id = {tied}.elem_id)",
        spec.name
    );
    tx.run(&sql, &[("entity", spec.name.into())])
}
