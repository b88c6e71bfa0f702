//! What pages of the storefront read beside products: what lists are narrowed by, brands, reviews, pages, menus.

use std::collections::HashMap;

use crate::id_list::Ids;
use crate::record::record;
use crate::texts::translated;
use crate::{DbError, Tx};

record! {
    /// An attribute that lists are narrowed by.
    pub struct FilterAttribute {
        /// Number.
        pub id: i64,
        /// Key.
        pub skey: String,
        /// Name.
        pub name: String,
        /// Type: `kChoice`, `kBool`, ….
        pub kind: String,
    }
}

record! {
    /// A choice of an attribute.
    pub struct FilterChoice {
        /// Number.
        pub id: i64,
        /// The attribute.
        pub attribute_id: i64,
        /// Key.
        pub skey: String,
        /// Name.
        pub name: String,
    }
}

record! {
    /// A review that visitors see.
    pub struct Review {
        /// Number.
        pub id: i64,
        /// The visitor's name.
        pub name: String,
        /// Stars, 1 to 5.
        pub rating: i64,
        /// What the visitor wrote.
        pub text: String,
        /// What the store answered.
        pub answer: String,
        /// Whether the visitor bought it here.
        pub is_verified: bool,
        /// When it was written.
        pub created: String,
    }
}

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

/// Attributes that lists are narrowed by, in order.
pub fn filters(tx: &mut Tx, language: &str) -> Result<Vec<FilterAttribute>, DbError> {
    let sql = format!(
        "select a.id, a.skey, {}, a.type as kind from attributes a where a.filter order by a.position, a.id",
        translated("a", "attributes", "name")
    );
    tx.rows(&sql, &[("language", language.into())])?.iter().map(FilterAttribute::of).collect()
}

/// Choices of those attributes, in order.
pub fn filter_choices(tx: &mut Tx, language: &str) -> Result<Vec<FilterChoice>, DbError> {
    let sql = format!(
        "select c.id, c.attribute_id, c.skey, {} from attribute_choices c
         join attributes a on a.id = c.attribute_id where a.filter order by c.attribute_id, c.position, c.id",
        translated("c", "attribute_choices", "name")
    );
    tx.rows(&sql, &[("language", language.into())])?.iter().map(FilterChoice::of).collect()
}

/// Numbers and names of brands, by position.
pub fn brands(tx: &mut Tx) -> Result<Vec<(i64, String)>, DbError> {
    let rows =
        tx.rows("select id, name from brands where deleted is null order by position, name_folded", &[])?;
    rows.iter().map(|row| Ok((row.get("id")?, row.get("name")?))).collect()
}

/// Reviews of a product that visitors see, the newest first, and how many there are.
pub fn reviews(tx: &mut Tx, product: i64, skip: i64, most: i64) -> Result<(Vec<Review>, i64), DbError> {
    let shown = "product_id = :product and state = 'kShown' and deleted is null";
    let of = ("product", product.into());
    let sql = format!(
        "select id, name, rating, text, answer, order_line_id is not null as is_verified, created from reviews
         where {shown} order by created desc, id desc limit :most offset :skip"
    );
    let rows = tx.rows(&sql, &[of.clone(), ("most", most.into()), ("skip", skip.into())])?;
    let reviews = rows.iter().map(Review::of).collect::<Result<_, DbError>>()?;
    let total = tx.row(&format!("select count(*) as n from reviews where {shown}"), &[of])?;
    Ok((reviews, total.map_or(Ok(0), |row| row.get("n"))?))
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
