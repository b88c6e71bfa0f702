//! Records: what was written in a topic. They never change; the last one is the topic's state.

use jiff::Timestamp;

use crate::id_list::{self, Ids};
use crate::{DbError, Row, Tx, seconds};

/// A record without its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Number.
    pub id: i64,
    /// The topic it is in.
    pub topic_id: i64,
    /// Name of the topic.
    pub topic: String,
    /// The topic's section.
    pub section_id: i64,
    /// Who wrote it, in the assistant's words.
    pub author: String,
    /// Login of the person in whose name it was written.
    pub user: String,
    /// When, in UTC.
    pub time: String,
    /// What changed, in a line.
    pub comment: String,
    /// Bytes of the body.
    pub size: u64,
    /// Bytes of the appendix.
    pub appendix_size: u64,
}

/// A record to write.
#[derive(Clone, Debug)]
pub struct NewRecord<'a> {
    /// The topic.
    pub topic_id: i64,
    /// The person.
    pub user_id: i64,
    /// Who writes, in the assistant's words.
    pub author: &'a str,
    /// What changed, in a line.
    pub comment: &'a str,
    /// The text.
    pub body: &'a str,
    /// A further text.
    pub appendix: Option<&'a str>,
}

const HEADS: &str =
    "select r.id, r.topic_id, t.name as topic, t.section_id, r.author, u.login as user_login, r.time,
       r.comment, octet_length(r.body) as size, coalesce(octet_length(r.appendix), 0) as appendix_size
     from repo_records r
     join repo_topics t on t.id = r.topic_id
     join users u on u.id = r.user_id";

/// Records of a topic, the newest first: so many, after so many others.
pub fn of_topic(tx: &mut Tx, topic: i64, offset: i64, most: i64) -> Result<Vec<RecordHead>, DbError> {
    let sql = format!("{HEADS} where r.topic_id = :topic_id order by r.id desc limit :most offset :offset");
    let params = [("topic_id", topic.into()), ("most", most.into()), ("offset", offset.into())];
    tx.rows(&sql, &params)?.iter().map(head).collect()
}

/// The last record of each of some topics, in no order.
pub fn last_of(tx: &mut Tx, topics: &[i64]) -> Result<Vec<RecordHead>, DbError> {
    let mut heads = Vec::new();
    for topics in topics.chunks(id_list::MOST) {
        let ids = Ids::new("topic", topics);
        let sql = format!(
            "{HEADS} where r.id in (select max(l.id) from repo_records l where l.topic_id in {} group by l.topic_id)",
            ids.places()
        );
        for row in tx.rows(&sql, &ids.with(&[]))? {
            heads.push(head(&row)?);
        }
    }
    Ok(heads)
}

/// One record.
pub fn by_id(tx: &mut Tx, id: i64) -> Result<Option<RecordHead>, DbError> {
    let row = tx.row(&format!("{HEADS} where r.id = :id"), &[("id", id.into())])?;
    row.as_ref().map(head).transpose()
}

/// Body and appendix of a record.
pub fn texts(tx: &mut Tx, id: i64) -> Result<Option<(String, Option<String>)>, DbError> {
    let row = tx.row("select body, appendix from repo_records where id = :id", &[("id", id.into())])?;
    row.map(|row| Ok((row.get("body")?, row.get("appendix")?))).transpose()
}

/// Writes a record behind the others of its topic. Whether the topic is still there: then its number.
pub fn create(tx: &mut Tx, new: &NewRecord<'_>, now: Timestamp) -> Result<Option<i64>, DbError> {
    // Who removes the topic meanwhile waits, and the later one of two writers gets the higher number.
    tx.lock_row("repo_topics", new.topic_id)?;
    if tx.row("select id from repo_topics where id = :id", &[("id", new.topic_id.into())])?.is_none() {
        return Ok(None);
    }
    let id = tx.insert(
        "insert into repo_records (topic_id, user_id, time, author, comment, body, appendix)
         values (:topic_id, :user_id, :time, :author, :comment, :body, :appendix) returning id",
        &[
            ("topic_id", new.topic_id.into()),
            ("user_id", new.user_id.into()),
            ("time", seconds(now).into()),
            ("author", new.author.into()),
            ("comment", new.comment.into()),
            ("body", new.body.into()),
            ("appendix", new.appendix.map(str::to_owned).into()),
        ],
    )?;
    Ok(Some(id))
}

fn head(row: &Row) -> Result<RecordHead, DbError> {
    Ok(RecordHead {
        id: row.get("id")?,
        topic_id: row.get("topic_id")?,
        topic: row.get("topic")?,
        section_id: row.get("section_id")?,
        author: row.get("author")?,
        user: row.get("user_login")?,
        time: row.get("time")?,
        comment: row.get("comment")?,
        size: row.get("size")?,
        appendix_size: row.get("appendix_size")?,
    })
}
