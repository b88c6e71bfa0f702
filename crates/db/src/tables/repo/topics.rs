//! Topics: subjects in a section of the repository.

use jiff::Timestamp;
use shop::caseless::folded;

use crate::{DbError, Row, Tx, seconds};

/// A topic with what its last record says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Number.
    pub id: i64,
    /// The section it lies in.
    pub section_id: i64,
    /// Name, the only one of its section whatever the capitals.
    pub name: String,
    /// What it is about.
    pub descr: String,
    /// A line of words that belong to it.
    pub params: String,
    /// How many records it has.
    pub records: u64,
    /// When the last one was written, in UTC.
    pub last_time: Option<String>,
    /// Who wrote it, in the assistant's words.
    pub last_author: Option<String>,
    /// Login of the person in whose name it was written.
    pub last_user: Option<String>,
}

/// What an assistant says of a topic.
#[derive(Clone, Debug)]
pub struct Fields {
    /// Name.
    pub name: String,
    /// What it is about.
    pub descr: String,
    /// A line of words.
    pub params: String,
}

/// Topics with the number and the words of their last record.
const TOPICS: &str = "select t.id, t.section_id, t.name, t.descr, t.params,
       (select count(*) from repo_records c where c.topic_id = t.id) as records,
       r.id as last_id, r.time as last_time, r.author as last_author, u.login as last_user
     from repo_topics t
     left join repo_records r on r.id = (select max(l.id) from repo_records l where l.topic_id = t.id)
     left join users u on u.id = r.user_id";

/// The topics of a section: the one written last first, those without records last.
pub fn of_section(tx: &mut Tx, section: i64) -> Result<Vec<Topic>, DbError> {
    let sql = format!(
        "{TOPICS} where t.section_id = :section_id
         order by case when r.id is null then 1 else 0 end, r.id desc, t.id desc"
    );
    tx.rows(&sql, &[("section_id", section.into())])?.iter().map(topic).collect()
}

/// One topic.
pub fn by_id(tx: &mut Tx, id: i64) -> Result<Option<Topic>, DbError> {
    let row = tx.row(&format!("{TOPICS} where t.id = :id"), &[("id", id.into())])?;
    row.as_ref().map(topic).transpose()
}

/// Name and number of the section's topic of this name, whatever its capitals. Until the transaction ends nobody
/// else names a topic of the section.
pub fn named(tx: &mut Tx, section: i64, name: &str) -> Result<Option<(i64, String)>, DbError> {
    tx.lock_row("repo_sections", section)?;
    let row = tx.row(
        "select id, name from repo_topics where section_id = :section_id and name_folded = :name_folded",
        &[("section_id", section.into()), ("name_folded", folded(name).into())],
    )?;
    row.map(|row| Ok((row.get("id")?, row.get("name")?))).transpose()
}

/// Adds a topic in the name of a person; a name that the section has is a [`DbError::Conflict`], see [`named`].
pub fn create(tx: &mut Tx, section: i64, user: i64, fields: &Fields, now: Timestamp) -> Result<i64, DbError> {
    tx.insert(
        "insert into repo_topics (section_id, user_id, name, name_folded, descr, params, created, changed)
         values (:section_id, :user_id, :name, :name_folded, :descr, :params, :now, :now) returning id",
        &[
            ("section_id", section.into()),
            ("user_id", user.into()),
            ("name", (&fields.name).into()),
            ("name_folded", folded(&fields.name).into()),
            ("descr", (&fields.descr).into()),
            ("params", (&fields.params).into()),
            ("now", seconds(now).into()),
        ],
    )
}

/// Changes a topic; a name that the section has is a [`DbError::Conflict`], see [`named`].
pub fn update(tx: &mut Tx, id: i64, fields: &Fields, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "update repo_topics set name = :name, name_folded = :name_folded, descr = :descr, params = :params,
         changed = :now where id = :id",
        &[
            ("id", id.into()),
            ("name", (&fields.name).into()),
            ("name_folded", folded(&fields.name).into()),
            ("descr", (&fields.descr).into()),
            ("params", (&fields.params).into()),
            ("now", seconds(now).into()),
        ],
    )?;
    Ok(())
}

/// Removes a topic with its records; how many there were.
pub fn remove(tx: &mut Tx, id: i64) -> Result<u64, DbError> {
    // A record that is being written waits, and then finds no topic.
    tx.lock_row("repo_topics", id)?;
    let records = tx.run("delete from repo_records where topic_id = :id", &[("id", id.into())])?;
    tx.run("delete from repo_topics where id = :id", &[("id", id.into())])?;
    Ok(records)
}

fn topic(row: &Row) -> Result<Topic, DbError> {
    Ok(Topic {
        id: row.get("id")?,
        section_id: row.get("section_id")?,
        name: row.get("name")?,
        descr: row.get("descr")?,
        params: row.get("params")?,
        records: row.get("records")?,
        last_time: row.get("last_time")?,
        last_author: row.get("last_author")?,
        last_user: row.get("last_user")?,
    })
}
