//! Units that failed: a line in `core/log/units.log`, and an event, not for every visitor anew.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use db::{Db, DbError, events};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::error::UnitError;

/// The log, from the root.
const LOG: &str = "core/log/units.log";
/// Where the log's former part lies.
const FORMER: &str = "core/log/units.1.log";
/// Size from which on the log begins anew.
const LARGEST: u64 = 8 << 20;
/// The same failure raises an event this often.
const QUIET: SignedDuration = SignedDuration::from_mins(10);
/// Most failures that are told apart.
const KNOWN: usize = 1000;

/// Where failures of units are recorded.
pub(crate) struct Failures {
    root: PathBuf,
    told: Mutex<HashMap<String, Timestamp>>,
    writing: Mutex<()>,
}

impl Failures {
    /// The records below a root.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, told: Mutex::default(), writing: Mutex::new(()) }
    }

    /// Records a failure. That it cannot be recorded stops nothing.
    pub(crate) fn record(&self, db: &Db, path: &str, error: &UnitError, now: Timestamp) {
        let text = error.to_string();
        self.note(path, error, now);
        if self.is_news(&text, now)
            && let Err(error) = raise(db, path, error, now)
        {
            tracing::warn!(%error, "The event of a failed unit was not raised");
        }
    }

    /// Writes a failure down, for who hears of it anyway.
    pub(crate) fn note(&self, path: &str, error: &UnitError, now: Timestamp) {
        let text = error.to_string();
        let place = error.place();
        tracing::warn!(unit = place.unit, line = place.line, column = place.column, "A unit failed");
        let line = json!({"time": now.to_string(), "page": wire::text::quoted(path, 200), "error": text});
        if let Err(error) = self.write(&line.to_string()) {
            tracing::warn!(%error, "core/log/units.log cannot be written");
        }
    }

    /// A line that a unit writes itself.
    pub(crate) fn line(&self, unit: &str, level: &str, text: &str, now: Timestamp) {
        let line = json!({"time": now.to_string(), "unit": unit, "level": level, "text": text});
        if let Err(error) = self.write(&line.to_string()) {
            tracing::warn!(%error, "core/log/units.log cannot be written");
        }
    }

    fn is_news(&self, text: &str, now: Timestamp) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.get(text).is_some_and(|last| now.duration_since(*last) < QUIET) {
            return false;
        }
        if told.len() >= KNOWN {
            told.clear();
        }
        told.insert(text.to_owned(), now);
        true
    }

    fn write(&self, line: &str) -> std::io::Result<()> {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.root.join(LOG);
        if fs::metadata(&path).is_ok_and(|meta| meta.len() > LARGEST) {
            fs::rename(&path, self.root.join(FORMER))?;
        }
        let mut file = File::options().create(true).append(true).open(path)?;
        file.write_all(format!("{line}\n").as_bytes())
    }
}

fn raise(db: &Db, path: &str, error: &UnitError, now: Timestamp) -> Result<(), DbError> {
    let place = error.place();
    let data = json!({
        "unit": place.unit,
        "line": place.line,
        "column": place.column,
        "error": error.to_string(),
        "page": wire::text::quoted(path, 200),
    });
    db.write(|tx| {
        let new = events::NewEvent {
            user_id: None,
            to_user: None,
            to_group: None,
            princ_id: None,
            key: "kUnitCrashed".to_owned(),
            data,
            now,
        };
        events::create(tx, &new).map(drop)
    })
}
