//! Pages of text and menus, and what rows that have pages are called.

use std::collections::HashMap;

use crate::id_list::Ids;
use crate::record::record;
use crate::texts::translated;
use crate::{DbError, Tx};

record! {
    /// A page that the owner wrote.
    pub struct Page {
        /// Number.
        pub id: i64,
        /// Key.
        pub skey: Option<String>,
        /// Name.
        pub name: String,
        /// Text, HTML.
        pub text: String,
    }
}

record! {
    /// An item of a menu.
    pub struct MenuItem {
        /// Number.
        pub id: i64,
        /// The item it lies under.
        pub parent_id: Option<i64>,
        /// Name.
        pub name: String,
        /// The table of what it leads to.
        pub entity: Option<String>,
        /// The number of what it leads to.
        pub elem_id: Option<i64>,
        /// The address it leads to, where that is no row's.
        pub url: Option<String>,
    }
}

/// A shown page by its number, or by its key.
pub fn page(tx: &mut Tx, id: Option<i64>, skey: &str, language: &str) -> Result<Option<Page>, DbError> {
    let sql = format!(
        "select p.id, p.skey, {}, {} from pages p
         where p.deleted is null and p.state = 'kShown' and (p.id = :id or p.skey = :skey)",
        translated("p", "pages", "name"),
        translated("p", "pages", "text")
    );
    let params = [("id", id.unwrap_or(0).into()), ("skey", skey.into()), ("language", language.into())];
    tx.row(&sql, &params)?.map(|row| Page::of(&row)).transpose()
}

/// The items of a menu, in order.
pub fn menu(tx: &mut Tx, skey: &str, language: &str) -> Result<Vec<MenuItem>, DbError> {
    let sql = format!(
        "select i.id, i.parent_id, {}, i.entity, i.elem_id, i.url from menu_items i
         join menus m on m.id = i.menu_id where m.skey = :skey order by i.position, i.id",
        translated("i", "menu_items", "name")
    );
    tx.rows(&sql, &[("skey", skey.into()), ("language", language.into())])?.iter().map(MenuItem::of).collect()
}

/// Names of rows that have pages, by their numbers; none of a table that has no pages.
pub fn names(
    tx: &mut Tx,
    entity: &str,
    ids: &[i64],
    language: &str,
) -> Result<HashMap<i64, String>, DbError> {
    let Some(table) = ["brands", "categories", "pages", "products"].iter().find(|table| **table == entity)
    else {
        return Ok(HashMap::new());
    };
    let mut names = HashMap::new();
    for some in ids.chunks(crate::id_list::MOST) {
        let list = Ids::new("id", some);
        let sql = format!(
            "select e.id, {} from {table} e where e.deleted is null and e.id in {}",
            translated("e", table, "name"),
            list.places()
        );
        for row in tx.rows(&sql, &list.with(&[("language", language.into())]))? {
            names.insert(row.get("id")?, row.get("name")?);
        }
    }
    Ok(names)
}
