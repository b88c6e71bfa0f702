//! The tree of categories and its closure, which is kept right in the same transaction.

use jiff::Timestamp;

use crate::record::record;
use crate::texts::translated;
use crate::{DbError, Tx, listing, micros, slugs};

record! {
    /// A category.
    pub struct Category {
        /// Number.
        pub id: i64,
        /// The category it lies in.
        pub parent_id: Option<i64>,
        /// Order.
        pub position: i64,
        /// Name.
        pub name: String,
        /// Text of its page, HTML.
        pub text: String,
        /// `kShown` or `kHidden`.
        pub state: String,
        /// How its products are sorted at first.
        pub sort: String,
        /// Grows with every change.
        pub version: i64,
    }
}

/// What a new category needs.
#[derive(Clone, Debug, Default)]
pub struct NewCategory {
    /// The category it lies in.
    pub parent_id: Option<i64>,
    /// Order.
    pub position: i64,
    /// Name.
    pub name: String,
    /// Text of its page, HTML.
    pub text: String,
    /// Who adds it.
    pub author_id: Option<i64>,
}

fn columns() -> String {
    format!(
        "c.id, c.parent_id, c.position, {}, {}, c.state, c.sort, c.version",
        translated("c", "categories", "name"),
        translated("c", "categories", "text")
    )
}

/// A category in a language, if it is shown.
pub fn by_id(tx: &mut Tx, id: i64, language: &str) -> Result<Option<Category>, DbError> {
    let sql = format!(
        "select {} from categories c where c.id = :id and c.deleted is null and c.state = 'kShown'",
        columns()
    );
    let row = tx.row(&sql, &[("id", id.into()), ("language", language.into())])?;
    row.map(|row| Category::of(&row)).transpose()
}

/// All shown categories, by position; whether those above them are shown too is the reader's to see.
pub fn all(tx: &mut Tx, language: &str) -> Result<Vec<Category>, DbError> {
    let sql = format!(
        "select {} from categories c where c.deleted is null and c.state = 'kShown' order by c.position, c.id",
        columns()
    );
    tx.rows(&sql, &[("language", language.into())])?.iter().map(Category::of).collect()
}

/// Shown categories that lie directly in one; at the top for `None`.
pub fn children(tx: &mut Tx, parent: Option<i64>, language: &str) -> Result<Vec<Category>, DbError> {
    let which = if parent.is_some() { "c.parent_id = :parent" } else { "c.parent_id is null" };
    let sql = format!(
        "select {} from categories c where {which} and c.deleted is null and c.state = 'kShown'
         order by c.position, c.id",
        columns()
    );
    let mut params = vec![("language", language.into())];
    params.extend(parent.map(|parent| ("parent", parent.into())));
    tx.rows(&sql, &params)?.iter().map(Category::of).collect()
}

/// A category with those above it, from the top.
pub fn path(tx: &mut Tx, id: i64, language: &str) -> Result<Vec<Category>, DbError> {
    let sql = format!(
        "select {} from category_closure t join categories c on c.id = t.ancestor
         where t.descendant = :id order by t.depth desc",
        columns()
    );
    tx.rows(&sql, &[("id", id.into()), ("language", language.into())])?.iter().map(Category::of).collect()
}

/// Numbers of a category and of all below it.
pub fn subtree(tx: &mut Tx, id: i64) -> Result<Vec<i64>, DbError> {
    let sql = "select descendant from category_closure where ancestor = :id order by descendant";
    tx.rows(sql, &[("id", id.into())])?.iter().map(|row| row.get("descendant")).collect()
}

/// Adds a category.
pub fn insert(tx: &mut Tx, new: &NewCategory, now: Timestamp) -> Result<i64, DbError> {
    tx.lock("categories")?;
    let id = tx.insert(
        "insert into categories (parent_id, position, name, text, author_id, created, changed)
         values (:parent_id, :position, :name, :text, :author_id, :now, :now) returning id",
        &[
            ("parent_id", new.parent_id.into()),
            ("position", new.position.into()),
            ("name", (&new.name).into()),
            ("text", (&new.text).into()),
            ("author_id", new.author_id.into()),
            ("now", micros(now).into()),
        ],
    )?;
    tx.run(
        "insert into category_closure (ancestor, descendant, depth)
         select id, id, 0 from categories where id = :id
         union all
         select ancestor, :id, depth + 1 from category_closure where descendant = :parent_id",
        &[("id", id.into()), ("parent_id", new.parent_id.into())],
    )?;
    Ok(id)
}

/// Where a category lies: the one above it, and its order there.
pub fn place(tx: &mut Tx, id: i64) -> Result<(Option<i64>, i64), DbError> {
    let row = tx.row("select parent_id, position from categories where id = :id", &[("id", id.into())])?;
    row.map_or(Ok((None, 0)), |row| Ok((row.get("parent_id")?, row.get("position")?)))
}

/// Moves a category with all below it; `false` where it would lie in itself, or the new parent is gone.
pub fn move_to(
    tx: &mut Tx,
    id: i64,
    parent: Option<i64>,
    position: i64,
    now: Timestamp,
) -> Result<bool, DbError> {
    tx.lock("categories")?;
    if let Some(parent) = parent {
        let sql = "select 1 as yes from categories where id = :parent and deleted is null
                   and id not in (select descendant from category_closure where ancestor = :id)";
        if tx.row(sql, &[("id", id.into()), ("parent", parent.into())])?.is_none() {
            return Ok(false);
        }
    }
    listing::category_changed(tx, id, now)?;
    tx.run(
        "update categories set parent_id = :parent, position = :position, changed = :now, version = version + 1
         where id = :id",
        &[
            ("id", id.into()),
            ("parent", parent.into()),
            ("position", position.into()),
            ("now", micros(now).into()),
        ],
    )?;
    let of = [("id", id.into())];
    tx.run(
        "delete from category_closure
         where descendant in (select b.descendant from category_closure b where b.ancestor = :id)
           and ancestor in (select a.ancestor from category_closure a where a.descendant = :id and a.depth > 0)",
        &of,
    )?;
    if parent.is_some() {
        tx.run(
            "insert into category_closure (ancestor, descendant, depth)
             select a.ancestor, b.descendant, a.depth + b.depth + 1
             from category_closure a cross join category_closure b
             where a.descendant = :parent and b.ancestor = :id",
            &[("id", id.into()), ("parent", parent.into())],
        )?;
    }
    Ok(true)
}

/// Removes a category; `false` where others lie in it. Its products stay.
pub fn remove(tx: &mut Tx, id: i64, now: Timestamp) -> Result<bool, DbError> {
    tx.lock("categories")?;
    let of = [("id", id.into())];
    let sql = "select 1 as yes from categories where parent_id = :id and deleted is null limit 1";
    if tx.row(sql, &of)?.is_some() {
        return Ok(false);
    }
    listing::category_changed(tx, id, now)?;
    tx.run(
        "update categories set deleted = :now, changed = :now, version = version + 1
         where id = :id and deleted is null",
        &[("id", id.into()), ("now", micros(now).into())],
    )?;
    tx.run("delete from category_closure where descendant = :id", &of)?;
    tx.run("delete from product_categories where category_id = :id", &of)?;
    tx.run("update products set main_category_id = null where main_category_id = :id", &of)?;
    slugs::end(tx, "categories", id)?;
    Ok(true)
}

/// Makes the closure anew from the parents; a circle, which only a foreign hand can have made, ends by itself.
pub fn rebuild_closure(tx: &mut Tx) -> Result<(), DbError> {
    tx.lock("categories")?;
    tx.run("delete from category_closure", &[])?;
    tx.run(
        "with recursive t (ancestor, descendant, depth) as (
           select id, id, 0 from categories where deleted is null
           union all
           select t.ancestor, c.id, t.depth + 1 from t join categories c on c.parent_id = t.descendant
           where c.deleted is null and t.depth < 64)
         insert into category_closure (ancestor, descendant, depth)
         select ancestor, descendant, min(depth) from t group by ancestor, descendant",
        &[],
    )?;
    Ok(())
}
