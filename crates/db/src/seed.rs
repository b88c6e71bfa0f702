//! What every store has from its first moment: the tree of operations, lists, the administrators' group, and their
//! names in all languages.

mod shop_rows;

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use shop::locales::{FALLBACK, LANGUAGES, text};
use shop::operations::Operation;
use shop::{operations, registry};

use crate::{DbError, Tx, groups, translations};

/// Adds what is missing and changes nothing that is there; run after every migration.
///
/// A new operation is granted to the administrators. One that was there and
/// was taken from them stays taken.
pub fn base(tx: &mut Tx, now: Timestamp) -> Result<(), DbError> {
    tx.lock("seed")?;
    // What every store has is nobody's doing.
    tx.skip_journal()?;
    let mut named = Named::read(tx)?;
    let administrators = match groups::by_skey(tx, groups::ADMIN, FALLBACK)? {
        Some(group) => group.id,
        None => groups::create(tx, Some(groups::ADMIN), fallback("group.ADMIN"))?,
    };
    named.add(tx, "groups", administrators, "group.ADMIN")?;
    add_operations(tx, administrators, &mut named)?;
    add_registry(tx, &mut named)?;
    shop_rows::add(tx, now)
}

fn add_operations(tx: &mut Tx, administrators: i64, named: &mut Named) -> Result<(), DbError> {
    let mut ids = HashMap::new();
    for row in tx.rows("select skey, id from operations", &[])? {
        ids.insert(row.get::<String>("skey")?, row.get::<i64>("id")?);
    }
    for (position, operation) in (1..).zip(operations::ALL) {
        let key = format!("operations.{}", operation.skey);
        let id = match ids.get(operation.skey) {
            Some(id) => *id,
            None => {
                let parent = operation.parent.and_then(|parent| ids.get(parent)).copied();
                let id = add_operation(tx, operation, parent, position, fallback(&key))?;
                ids.insert(operation.skey.to_owned(), id);
                if let Some(command) = operation.command {
                    crate::rights::grant_to_group(tx, administrators, command)?;
                }
                id
            }
        };
        named.add(tx, "operations", id, &key)?;
    }
    Ok(())
}

fn add_operation(
    tx: &mut Tx,
    operation: &Operation,
    parent: Option<i64>,
    position: i64,
    name: &str,
) -> Result<i64, DbError> {
    tx.insert(
        "insert into operations (parent_id, position, skey, command, name)
         values (:parent_id, :position, :skey, :command, :name) returning id",
        &[
            ("parent_id", parent.into()),
            ("position", position.into()),
            ("skey", operation.skey.into()),
            ("command", operation.command.into()),
            ("name", name.into()),
        ],
    )
}

fn add_registry(tx: &mut Tx, named: &mut Named) -> Result<(), DbError> {
    let mut ids = HashMap::new();
    for row in tx.rows("select branch, skey, id from registry", &[])? {
        ids.insert((row.get::<String>("branch")?, row.get::<String>("skey")?), row.get::<i64>("id")?);
    }
    for branch in registry::ALL {
        for skey in branch.keys {
            let key = format!("{}.{skey}", branch.branch);
            let id = match ids.get(&(branch.branch.to_owned(), (*skey).to_owned())) {
                Some(id) => *id,
                None => crate::registry::create(tx, branch.branch, skey, fallback(&key))?,
            };
            named.add(tx, "registry", id, &key)?;
        }
    }
    Ok(())
}

/// Which names there are, so that a start of a store whose names are complete writes nothing.
struct Named(HashSet<(String, i64, String)>);

impl Named {
    fn read(tx: &mut Tx) -> Result<Self, DbError> {
        let rows = tx.rows("select entity, elem_id, language from names", &[])?;
        let names =
            rows.iter().map(|row| Ok((row.get("entity")?, row.get("elem_id")?, row.get("language")?)));
        Ok(Self(names.collect::<Result<_, DbError>>()?))
    }

    fn add(&mut self, tx: &mut Tx, entity: &str, id: i64, key: &str) -> Result<(), DbError> {
        for language in LANGUAGES {
            let Some(name) = language.text(key) else { continue };
            if self.0.insert((entity.to_owned(), id, language.code.to_owned())) {
                translations::add(tx, entity, id, language.code, name)?;
            }
        }
        Ok(())
    }
}

/// The name in a table's own column. A test of `shop` proves that every key has one.
fn fallback(key: &str) -> &str {
    text(FALLBACK, key).unwrap_or(key)
}
