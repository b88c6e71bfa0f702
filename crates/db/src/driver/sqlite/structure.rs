//! Tables that the owner made beside ours.

use super::error::error;
use super::introspect;
use super::session::SqliteSession;
use crate::DbError;
use crate::column_form::Shapes;
use crate::schema::OWNERS;

impl SqliteSession {
    /// The owner's tables with the forms of their columns.
    pub(crate) fn owners_tables(&mut self) -> Result<Shapes, DbError> {
        let connection = self.connection_mut()?;
        let sql = "select name from sqlite_master where type = 'table' and lower(substr(name, 1, :length)) = :owners";
        let mut statement = connection.prepare(sql).map_err(error)?;
        let length = i64::try_from(OWNERS.len()).unwrap_or(i64::MAX);
        let names = statement.query_map((length, OWNERS), |row| row.get::<_, String>(0));
        let names = names.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(error)?;
        names.into_iter().map(|name| Ok((name.clone(), introspect::shape(connection, &name)?))).collect()
    }
}
