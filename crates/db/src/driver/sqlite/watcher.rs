//! The connection that looks whether others have committed.

use std::path::Path;

use rusqlite::Connection;

use super::connect;

/// A connection to the file, and which one it is: each counts for itself.
#[derive(Default)]
pub(super) struct Watcher {
    connection: Option<Connection>,
    opened: u64,
}

impl Watcher {
    /// Numbers that are others after every commit of whatever program; `None` where they cannot be read.
    pub(super) fn numbers(&mut self, path: &Path) -> Option<(u64, i64)> {
        if self.connection.is_none() {
            self.connection = connect::reader(path).ok();
            self.opened += 1;
        }
        let read = self.connection.as_ref()?.prepare_cached("pragma data_version");
        let number = read.and_then(|mut sql| sql.query_row([], |row| row.get(0)));
        match number {
            Ok(number) => Some((self.opened, number)),
            Err(_) => {
                self.connection = None;
                None
            }
        }
    }
}
