//! Events: what happened in the store, and to whom it is addressed. See spec: program.md.

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::{DbError, Tx, seconds};

/// State of an event that nobody has taken.
pub const NEW: &str = "kNew";

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Number.
    pub id: i64,
    /// Author; `None` is the store itself.
    pub user_id: Option<i64>,
    /// The person it is addressed to.
    pub to_user: Option<i64>,
    /// The group it is addressed to.
    pub to_group: Option<i64>,
    /// The principal it names.
    pub princ_id: Option<i64>,
    /// Key, of the registry's branch `event_key`.
    pub key: String,
    /// State, of the registry's branch `event_state`.
    pub state: String,
    /// When it was raised, RFC 3339 in UTC.
    pub time: String,
    /// What it carries.
    pub data: Json,
}

/// What a new event needs.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// Author; `None` is the store itself.
    pub user_id: Option<i64>,
    /// The person it is addressed to.
    pub to_user: Option<i64>,
    /// The group it is addressed to.
    pub to_group: Option<i64>,
    /// The principal it names.
    pub princ_id: Option<i64>,
    /// Key, of the registry's branch `event_key`.
    pub key: String,
    /// What it carries.
    pub data: Json,
    /// When it is raised.
    pub now: Timestamp,
}

/// The event of this number.
pub fn find(tx: &mut Tx, id: i64) -> Result<Option<Event>, DbError> {
    let row = tx.row(
        "select id, user_id, to_user, to_group, princ_id, key, state, time, data from events where id = :id",
        &[("id", id.into())],
    )?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Event {
        id: row.get("id")?,
        user_id: row.get("user_id")?,
        to_user: row.get("to_user")?,
        to_group: row.get("to_group")?,
        princ_id: row.get("princ_id")?,
        key: row.get("key")?,
        state: row.get("state")?,
        time: row.get("time")?,
        data: data_of(&row.get::<String>("data")?),
    }))
}

/// What an event carries. A text that is no JSON, put there by hand, is carried as a text.
fn data_of(text: &str) -> Json {
    match text.trim() {
        "" => Json::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.to_owned())),
    }
}

/// Raises an event.
pub fn create(tx: &mut Tx, new: &NewEvent) -> Result<i64, DbError> {
    tx.insert(
        "insert into events (user_id, to_user, to_group, princ_id, key, state, time, data)
         values (:user_id, :to_user, :to_group, :princ_id, :key, :state, :time, :data) returning id",
        &[
            ("user_id", new.user_id.into()),
            ("to_user", new.to_user.into()),
            ("to_group", new.to_group.into()),
            ("princ_id", new.princ_id.into()),
            ("key", (&new.key).into()),
            ("state", NEW.into()),
            ("time", seconds(new.now).into()),
            ("data", new.data.to_string().into()),
        ],
    )
}
