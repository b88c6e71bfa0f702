//! The tree of operations and what of it is granted. See spec: rights.md.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Time;
use shop::operations::HOLDS;

use crate::{DbError, Row, Tx};

/// What stands between the names of a path.
pub const ARROW: &str = " -> ";

/// When and under which load a command may run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// From and to, in the store's time zone; may cross midnight.
    pub hours: Option<(Time, Time)>,
    /// Both ends as they stand in the table, where one of them is no time of day: then the command is closed.
    pub broken_hours: Option<(String, String)>,
    /// Largest load averages over 1, 5 and 15 minutes; 0 is no limit.
    pub load: [f64; 3],
}

/// The rows of `grants` that reach the person `:user_id`: their own, their main group's and their other groups'.
const REACHES: &str = "(g.user_id = :user_id
    or g.group_id = (select main_group from users where id = :user_id)
    or g.group_id in (select group_id from user_groups where user_id = :user_id))";

/// Commands granted to a person, sorted.
pub fn granted(tx: &mut Tx, user: i64) -> Result<Vec<String>, DbError> {
    let rows = tx.rows(
        &format!(
            "select distinct o.command from operations o join grants g on g.operation_id = o.id
             where o.command is not null and {REACHES} order by o.command"
        ),
        &[("user_id", user.into())],
    )?;
    let mut commands: Vec<String> =
        rows.iter().map(|row| row.get("command")).collect::<Result<_, DbError>>()?;
    for (holder, held) in HOLDS {
        let has = |command: &str| commands.iter().any(|granted| granted == command);
        if has(holder) && !has(held) {
            commands.push((*held).to_owned());
        }
    }
    commands.sort_unstable();
    Ok(commands)
}

/// Whether a command is granted to a person, by itself or with one that holds it.
pub fn is_granted(tx: &mut Tx, user: i64, command: &str) -> Result<bool, DbError> {
    for (holder, held) in HOLDS {
        if *held == command && is_granted_itself(tx, user, holder)? {
            return Ok(true);
        }
    }
    is_granted_itself(tx, user, command)
}

fn is_granted_itself(tx: &mut Tx, user: i64, command: &str) -> Result<bool, DbError> {
    let row = tx.row(
        &format!(
            "select 1 as yes from operations o join grants g on g.operation_id = o.id
             where o.command = :command and {REACHES} limit 1"
        ),
        &[("command", command.into()), ("user_id", user.into())],
    )?;
    Ok(row.is_some())
}

/// Path of a command's row in the tree, in a language: `AI Assistant -> Memory -> Get list`.
pub fn path(tx: &mut Tx, command: &str, language: &str) -> Result<Option<String>, DbError> {
    Ok(Tree::read(tx, language)?.path_of(command))
}

/// Path of the row or folder of this key.
pub fn row_path(tx: &mut Tx, skey: &str, language: &str) -> Result<Option<String>, DbError> {
    let tree = Tree::read(tx, language)?;
    Ok(tree.rows.values().find(|row| row.skey == skey).map(|row| tree.path(row)))
}

/// Paths of all agent commands, by command.
pub fn paths(tx: &mut Tx, language: &str) -> Result<BTreeMap<String, String>, DbError> {
    Ok(Tree::read(tx, language)?.agent_paths())
}

/// The same, and the path of one command more, for one reading of the tree.
pub fn paths_and(
    tx: &mut Tx,
    command: &str,
    language: &str,
) -> Result<(BTreeMap<String, String>, Option<String>), DbError> {
    let tree = Tree::read(tx, language)?;
    Ok((tree.agent_paths(), tree.path_of(command)))
}

/// When and under which load a command may run; no limits for a command that is not in the tree.
pub fn limits(tx: &mut Tx, command: &str) -> Result<Limits, DbError> {
    let row = tx.row(
        "select hours_begin, hours_end, load_1, load_5, load_15 from operations where command = :command",
        &[("command", command.into())],
    )?;
    row.as_ref().map_or_else(|| Ok(Limits::default()), limits_of)
}

/// Every command that is limited at all, with its limits.
pub fn limited(tx: &mut Tx) -> Result<Vec<(String, Limits)>, DbError> {
    let rows = tx.rows(
        "select command, hours_begin, hours_end, load_1, load_5, load_15 from operations
         where command is not null and (hours_begin is not null or hours_end is not null
            or load_1 > 0 or load_5 > 0 or load_15 > 0)
         order by command",
        &[],
    )?;
    rows.iter().map(|row| Ok((row.get("command")?, limits_of(row)?))).collect()
}

/// Hours of which one end is missing begin or end at midnight: half a limit is not none.
fn limits_of(row: &Row) -> Result<Limits, DbError> {
    let [begin, end] = ["hours_begin", "hours_end"].map(|column| row.get::<Option<String>>(column));
    let cells = (begin?.unwrap_or_default(), end?.unwrap_or_default());
    let (hours, broken_hours) = match (end_of_hours(&cells.0), end_of_hours(&cells.1)) {
        (Some(None), Some(None)) => (None, None),
        (Some(begin), Some(end)) => {
            (Some((begin.unwrap_or(Time::midnight()), end.unwrap_or(Time::midnight()))), None)
        }
        _ => (None, Some(cells)),
    };
    let load = [row.get("load_1")?, row.get("load_5")?, row.get("load_15")?];
    Ok(Limits { hours, broken_hours, load })
}

/// One end of a row's hours; an empty text is none, and `None` what is no time of day.
fn end_of_hours(cell: &str) -> Option<Option<Time>> {
    match cell.trim() {
        "" => Some(None),
        "24:00" => Some(Some(Time::midnight())),
        time => Time::strptime("%H:%M", time).ok().map(Some),
    }
}

/// Sets when and under which load a command may run. Whether there is such a command.
pub fn set_limits(tx: &mut Tx, command: &str, limits: &Limits) -> Result<bool, DbError> {
    let time = |time: Time| time.strftime("%H:%M").to_string();
    let touched = tx.run(
        "update operations set hours_begin = :hours_begin, hours_end = :hours_end,
         load_1 = :load_1, load_5 = :load_5, load_15 = :load_15 where command = :command",
        &[
            ("hours_begin", limits.hours.map(|hours| time(hours.0)).into()),
            ("hours_end", limits.hours.map(|hours| time(hours.1)).into()),
            ("load_1", limits.load[0].into()),
            ("load_5", limits.load[1].into()),
            ("load_15", limits.load[2].into()),
            ("command", command.into()),
        ],
    )?;
    Ok(touched > 0)
}

/// Grants a command to a person. Whether there is such a command.
pub fn grant_to_user(tx: &mut Tx, user: i64, command: &str) -> Result<bool, DbError> {
    grant(tx, "user_id", user, command)
}

/// Grants a command to a group. Whether there is such a command.
pub fn grant_to_group(tx: &mut Tx, group: i64, command: &str) -> Result<bool, DbError> {
    grant(tx, "group_id", group, command)
}

/// Commands granted to a group.
pub fn of_group(tx: &mut Tx, group: i64) -> Result<Vec<String>, DbError> {
    let rows = tx.rows(
        "select o.command from operations o join grants g on g.operation_id = o.id
         where o.command is not null and g.group_id = :group_id order by o.command",
        &[("group_id", group.into())],
    )?;
    rows.iter().map(|row| row.get("command")).collect()
}

/// Takes a grant from a person. Whether they had it.
pub fn revoke_from_user(tx: &mut Tx, user: i64, command: &str) -> Result<bool, DbError> {
    revoke(tx, "user_id", user, command)
}

/// Takes a grant from a group. Whether it had it.
pub fn revoke_from_group(tx: &mut Tx, group: i64, command: &str) -> Result<bool, DbError> {
    revoke(tx, "group_id", group, command)
}

fn grant(tx: &mut Tx, whom: &str, id: i64, command: &str) -> Result<bool, DbError> {
    let operation =
        tx.row("select id from operations where command = :command", &[("command", command.into())])?;
    let Some(operation) = operation else { return Ok(false) };
    tx.run(
        &format!(
            "insert into grants (operation_id, {whom}) values (:operation_id, :whom_id)
             on conflict (operation_id, {whom}) do nothing"
        ),
        &[("operation_id", operation.get::<i64>("id")?.into()), ("whom_id", id.into())],
    )?;
    Ok(true)
}

fn revoke(tx: &mut Tx, whom: &str, id: i64, command: &str) -> Result<bool, DbError> {
    let touched = tx.run(
        &format!(
            "delete from grants where {whom} = :whom_id
             and operation_id in (select id from operations where command = :command)"
        ),
        &[("whom_id", id.into()), ("command", command.into())],
    )?;
    Ok(touched > 0)
}

/// The whole tree; it is small.
struct Tree {
    rows: HashMap<i64, Operation>,
}

struct Operation {
    parent: Option<i64>,
    skey: String,
    command: Option<String>,
    name: String,
}

impl Tree {
    fn read(tx: &mut Tx, language: &str) -> Result<Self, DbError> {
        let found = tx.rows(
            "select o.id, o.parent_id, o.skey, o.command, coalesce(n.name, o.name) as name from operations o
             left join names n on n.entity = 'operations' and n.elem_id = o.id and n.language = :language",
            &[("language", language.into())],
        )?;
        let mut rows = HashMap::with_capacity(found.len());
        for row in found {
            let operation = Operation {
                parent: row.get("parent_id")?,
                skey: row.get("skey")?,
                command: row.get("command")?,
                name: row.get("name")?,
            };
            rows.insert(row.get("id")?, operation);
        }
        Ok(Self { rows })
    }

    fn agent_paths(&self) -> BTreeMap<String, String> {
        let commands = self.rows.values().filter_map(|row| row.command.clone().map(|command| (command, row)));
        commands
            .filter(|(command, _)| command.starts_with("AGENT_"))
            .map(|(command, row)| (command, self.path(row)))
            .collect()
    }

    fn path_of(&self, command: &str) -> Option<String> {
        self.rows.values().find(|row| row.command.as_deref() == Some(command)).map(|row| self.path(row))
    }

    fn path(&self, row: &Operation) -> String {
        let mut names = vec![row.name.as_str()];
        let mut parent = row.parent;
        // A tree that someone bent into a ring ends here all the same.
        while let Some(above) = parent.and_then(|id| self.rows.get(&id))
            && names.len() <= self.rows.len()
        {
            names.push(&above.name);
            parent = above.parent;
        }
        names.reverse();
        names.join(ARROW)
    }
}
