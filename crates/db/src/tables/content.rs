//! Pages of text and menus.

use crate::record::record;
use crate::texts::translated;
use crate::{DbError, Tx};

record! {
    /// A page of text.
    pub struct Page {
        /// Number.
        pub id: i64,
        /// Key.
        pub skey: Option<String>,
        /// Name.
        pub name: String,
        /// The page, HTML.
        pub text: String,
        /// When it was changed last.
        pub changed: String,
    }
}

record! {
    /// A line of a menu.
    pub struct MenuItem {
        /// Number.
        pub id: i64,
        /// The line it lies under.
        pub parent_id: Option<i64>,
        /// What it says.
        pub name: String,
        /// The table of the row it leads to.
        pub entity: Option<String>,
        /// The row's number.
        pub elem_id: Option<i64>,
        /// The current address of that row's page.
        pub path: Option<String>,
        /// The address it leads to, where that is no row.
        pub url: Option<String>,
    }
}

fn page(tx: &mut Tx, which: &str, value: crate::Value, language: &str) -> Result<Option<Page>, DbError> {
    let sql = format!(
        "select p.id, p.skey, {}, {}, p.changed from pages p
         where p.{which} = :value and p.deleted is null and p.state = 'kShown'",
        translated("p", "pages", "name"),
        translated("p", "pages", "text")
    );
    let row = tx.row(&sql, &[("value", value), ("language", language.into())])?;
    row.map(|row| Page::of(&row)).transpose()
}

/// A shown page by its number.
pub fn page_by_id(tx: &mut Tx, id: i64, language: &str) -> Result<Option<Page>, DbError> {
    page(tx, "id", id.into(), language)
}

/// A shown page by its key.
pub fn page_by_skey(tx: &mut Tx, skey: &str, language: &str) -> Result<Option<Page>, DbError> {
    page(tx, "skey", skey.into(), language)
}

/// The lines of a menu, by position.
pub fn menu(tx: &mut Tx, skey: &str, language: &str) -> Result<Vec<MenuItem>, DbError> {
    let sql = format!(
        "select i.id, i.parent_id, {}, i.entity, i.elem_id, s.path, i.url
         from menus m join menu_items i on i.menu_id = m.id
         left join slugs s on s.entity = i.entity and s.elem_id = i.elem_id and s.language = :language
           and s.state = 'kCurrent'
         where m.skey = :skey order by i.position, i.id",
        translated("i", "menu_items", "name")
    );
    tx.rows(&sql, &[("skey", skey.into()), ("language", language.into())])?.iter().map(MenuItem::of).collect()
}
