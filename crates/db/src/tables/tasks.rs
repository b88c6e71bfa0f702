//! The scheduler's tasks.

use jiff::Timestamp;
use shop::task;

use crate::{DbError, Tx, Value, registry, seconds};

/// How many tasks are in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateCount {
    /// Key of the state.
    pub state: String,
    /// Its name.
    pub name: String,
    /// How many.
    pub count: u64,
}

/// What a new task needs.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// Who gives it.
    pub creator_id: i64,
    /// Who shall do it.
    pub executor_id: i64,
    /// State, of [`shop::task::STATES`].
    pub state: String,
    /// What is to be done, in a line.
    pub name: String,
    /// What is to be done, in full.
    pub body: String,
    /// By when.
    pub due: Option<Timestamp>,
    /// When it is given.
    pub now: Timestamp,
}

/// Open tasks in which the move is this person's, by state.
///
/// The rule is [`shop::task::waits_for`], in SQL; a test holds the two together.
pub fn waiting(tx: &mut Tx, user: i64, language: &str) -> Result<Vec<StateCount>, DbError> {
    let sql = format!(
        "select state, count(*) as count from tasks
         where (executor_id = :user_id and state in ('{}', '{}', '{}')) or (creator_id = :user_id and state = '{}')
         group by state",
        task::NEW,
        task::REASSIGN,
        task::CLARIFY,
        task::COMPLETE
    );
    count(tx, &sql, user, language)
}

/// Open tasks this person gave to others, by state.
///
/// The rule is [`shop::task::is_given`], in SQL.
pub fn given(tx: &mut Tx, user: i64, language: &str) -> Result<Vec<StateCount>, DbError> {
    let sql = format!(
        "select state, count(*) as count from tasks
         where creator_id = :user_id and executor_id <> :user_id and state <> '{}' group by state",
        task::CLOSE
    );
    count(tx, &sql, user, language)
}

/// The counts in the order of the states; states without tasks are not named.
fn count(tx: &mut Tx, sql: &str, user: i64, language: &str) -> Result<Vec<StateCount>, DbError> {
    let rows = tx.rows(sql, &[("user_id", user.into())])?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut counts = Vec::with_capacity(rows.len());
    for (state, name) in registry::values(tx, "task_state", language)? {
        if let Some(row) = rows.iter().find(|row| row.value("state") == Some(&Value::Text(state.clone()))) {
            counts.push(StateCount { state, name, count: row.get("count")? });
        }
    }
    Ok(counts)
}

/// Adds a task.
pub fn create(tx: &mut Tx, new: &NewTask) -> Result<i64, DbError> {
    tx.insert(
        "insert into tasks (creator_id, executor_id, state, name, body, created, changed, due)
         values (:creator_id, :executor_id, :state, :name, :body, :now, :now, :due) returning id",
        &[
            ("creator_id", new.creator_id.into()),
            ("executor_id", new.executor_id.into()),
            ("state", (&new.state).into()),
            ("name", (&new.name).into()),
            ("body", (&new.body).into()),
            ("now", seconds(new.now).into()),
            ("due", new.due.map(seconds).into()),
        ],
    )
}

/// Moves a task to another state. Whether there is such a task.
pub fn set_state(tx: &mut Tx, id: i64, state: &str, now: Timestamp) -> Result<bool, DbError> {
    let touched = tx.run(
        "update tasks set state = :state, changed = :now where id = :id",
        &[("state", state.into()), ("now", seconds(now).into()), ("id", id.into())],
    )?;
    Ok(touched > 0)
}

/// A task's name; empty where it is none.
pub fn name(tx: &mut Tx, id: i64) -> Result<String, DbError> {
    let row = tx.row("select name from tasks where id = :id", &[("id", id.into())])?;
    row.map_or(Ok(String::new()), |row| row.get("name"))
}

/// Adds a note to a task.
pub fn add_note(tx: &mut Tx, task: i64, user: i64, body: &str, now: Timestamp) -> Result<i64, DbError> {
    tx.insert(
        "insert into task_notes (task_id, user_id, time, body) values (:task_id, :user_id, :time, :body)
         returning id",
        &[
            ("task_id", task.into()),
            ("user_id", user.into()),
            ("time", seconds(now).into()),
            ("body", body.into()),
        ],
    )
}
