//! What all nodes of a store know and nobody else.

use crate::{DbError, Tx};

/// The secret of a key; where there is none yet, `new` becomes it.
pub fn get_or_set(tx: &mut Tx, skey: &str, new: &str) -> Result<String, DbError> {
    if let Some(value) = get(tx, skey)? {
        return Ok(value);
    }
    tx.run(
        "insert into secrets (skey, value) values (:skey, :value) on conflict (skey) do nothing",
        &[("skey", skey.into()), ("value", new.into())],
    )?;
    get(tx, skey)?.ok_or_else(|| DbError::Dangling("a secret is gone".to_owned()))
}

/// The secret of a key.
pub fn get(tx: &mut Tx, skey: &str) -> Result<Option<String>, DbError> {
    let row = tx.row("select value from secrets where skey = :skey", &[("skey", skey.into())])?;
    row.map(|row| row.get("value")).transpose()
}
