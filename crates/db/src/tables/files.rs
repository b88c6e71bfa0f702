//! Files of rows: pictures of products, papers of pages.

use jiff::Timestamp;

use crate::record::record;
use crate::schema::{self, Access};
use crate::{DbError, Tx, rows};

record! {
    /// A file of a row.
    pub struct ElementFile {
        /// Number.
        pub id: i64,
        /// The table of the row.
        pub entity: String,
        /// The row's number.
        pub elem_id: i64,
        /// What it is for: `kImage`, ….
        pub kind_key: String,
        /// The name it came with.
        pub real_name: String,
        /// Its name below `files/`.
        pub stored_name: String,
        /// Its type.
        pub mime: String,
        /// Its size.
        pub bytes: i64,
        /// The hash of its content.
        pub sha256: String,
        /// Pixels.
        pub width: Option<i64>,
        /// Pixels.
        pub height: Option<i64>,
        /// What is to be seen.
        pub alt: String,
        /// Its place among the row's files.
        pub position: i64,
    }
}

/// A file that is to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewElementFile {
    /// The table of the row.
    pub entity: String,
    /// The row's number.
    pub elem_id: i64,
    /// What it is for: `kImage`, ….
    pub kind_key: String,
    /// Its place among the row's files; 0 is behind the last.
    pub position: i64,
    /// The name it came with.
    pub real_name: String,
    /// Its name below `files/`.
    pub stored_name: String,
    /// Its type.
    pub mime: String,
    /// Its size.
    pub bytes: i64,
    /// The hash of its content.
    pub sha256: String,
    /// Pixels.
    pub width: Option<i64>,
    /// Pixels.
    pub height: Option<i64>,
    /// What is to be seen.
    pub alt: String,
}

const COLUMNS: &str = "id, entity, elem_id, kind_key, real_name, stored_name, mime, bytes, sha256, width, height, alt, position";

/// The file of this name below `files/`.
pub fn by_stored_name(tx: &mut Tx, stored_name: &str) -> Result<Option<ElementFile>, DbError> {
    let sql = format!("select {COLUMNS} from files where stored_name = :name");
    tx.row(&sql, &[("name", stored_name.into())])?.map(|row| ElementFile::of(&row)).transpose()
}

/// The files of a row, in order.
pub fn of(tx: &mut Tx, entity: &str, elem_id: i64) -> Result<Vec<ElementFile>, DbError> {
    let sql =
        format!("select {COLUMNS} from files where entity = :entity and elem_id = :id order by position, id");
    let rows = tx.rows(&sql, &[("entity", entity.into()), ("id", elem_id.into())])?;
    rows.iter().map(ElementFile::of).collect()
}

/// The file of this number.
pub fn by_id(tx: &mut Tx, id: i64) -> Result<Option<ElementFile>, DbError> {
    let sql = format!("select {COLUMNS} from files where id = :id");
    tx.row(&sql, &[("id", id.into())])?.map(|row| ElementFile::of(&row)).transpose()
}

/// Removes a file's row; its content below `files/` stays.
pub fn remove(tx: &mut Tx, id: i64) -> Result<(), DbError> {
    tx.run("delete from files where id = :id", &[("id", id.into())])?;
    Ok(())
}

/// Whether rows of this table may have files: a table whose rows have numbers, and that holds no secret as a whole.
pub fn may_have(entity: &str) -> bool {
    let table = schema::tables().find(|table| table.name == entity);
    table.is_some_and(|table| table.has_id() && table.access != Access::Secret && entity != "files")
}

/// Whether there is such a row, which may have files.
pub fn has_element(tx: &mut Tx, entity: &str, id: i64) -> Result<bool, DbError> {
    let Some(table) = schema::tables().find(|table| table.name == entity && may_have(entity)) else {
        return Ok(false);
    };
    let alive = if table.keeps_deleted { " and deleted is null" } else { "" };
    let sql = format!("select 1 as yes from {} where id = :id{alive}", table.name);
    Ok(tx.row(&sql, &[("id", id.into())])?.is_some())
}

/// Adds a file's row; answers its number.
pub fn add(tx: &mut Tx, new: &NewElementFile, now: Timestamp) -> Result<i64, DbError> {
    let position = match new.position {
        0 => next_position(tx, new)?,
        given => given,
    };
    let now = crate::micros(now);
    rows::insert(
        tx,
        "files",
        &[
            ("entity", (&new.entity).into()),
            ("elem_id", new.elem_id.into()),
            ("kind_key", (&new.kind_key).into()),
            ("position", position.into()),
            ("real_name", (&new.real_name).into()),
            ("stored_name", (&new.stored_name).into()),
            ("mime", (&new.mime).into()),
            ("bytes", new.bytes.into()),
            ("sha256", (&new.sha256).into()),
            ("width", new.width.into()),
            ("height", new.height.into()),
            ("alt", (&new.alt).into()),
            ("created", now.as_str().into()),
            ("changed", now.as_str().into()),
        ],
    )
}

fn next_position(tx: &mut Tx, new: &NewElementFile) -> Result<i64, DbError> {
    let row = tx.row(
        "select coalesce(max(position), 0) + 1 as next from files where entity = :entity and elem_id = :id",
        &[("entity", (&new.entity).into()), ("id", new.elem_id.into())],
    )?;
    row.map_or(Ok(1), |row| row.get("next"))
}
