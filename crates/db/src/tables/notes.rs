//! Notes of the store's memory. See spec: tools.md, memory.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::{Value as Json, json};
pub use shop::note::Level;
use shop::note::{CRITICAL, precedence};

use crate::id_list::{self, Ids};
use crate::{DbError, FromValue, Row, Tx, Value, registry, seconds};

/// A note without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteHead {
    /// Number.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Kind, of the registry's branch `note_kind`.
    pub kind_key: String,
    /// Whom it is for.
    pub level: Level,
    /// Name of the group, for notes of a group.
    pub group: Option<String>,
    /// Category, free text.
    pub category: String,
    /// What it is about, in a line.
    pub info: String,
    /// Bytes of the body.
    pub size: u64,
    /// When it was changed, RFC 3339 in UTC.
    pub edit_time: String,
}

/// A note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// All but the body.
    pub head: NoteHead,
    /// Simple HTML.
    pub body: String,
}

/// Whose a new note is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Everybody's.
    All,
    /// This group's.
    Group(i64),
    /// This person's.
    Own(i64),
}

impl Owner {
    fn level(self) -> Level {
        match self {
            Self::All => Level::All,
            Self::Group(_) => Level::Group,
            Self::Own(_) => Level::Own,
        }
    }
}

/// The fields of a note that are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Name.
    pub name: String,
    /// Kind, of the registry's branch `note_kind`.
    pub kind_key: String,
    /// Category.
    pub category: String,
    /// What it is about, in a line.
    pub info: String,
    /// Simple HTML.
    pub body: String,
}

const COLUMNS: &str =
    "m.id, m.name, m.kind_key, m.level, coalesce(n.name, g.name) as group_name, m.category, m.info,
    octet_length(m.body) as size, m.edit_time";

const TABLES: &str = "from notes m left join groups g on g.id = m.group_id
    left join names n on n.entity = 'groups' and n.elem_id = g.id and n.language = :language";

/// Which notes the person `:user_id` of the groups in `ids` sees.
fn seen(groups: &Ids) -> String {
    format!(
        "(m.level = 'all' or (m.level = 'group' and m.group_id in {}) or (m.level = 'own' and m.user_id = :user_id))",
        groups.places()
    )
}

/// Notes that a person sees, in order of precedence; names of groups in a language.
pub fn visible(tx: &mut Tx, user: i64, groups: &[i64], language: &str) -> Result<Vec<NoteHead>, DbError> {
    let groups = Ids::new("group", groups);
    let rows = tx.rows(
        &format!("select {COLUMNS} {TABLES} where {}", seen(&groups)),
        &groups.with(&[("user_id", user.into()), ("language", language.into())]),
    )?;
    let mut heads = rows.iter().map(head).collect::<Result<Vec<_>, _>>()?;
    heads.sort_by(|a, b| {
        let place = |head: &NoteHead| precedence(&head.kind_key, head.level);
        place(a).cmp(&place(b)).then_with(|| a.name.cmp(&b.name)).then(a.id.cmp(&b.id))
    });
    Ok(heads)
}

/// Numbers of the critical notes that a person sees.
pub fn critical(tx: &mut Tx, user: i64, groups: &[i64]) -> Result<Vec<i64>, DbError> {
    let groups = Ids::new("group", groups);
    let rows = tx.rows(
        &format!(
            "select m.id from notes m where m.kind_key = '{CRITICAL}' and {} order by m.id",
            seen(&groups)
        ),
        &groups.with(&[("user_id", user.into())]),
    )?;
    rows.iter().map(|row| row.get("id")).collect()
}

/// How many notes a person sees.
pub fn count(tx: &mut Tx, user: i64, groups: &[i64]) -> Result<u64, DbError> {
    let groups = Ids::new("group", groups);
    let row = tx.row(
        &format!("select count(*) as count from notes m where {}", seen(&groups)),
        &groups.with(&[("user_id", user.into())]),
    )?;
    row.map_or(Ok(0), |row| row.get("count"))
}

/// Those of the asked notes that the person sees, in the order they were asked for, each once.
pub fn load(
    tx: &mut Tx,
    user: i64,
    groups: &[i64],
    asked: &[i64],
    language: &str,
) -> Result<Vec<Note>, DbError> {
    let groups = Ids::new("group", groups);
    let mut found = HashMap::new();
    for part in asked.chunks(id_list::MOST) {
        let asked = Ids::new("id", part);
        let sql = format!(
            "select {COLUMNS}, m.body {TABLES} where m.id in {} and {}",
            asked.places(),
            seen(&groups)
        );
        let params = asked.with(&groups.with(&[("user_id", user.into()), ("language", language.into())]));
        for row in tx.rows(&sql, &params)? {
            let head = head(&row)?;
            found.insert(head.id, Note { head, body: row.get("body")? });
        }
    }
    Ok(asked.iter().filter_map(|id| found.remove(id)).collect())
}

/// One note, if the person sees it.
pub fn find(
    tx: &mut Tx,
    user: i64,
    groups: &[i64],
    id: i64,
    language: &str,
) -> Result<Option<Note>, DbError> {
    Ok(load(tx, user, groups, &[id], language)?.pop())
}

/// Adds a note.
pub fn create(tx: &mut Tx, owner: Owner, fields: &Fields, now: Timestamp) -> Result<i64, DbError> {
    let (user, group) = match owner {
        Owner::All => (None, None),
        Owner::Group(id) => (None, Some(id)),
        Owner::Own(id) => (Some(id), None),
    };
    tx.insert(
        "insert into notes (level, user_id, group_id, kind_key, name, category, info, body, edit_time)
         values (:level, :user_id, :group_id, :kind_key, :name, :category, :info, :body, :edit_time) returning id",
        &[
            ("level", owner.level().as_str().into()),
            ("user_id", user.into()),
            ("group_id", group.into()),
            ("kind_key", (&fields.kind_key).into()),
            ("name", (&fields.name).into()),
            ("category", (&fields.category).into()),
            ("info", (&fields.info).into()),
            ("body", (&fields.body).into()),
            ("edit_time", seconds(now).into()),
        ],
    )
}

/// Changes a note. Whether there is such a note.
pub fn update(tx: &mut Tx, id: i64, fields: &Fields, now: Timestamp) -> Result<bool, DbError> {
    let touched = tx.run(
        "update notes set kind_key = :kind_key, name = :name, category = :category, info = :info, body = :body,
         edit_time = :edit_time where id = :id",
        &[
            ("kind_key", (&fields.kind_key).into()),
            ("name", (&fields.name).into()),
            ("category", (&fields.category).into()),
            ("info", (&fields.info).into()),
            ("body", (&fields.body).into()),
            ("edit_time", seconds(now).into()),
            ("id", id.into()),
        ],
    )?;
    Ok(touched > 0)
}

/// Removes a note. Whether there was one.
pub fn remove(tx: &mut Tx, id: i64) -> Result<bool, DbError> {
    Ok(tx.run("delete from notes where id = :id", &[("id", id.into())])? > 0)
}

/// The row of a note as the journal keeps it. Holds the row to the end of the transaction,
/// so that what is then changed is what the journal says was there before.
pub fn row(tx: &mut Tx, id: i64) -> Result<Option<Json>, DbError> {
    tx.lock_row("notes", id)?;
    let row = tx.row(
        "select id, level, user_id, group_id, kind_key, name, category, info, body, edit_time
         from notes where id = :id",
        &[("id", id.into())],
    )?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(json!({
        "id": row.get::<i64>("id")?,
        "level": row.get::<String>("level")?,
        "user_id": row.get::<Option<i64>>("user_id")?,
        "group_id": row.get::<Option<i64>>("group_id")?,
        "kind_key": row.get::<String>("kind_key")?,
        "name": row.get::<String>("name")?,
        "category": row.get::<String>("category")?,
        "info": row.get::<String>("info")?,
        "body": row.get::<String>("body")?,
        "edit_time": row.get::<String>("edit_time")?,
    })))
}

/// Keys and names of the store's kinds of notes.
pub fn kinds(tx: &mut Tx, language: &str) -> Result<Vec<(String, String)>, DbError> {
    registry::values(tx, "note_kind", language)
}

fn head(row: &Row) -> Result<NoteHead, DbError> {
    Ok(NoteHead {
        id: row.get("id")?,
        name: row.get("name")?,
        kind_key: row.get("kind_key")?,
        level: row.get("level")?,
        group: row.get("group_name")?,
        category: row.get("category")?,
        info: row.get("info")?,
        size: row.get("size")?,
        edit_time: row.get("edit_time")?,
    })
}

impl FromValue for Level {
    const WANTED: &'static str = "a level of notes";
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Self::parse(text),
            _ => None,
        }
    }
}
