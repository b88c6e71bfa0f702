//! Addresses of pages: one current for each row and language, moved ones that lead to it, and those that are gone.

use std::collections::HashMap;

use jiff::Timestamp;
use shop::text::folded;

use crate::id_list::Ids;
use crate::record::record;
use crate::{DbError, Tx, micros};

/// What an address leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The page itself.
    Here(Element),
    /// Another address, in one step, however often the page moved.
    Moved(Element, String),
    /// Nothing any more; where a product was replaced, the address of that one.
    Gone(Element, Option<String>),
}

/// A row that has a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its table: `products`, `categories`, `pages`.
    pub entity: String,
    /// Its number.
    pub id: i64,
}

record! {
    /// A found address.
    pub struct Found {
        /// The table of the row.
        pub entity: String,
        /// The row's number.
        pub elem_id: i64,
        /// State.
        pub state: String,
        /// The current address of the row.
        pub current: Option<String>,
        /// The current address of the product that replaced it.
        pub replaced: Option<String>,
    }
}

/// What an address leads to in a language; `None` where it never was one.
pub fn find(tx: &mut Tx, language: &str, path: &str) -> Result<Option<Destination>, DbError> {
    let row = tx.row(
        "select s.entity, s.elem_id, s.state, c.path as current, r.path as replaced
         from slugs s
         left join slugs c on c.entity = s.entity and c.elem_id = s.elem_id and c.language = s.language
           and c.state = 'kCurrent'
         left join product_links k on s.entity = 'products' and k.product_id = s.elem_id and k.kind = 'kReplacedBy'
         left join slugs r on r.entity = 'products' and r.elem_id = k.linked_id and r.language = s.language
           and r.state = 'kCurrent'
         where s.language = :language and s.path_folded = :path",
        &[("language", language.into()), ("path", folded(path).into())],
    )?;
    let Some(row) = row else { return Ok(None) };
    let found = Found::of(&row)?;
    let element = Element { entity: found.entity, id: found.elem_id };
    Ok(Some(match (found.state.as_str(), found.current) {
        ("kCurrent", _) => Destination::Here(element),
        ("kMoved", Some(current)) => Destination::Moved(element, current),
        _ => Destination::Gone(element, found.replaced),
    }))
}

/// Current addresses of rows in a language.
pub fn current(
    tx: &mut Tx,
    entity: &str,
    ids: &[i64],
    language: &str,
) -> Result<HashMap<i64, String>, DbError> {
    let ids = Ids::new("id", ids);
    let sql = format!(
        "select elem_id, path from slugs
         where entity = :entity and language = :language and state = 'kCurrent' and elem_id in {}",
        ids.places()
    );
    let rows = tx.rows(&sql, &ids.with(&[("entity", entity.into()), ("language", language.into())]))?;
    rows.iter().map(|row| Ok((row.get("elem_id")?, row.get("path")?))).collect()
}

/// All languages in which a row has a page, with its address.
pub fn of(tx: &mut Tx, entity: &str, id: i64) -> Result<Vec<(String, String)>, DbError> {
    let sql = "select language, path from slugs
               where entity = :entity and elem_id = :id and state = 'kCurrent' order by language";
    let rows = tx.rows(sql, &[("entity", entity.into()), ("id", id.into())])?;
    rows.iter().map(|row| Ok((row.get("language")?, row.get("path")?))).collect()
}

/// Gives a row this address; its former one leads here from now on. An address of another row's page is a
/// [`DbError::Conflict`]; one that only led to another row, or is gone, is taken over.
pub fn set(
    tx: &mut Tx,
    entity: &str,
    id: i64,
    language: &str,
    path: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    let row = [("entity", entity.into()), ("id", id.into()), ("language", language.into())];
    let address = [("language", language.into()), ("folded", folded(path).into())];
    let taken = tx.row(
        "select entity, elem_id from slugs
         where language = :language and path_folded = :folded and state = 'kCurrent'",
        &address,
    )?;
    if let Some(taken) = taken
        && (taken.get::<String>("entity")? != entity || taken.get::<i64>("elem_id")? != id)
    {
        return Err(DbError::Conflict(format!("the address `{path}` belongs to another page")));
    }
    tx.run(
        "update slugs set state = 'kMoved'
         where entity = :entity and elem_id = :id and language = :language and state = 'kCurrent'",
        &row,
    )?;
    tx.run("delete from slugs where language = :language and path_folded = :folded", &address)?;
    tx.run(
        "insert into slugs (language, path, path_folded, entity, elem_id, state, created)
         values (:language, :path, :folded, :entity, :id, 'kCurrent', :now)",
        &[
            ("language", language.into()),
            ("path", path.into()),
            ("folded", folded(path).into()),
            ("entity", entity.into()),
            ("id", id.into()),
            ("now", micros(now).into()),
        ],
    )?;
    Ok(())
}

/// An address that no page has or had, for a row that has none yet: the wanted one, else with the row's number behind it.
pub fn free(tx: &mut Tx, language: &str, wanted: &str, id: i64) -> Result<String, DbError> {
    let is_plain = !wanted.is_empty() && !wanted.ends_with('/');
    if is_plain && find(tx, language, wanted)?.is_none() {
        return Ok(wanted.to_owned());
    }
    // Numbers of rows are there once.
    Ok(format!("{wanted}{}{id}", if is_plain { "-" } else { "" }))
}

/// All addresses of a row lead nowhere from now on.
pub fn end(tx: &mut Tx, entity: &str, id: i64) -> Result<(), DbError> {
    tx.run(
        "update slugs set state = 'kGone' where entity = :entity and elem_id = :id",
        &[("entity", entity.into()), ("id", id.into())],
    )?;
    Ok(())
}
