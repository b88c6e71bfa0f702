//! The store's own AI tools: a tree of folders and tools, with commands and their fields.

use std::collections::{HashMap, HashSet};

use shop::ai_field::Field;

use crate::{DbError, Tx};

/// What stands between the names of a path.
const ARROW: &str = " -> ";

/// A tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Number.
    pub id: i64,
    /// Address, in capitals.
    pub unit: String,
    /// Names of its folders and its own.
    pub path: String,
    /// Description for the model.
    pub descr: String,
}

/// A command of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Number.
    pub id: i64,
    /// The tool.
    pub tool_id: i64,
    /// The function.
    pub name: String,
    /// Description.
    pub descr: String,
}

/// All tools, in the order of the tree.
pub fn all(tx: &mut Tx) -> Result<Vec<Tool>, DbError> {
    let rows = tx.rows(
        "select id, parent_id, unit, name, descr from ai_tools order by parent_id, position, id",
        &[],
    )?;
    let mut names: HashMap<i64, (Option<i64>, String)> = HashMap::new();
    let mut tools = Vec::new();
    for row in &rows {
        let (id, name): (i64, String) = (row.get("id")?, row.get("name")?);
        names.insert(id, (row.get("parent_id")?, name));
        if let Some(unit) = row.get::<Option<String>>("unit")? {
            tools.push(Tool { id, unit, path: String::new(), descr: row.get("descr")? });
        }
    }
    for tool in &mut tools {
        tool.path = path(&names, tool.id);
    }
    Ok(tools)
}

/// Number and address of the tool of an address, capitals aside.
pub fn by_unit(tx: &mut Tx, unit: &str) -> Result<Option<(i64, String)>, DbError> {
    let row = tx.row(
        "select id, unit from ai_tools where upper(unit) = :unit order by parent_id, position, id limit 1",
        &[("unit", unit.to_ascii_uppercase().into())],
    )?;
    row.map(|row| Ok((row.get("id")?, row.get("unit")?))).transpose()
}

/// A tree that somebody tied into a ring ends where it began.
fn path(names: &HashMap<i64, (Option<i64>, String)>, id: i64) -> String {
    let (mut parts, mut seen, mut next) = (Vec::new(), HashSet::new(), Some(id));
    while let Some((parent, name)) = next.filter(|id| seen.insert(*id)).and_then(|id| names.get(&id)) {
        parts.push(name.as_str());
        next = *parent;
    }
    parts.reverse();
    parts.join(ARROW)
}

/// Commands of one tool, or of all, in their order.
pub fn commands(tx: &mut Tx, tool: Option<i64>) -> Result<Vec<Command>, DbError> {
    let select = "select id, tool_id, name, descr from ai_commands";
    let order = "order by tool_id, position, id";
    let rows = match tool {
        None => tx.rows(&format!("{select} {order}"), &[])?,
        Some(tool) => {
            tx.rows(&format!("{select} where tool_id = :tool_id {order}"), &[("tool_id", tool.into())])?
        }
    };
    rows.iter()
        .map(|row| {
            Ok(Command {
                id: row.get("id")?,
                tool_id: row.get("tool_id")?,
                name: row.get("name")?,
                descr: row.get("descr")?,
            })
        })
        .collect()
}

/// Fields of a command, in their order.
pub fn fields(tx: &mut Tx, command: i64) -> Result<Vec<Field>, DbError> {
    let rows = tx.rows(
        "select name, type, required, default_value, descr from ai_fields
         where command_id = :command_id order by position, id",
        &[("command_id", command.into())],
    )?;
    rows.iter()
        .map(|row| {
            Ok(Field {
                name: row.get("name")?,
                kind: row.get("type")?,
                required: row.get("required")?,
                default: row.get("default_value")?,
                descr: row.get("descr")?,
            })
        })
        .collect()
}

/// Numbers of the commands that are granted to a person, by themselves or by a group.
pub fn granted(tx: &mut Tx, user: i64) -> Result<HashSet<i64>, DbError> {
    let rows = tx.rows(
        "select command_id from ai_grants where user_id = :user_id
            or group_id = (select main_group from users where id = :user_id)
            or group_id in (select group_id from user_groups where user_id = :user_id)",
        &[("user_id", user.into())],
    )?;
    rows.iter().map(|row| row.get("command_id")).collect()
}

/// Grants a command to a person or a group.
pub fn grant(tx: &mut Tx, command: i64, user: Option<i64>, group: Option<i64>) -> Result<(), DbError> {
    tx.run(
        "insert into ai_grants (command_id, user_id, group_id) values (:command_id, :user_id, :group_id)",
        &[("command_id", command.into()), ("user_id", user.into()), ("group_id", group.into())],
    )?;
    Ok(())
}

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

/// Adds a field to a command.
pub fn create_field(tx: &mut Tx, command: i64, new: &Field) -> Result<i64, DbError> {
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
