//! Brands, categories, tags and attributes by their names: found once, made where they are missing.

use std::collections::HashMap;

use db::categories::NewCategory;
use db::exchange::{self, Attribute};
use db::{DbError, Tx, categories, rows, slugs};
use jiff::Timestamp;
use shop::text::{folded, slug};

/// Most names that are kept; beyond that they are looked up again.
const MOST: usize = 50_000;

/// What was found.
pub(super) struct Lookups {
    language: String,
    now: Timestamp,
    brands: HashMap<String, i64>,
    categories: HashMap<(Option<i64>, String), i64>,
    tags: HashMap<String, i64>,
    attributes: HashMap<String, Attribute>,
}

impl Lookups {
    pub(super) fn new(language: &str, now: Timestamp) -> Self {
        Self {
            language: language.to_owned(),
            now,
            brands: HashMap::new(),
            categories: HashMap::new(),
            tags: HashMap::new(),
            attributes: HashMap::new(),
        }
    }

    pub(super) fn brand(&mut self, tx: &mut Tx, name: &str) -> Result<i64, DbError> {
        let key = folded(name);
        if let Some(id) = self.brands.get(&key) {
            return Ok(*id);
        }
        let id = match exchange::brand(tx, &key)? {
            Some(id) => id,
            None => {
                let id =
                    rows::insert(tx, "brands", &[("name", name.into()), ("name_folded", (&key).into())])?;
                let path = slugs::free(tx, &self.language, &format!("brand/{}", slug(name)), id)?;
                slugs::set(tx, "brands", id, &self.language, &path, self.now)?;
                id
            }
        };
        remember(&mut self.brands, key, id);
        Ok(id)
    }

    /// The category at the end of a path of names.
    pub(super) fn category(&mut self, tx: &mut Tx, path: &[String]) -> Result<Option<i64>, DbError> {
        let (mut parent, mut address) = (None, String::new());
        for name in path {
            let part = slug(name);
            address = if address.is_empty() { part } else { format!("{address}/{part}") };
            let key = (parent, folded(name));
            let id = match self.categories.get(&key) {
                Some(id) => *id,
                None => {
                    let id = self.find_category(tx, parent, name, &address)?;
                    remember(&mut self.categories, key, id);
                    id
                }
            };
            parent = Some(id);
        }
        Ok(parent)
    }

    fn find_category(
        &self,
        tx: &mut Tx,
        parent: Option<i64>,
        name: &str,
        address: &str,
    ) -> Result<i64, DbError> {
        let key = folded(name);
        let known = exchange::categories(tx, parent)?.into_iter().find(|known| folded(&known.name) == key);
        if let Some(known) = known {
            return Ok(known.id);
        }
        let new = NewCategory { parent_id: parent, name: name.to_owned(), ..NewCategory::default() };
        let id = categories::insert(tx, &new, self.now)?;
        let path = slugs::free(tx, &self.language, address, id)?;
        slugs::set(tx, "categories", id, &self.language, &path, self.now)?;
        Ok(id)
    }

    pub(super) fn tag(&mut self, tx: &mut Tx, name: &str) -> Result<i64, DbError> {
        let key = match slug(name) {
            empty if empty.is_empty() => folded(name),
            key => key,
        };
        if let Some(id) = self.tags.get(&key) {
            return Ok(*id);
        }
        let id = match exchange::tag(tx, &key)? {
            Some(id) => id,
            None => rows::insert(tx, "tags", &[("skey", (&key).into()), ("name", name.into())])?,
        };
        remember(&mut self.tags, key, id);
        Ok(id)
    }

    /// The attribute of a key; a new one holds texts.
    pub(super) fn attribute(&mut self, tx: &mut Tx, skey: &str, name: &str) -> Result<Attribute, DbError> {
        if let Some(known) = self.attributes.get(skey) {
            return Ok(known.clone());
        }
        let found = match exchange::attribute(tx, skey)? {
            Some(found) => Some(found),
            None => exchange::attributes(tx)?.into_iter().find(|known| folded(&known.name) == folded(name)),
        };
        let found = match found {
            Some(found) => found,
            None => {
                let values = [("skey", skey.into()), ("name", name.into()), ("type", "kText".into())];
                let id = rows::insert(tx, "attributes", &values)?;
                let (skey, name, kind) = (skey.to_owned(), name.to_owned(), "kText".to_owned());
                Attribute { id, skey, name, kind, decimals: 0 }
            }
        };
        remember(&mut self.attributes, skey.to_owned(), found.clone());
        Ok(found)
    }
}

fn remember<K: std::hash::Hash + Eq, V>(known: &mut HashMap<K, V>, key: K, value: V) {
    if known.len() < MOST {
        known.insert(key, value);
    }
}
