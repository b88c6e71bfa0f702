//! The store's own AI tools: a tree of folders and tools, with commands and their fields.

use crate::{DbError, Tx};

/// How many tools there are; folders are not counted.
pub fn count(tx: &mut Tx) -> Result<u64, DbError> {
    let row = tx.row("select count(*) as count from ai_tools where unit is not null", &[])?;
    row.map_or(Ok(0), |row| row.get("count"))
}

/// Adds a folder.
pub fn create_folder(tx: &mut Tx, parent: Option<i64>, name: &str) -> Result<i64, DbError> {
    create(tx, parent, None, name, "")
}

/// Adds a tool; `unit` is its address, in capitals.
pub fn create_tool(
    tx: &mut Tx,
    parent: Option<i64>,
    unit: &str,
    name: &str,
    descr: &str,
) -> Result<i64, DbError> {
    create(tx, parent, Some(unit), name, descr)
}

fn create(
    tx: &mut Tx,
    parent: Option<i64>,
    unit: Option<&str>,
    name: &str,
    descr: &str,
) -> Result<i64, DbError> {
    tx.insert(
        "insert into ai_tools (parent_id, position, unit, name, descr) values (:parent_id,
         (select coalesce(max(position), 0) + 1 from ai_tools), :unit, :name, :descr) returning id",
        &[
            ("parent_id", parent.into()),
            ("unit", unit.into()),
            ("name", name.into()),
            ("descr", descr.into()),
        ],
    )
}

/// Adds a command to a tool.
pub fn create_command(tx: &mut Tx, tool: i64, name: &str, descr: &str) -> Result<i64, DbError> {
    tx.insert(
        "insert into ai_commands (tool_id, position, name, descr) values (:tool_id,
         (select coalesce(max(position), 0) + 1 from ai_commands where tool_id = :tool_id), :name, :descr)
         returning id",
        &[("tool_id", tool.into()), ("name", name.into()), ("descr", descr.into())],
    )
}

/// A field of a command.
#[derive(Clone, Debug)]
pub struct NewField {
    /// Name.
    pub name: String,
    /// Type: `str`, `int`, `int/json`, …
    pub kind: String,
    /// Whether a call must name it.
    pub required: bool,
    /// The value where a call does not name it, as JSON.
    pub default: Option<String>,
    /// Description for the model.
    pub descr: String,
}

/// Adds a field to a command.
pub fn create_field(tx: &mut Tx, command: i64, new: &NewField) -> Result<i64, DbError> {
    tx.insert(
        "insert into ai_fields (command_id, position, name, type, required, default_value, descr) values (:command_id,
         (select coalesce(max(position), 0) + 1 from ai_fields where command_id = :command_id),
         :name, :type, :required, :default_value, :descr) returning id",
        &[
            ("command_id", command.into()),
            ("name", (&new.name).into()),
            ("type", (&new.kind).into()),
            ("required", new.required.into()),
            ("default_value", new.default.clone().into()),
            ("descr", (&new.descr).into()),
        ],
    )
}
