//! Pages that search engines may know: those of shown rows, in blocks of a fixed size.

use jiff::Timestamp;

use crate::record::record;
use crate::{DbError, Tx, micros};

/// Addresses of one block at most: blocks are spans of the numbers of `slugs`, so that they stay as they are.
pub const BLOCK: i64 = 20_000;

record! {
    /// A page.
    pub struct Page {
        /// The number of its address.
        pub id: i64,
        /// Its language.
        pub language: String,
        /// Its address, without the language.
        pub path: String,
        /// When the row was changed last.
        pub changed: String,
    }
}

record! {
    /// A block of pages that has any.
    pub struct Block {
        /// Its number, from 0.
        pub number: i64,
        /// When one of its rows was changed last.
        pub changed: String,
    }
}

/// Current addresses of rows that are shown, with the time of the row's last change. A category is shown where all
/// above it are.
const PAGES: &str = "select s.id, s.language, s.path, p.changed
     from slugs s join products p on s.entity = 'products' and p.id = s.elem_id
     where s.state = 'kCurrent' and p.deleted is null and p.state = 'kShown'
       and (p.shown_from is null or p.shown_from <= :now) and (p.shown_until is null or p.shown_until > :now)
   union all
   select s.id, s.language, s.path, c.changed
     from slugs s join categories c on s.entity = 'categories' and c.id = s.elem_id
     where s.state = 'kCurrent' and c.deleted is null and not exists (
       select 1 from category_closure t join categories a on a.id = t.ancestor
       where t.descendant = c.id and (a.state <> 'kShown' or a.deleted is not null))
   union all
   select s.id, s.language, s.path, b.changed
     from slugs s join brands b on s.entity = 'brands' and b.id = s.elem_id
     where s.state = 'kCurrent' and b.deleted is null
   union all
   select s.id, s.language, s.path, g.changed
     from slugs s join pages g on s.entity = 'pages' and g.id = s.elem_id
     where s.state = 'kCurrent' and g.deleted is null and g.state = 'kShown'";

/// The blocks that have pages, in order.
pub fn blocks(tx: &mut Tx, now: Timestamp) -> Result<Vec<Block>, DbError> {
    let sql = format!(
        "select x.id / {BLOCK} as number, max(x.changed) as changed from ({PAGES}) x
         group by x.id / {BLOCK} order by 1"
    );
    tx.rows(&sql, &[("now", micros(now).into())])?.iter().map(Block::of).collect()
}

/// So many pages of a block behind an address's number.
pub fn pages(tx: &mut Tx, block: i64, after: i64, most: i64, now: Timestamp) -> Result<Vec<Page>, DbError> {
    let sql = format!(
        "select x.id, x.language, x.path, x.changed from ({PAGES}) x
         where x.id > :after and x.id >= :first and x.id < :until order by x.id limit :most"
    );
    let first = block.saturating_mul(BLOCK);
    let params = [
        ("now", micros(now).into()),
        ("after", after.into()),
        ("first", first.into()),
        ("until", first.saturating_add(BLOCK).into()),
        ("most", most.into()),
    ];
    tx.rows(&sql, &params)?.iter().map(Page::of).collect()
}
