//! What lists of products are narrowed by: attributes, their choices, brands.

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
    /// A brand.
    pub struct Brand {
        /// Number.
        pub id: i64,
        /// Name.
        pub name: String,
        /// Text of its page, HTML.
        pub text: String,
        /// Its own site.
        pub site: String,
    }
}

/// Attributes that lists are narrowed by, in order.
pub fn attributes(tx: &mut Tx, language: &str) -> Result<Vec<FilterAttribute>, DbError> {
    let sql = format!(
        "select a.id, a.skey, {}, a.type as kind from attributes a where a.filter order by a.position, a.id",
        translated("a", "attributes", "name")
    );
    tx.rows(&sql, &[("language", language.into())])?.iter().map(FilterAttribute::of).collect()
}

/// Choices of those attributes, in order.
pub fn choices(tx: &mut Tx, language: &str) -> Result<Vec<FilterChoice>, DbError> {
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

/// A brand in a language.
pub fn brand(tx: &mut Tx, id: i64, language: &str) -> Result<Option<Brand>, DbError> {
    let sql = format!(
        "select b.id, {}, {}, b.site from brands b where b.id = :id and b.deleted is null",
        translated("b", "brands", "name"),
        translated("b", "brands", "text")
    );
    let params = [("id", id.into()), ("language", language.into())];
    tx.row(&sql, &params)?.map(|row| Brand::of(&row)).transpose()
}

/// How many products that are not removed are of a brand.
pub fn products_of_brand(tx: &mut Tx, id: i64) -> Result<i64, DbError> {
    let sql = "select count(*) as n from products where brand_id = :id and deleted is null";
    tx.row(sql, &[("id", id.into())])?.map_or(Ok(0), |row| row.get("n"))
}
