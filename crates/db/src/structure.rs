//! Tables as agents see them: columns with their kinds and keys, what points to what, and the declared meaning.
//!
//! Read off the build's own migrations, so that both databases tell the same; tables that the owner made beside them
//! are read off the database itself. Secrets are left out as a whole.

use std::sync::OnceLock;

use crate::column_form::Form;
use crate::id_list::{self, Ids};
use crate::schema::{self, Access, Words};
use crate::transaction::Session;
use crate::{DbError, Tx, transfer};

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// What it holds; empty for a table of the owner's.
    pub about: String,
    /// Whether only commands made for it write it.
    pub is_closed: bool,
    /// Its columns.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// `int`, `bool`, `real`, `text` or `bytes`; of the owner's tables as the database names it.
    pub kind: String,
    /// `PRI`, `UNI`, `MUL` (the first of a longer or repeating key) or nothing.
    pub key: &'static str,
    /// Whether it may be empty.
    pub is_nullable: bool,
    /// The table whose number it holds.
    pub points_to: Option<String>,
    /// What it means.
    pub about: String,
    /// Whose words are in it.
    pub words: Words,
}

/// A column that points to a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependent {
    /// The table that points.
    pub table: String,
    /// By this column.
    pub column: String,
    /// Whether it may be empty.
    pub is_nullable: bool,
}

/// All tables that agents read: the declared ones in their order, then the owner's.
pub fn tables(tx: &mut Tx) -> Result<Vec<Table>, DbError> {
    let mut all = declared()?.to_vec();
    let forms = match &mut tx.session {
        Session::Sqlite(session) => session.owners_tables()?,
        Session::Postgres(session) => session.owners_tables()?,
    };
    all.extend(forms.into_iter().map(|(name, columns)| owners(name, columns)));
    Ok(all)
}

/// Columns of other tables that point to this one; `None` for a table that is not there.
pub fn dependents(tx: &mut Tx, table: &str) -> Result<Option<Vec<Dependent>>, DbError> {
    let all = tables(tx)?;
    let Some(target) = all.iter().find(|known| known.name.eq_ignore_ascii_case(table)) else {
        return Ok(None);
    };
    let mut found = Vec::new();
    for table in &all {
        for column in &table.columns {
            if column.points_to.as_ref() == Some(&target.name) {
                let (table, column_name) = (table.name.clone(), column.name.clone());
                found.push(Dependent { table, column: column_name, is_nullable: column.is_nullable });
            }
        }
    }
    Ok(Some(found))
}

/// How many rows of a dependent point to one of these rows.
pub fn pointing(tx: &mut Tx, dependent: &Dependent, rows: &[i64]) -> Result<u64, DbError> {
    let mut count = 0;
    for rows in rows.chunks(id_list::MOST) {
        let ids = Ids::new("row", rows);
        let Dependent { table, column, .. } = dependent;
        let sql = format!("select count(*) as n from \"{table}\" where \"{column}\" in {}", ids.places());
        count += tx.row(&sql, &ids.with(&[]))?.map_or(Ok(0), |row| row.get::<u64>("n"))?;
    }
    Ok(count)
}

/// A table of the owner's: nobody declared what it is for.
fn owners(name: String, forms: Vec<(String, Form)>) -> Table {
    let column = |(name, form): (String, Form)| Column {
        name,
        kind: form.kind,
        key: form.key,
        is_nullable: form.is_nullable,
        points_to: form.points_to,
        about: String::new(),
        words: Words::None,
    };
    Table { name, about: String::new(), is_closed: false, columns: forms.into_iter().map(column).collect() }
}

/// The declared tables without secrets; made once.
fn declared() -> Result<&'static [Table], DbError> {
    static MADE: OnceLock<Vec<Table>> = OnceLock::new();
    if let Some(made) = MADE.get() {
        return Ok(made);
    }
    let shapes = transfer::shapes()?;
    let made = schema::tables().filter(|spec| spec.access != Access::Secret).map(|spec| {
        let shape = shapes.get(spec.name).cloned().unwrap_or_default();
        Table {
            name: spec.name.to_owned(),
            about: spec.about.to_owned(),
            is_closed: spec.access == Access::Closed,
            columns: spec
                .columns()
                .filter(|column| !column.is_secret)
                .filter_map(|column| {
                    let (_, form) = shape.iter().find(|(name, _)| name == column.name)?.clone();
                    Some(Column {
                        name: column.name.to_owned(),
                        kind: form.kind,
                        key: form.key,
                        is_nullable: form.is_nullable,
                        points_to: form.points_to,
                        about: column.meaning().to_owned(),
                        words: column.words,
                    })
                })
                .collect(),
        }
    });
    let made = made.collect();
    Ok(MADE.get_or_init(|| made))
}
