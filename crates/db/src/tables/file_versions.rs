//! Versions of the store's files: one row for each save or removal, by path.

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use crate::{DbError, Row, Tx, micros};

/// A version to be written.
#[derive(Clone, Debug)]
pub struct NewVersion<'a> {
    /// The file, from the store's root.
    pub path: &'a str,
    /// Hash of the content; `None` where the file is removed.
    pub hash: Option<&'a str>,
    /// Bytes.
    pub size: i64,
    /// The person; `None` for what was changed on the disk.
    pub user_id: Option<i64>,
    /// When.
    pub time: Timestamp,
    /// The agent application.
    pub application: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The path before, where a rename begins this one.
    pub moved_from: Option<&'a str>,
}

/// A version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Number.
    pub id: i64,
    /// The file, from the store's root.
    pub path: String,
    /// Hash of the content; `None` where the file was removed.
    pub hash: Option<String>,
    /// Bytes.
    pub size: i64,
    /// Name of the person; empty where none did it or the person is gone.
    pub user: String,
    /// When.
    pub time: Timestamp,
    /// The agent application.
    pub application: String,
    /// The tool.
    pub tool: String,
    /// The path before, where a rename began this one.
    pub moved_from: Option<String>,
}

impl Version {
    /// As the journal keeps it.
    pub fn as_json(&self) -> Json {
        json!({"id": self.id, "path": self.path, "hash": self.hash, "size": self.size})
    }
}

const COLUMNS: &str =
    "v.id, v.path, v.hash, v.size, v.time, v.application, v.tool, v.moved_from, u.name as user_name
    from file_versions v left join users u on u.id = v.user_id";

/// Writes a version; answers its number.
///
/// Versions of a path are written one after another, so that the greatest number is the newest.
pub fn add(tx: &mut Tx, new: &NewVersion<'_>) -> Result<i64, DbError> {
    tx.insert(
        "insert into file_versions (path, hash, size, user_id, time, application, tool, moved_from)
         values (:path, :hash, :size, :user_id, :time, :application, :tool, :moved_from) returning id",
        &[
            ("path", new.path.into()),
            ("hash", new.hash.into()),
            ("size", new.size.into()),
            ("user_id", new.user_id.into()),
            ("time", micros(new.time).into()),
            ("application", new.application.into()),
            ("tool", new.tool.into()),
            ("moved_from", new.moved_from.into()),
        ],
    )
}

/// Nobody else writes versions of this path until the end of the transaction.
pub fn hold(tx: &mut Tx, path: &str) -> Result<(), DbError> {
    tx.lock(&format!("file {path}"))
}

/// The newest version of a path.
pub fn newest(tx: &mut Tx, path: &str) -> Result<Option<Version>, DbError> {
    let sql = format!("select {COLUMNS} where v.path = :path order by v.id desc limit 1");
    tx.row(&sql, &[("path", path.into())])?.map(|row| version(&row)).transpose()
}

/// The version of this number.
pub fn find(tx: &mut Tx, id: i64) -> Result<Option<Version>, DbError> {
    let sql = format!("select {COLUMNS} where v.id = :id");
    tx.row(&sql, &[("id", id.into())])?.map(|row| version(&row)).transpose()
}

/// Versions of a path, the newest first, at most `most`.
pub fn list(tx: &mut Tx, path: &str, most: u32) -> Result<Vec<Version>, DbError> {
    let sql = format!("select {COLUMNS} where v.path = :path order by v.id desc limit :most");
    tx.rows(&sql, &[("path", path.into()), ("most", most.into())])?.iter().map(version).collect()
}

/// The newest version of every path, those of removed files too.
pub fn newest_of_all(tx: &mut Tx) -> Result<Vec<Version>, DbError> {
    let sql = format!(
        "select {COLUMNS} where v.id in (select max(id) from file_versions group by path) order by v.path"
    );
    tx.rows(&sql, &[])?.iter().map(version).collect()
}

/// Hashes after this one, in order, at most so many, each with a path that had the content.
pub fn hashes(tx: &mut Tx, after: &str, most: u32) -> Result<Vec<(String, String)>, DbError> {
    let sql = "select hash, min(path) as path from file_versions where hash > :after group by hash
               order by hash limit :most";
    let rows = tx.rows(sql, &[("after", after.into()), ("most", most.into())])?;
    rows.iter().map(|row| Ok((row.get("hash")?, row.get("path")?))).collect()
}

/// How many contents and bytes all versions are of.
pub fn extent(tx: &mut Tx) -> Result<(u64, u64), DbError> {
    let sql = "select count(*) as contents, cast(coalesce(sum(size), 0) as bigint) as bytes
               from (select distinct hash, size from file_versions where hash is not null) c";
    let Some(row) = tx.row(sql, &[])? else { return Ok((0, 0)) };
    Ok((row.get::<i64>("contents")?.unsigned_abs(), row.get::<i64>("bytes")?.unsigned_abs()))
}

/// Whether some version of this path had this content.
pub fn has_been(tx: &mut Tx, path: &str, hash: &str) -> Result<bool, DbError> {
    let sql = "select id from file_versions where path = :path and hash = :hash limit 1";
    Ok(tx.row(sql, &[("path", path.into()), ("hash", hash.into())])?.is_some())
}

fn version(row: &Row) -> Result<Version, DbError> {
    Ok(Version {
        id: row.get("id")?,
        path: row.get("path")?,
        hash: row.get("hash")?,
        size: row.get("size")?,
        user: row.get::<Option<String>>("user_name")?.unwrap_or_default(),
        time: row.get("time")?,
        application: row.get("application")?,
        tool: row.get("tool")?,
        moved_from: row.get("moved_from")?,
    })
}
