//! Everything that is made from the rest, made anew.

use jiff::Timestamp;

use crate::{DbError, Tx, categories, listing, search};

/// Makes the closure of categories, the lists, their counts and the words for searching anew, in this transaction.
pub fn all(tx: &mut Tx, now: Timestamp) -> Result<(), DbError> {
    categories::rebuild_closure(tx)?;
    listing::reindex_all(tx, now)?;
    listing::rebuild_counts(tx, None)?;
    search::reindex_all(tx, now)?;
    tx.run("delete from dirty", &[])?;
    Ok(())
}
