//! `staff.…` of what products are found by: the tree of categories, brands.

use db::categories::{self, NewCategory};
use db::{Tx, Value, filters, listing, rows, slugs};
use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};
use shop::text::{folded, slug};

use super::fields::{self, Field, Form, wrong};
use super::{Answer, PRODUCTS, step};
use crate::shopping::staff::{StaffDone, StaffError};
use crate::units::host::arguments::Arguments;
use crate::units::run::Run;

const CATEGORY: &[Field] = &[
    ("name", "name", Form::Name(200)),
    ("text", "text", Form::Html),
    ("state", "state", Form::Word(&["kShown", "kHidden"])),
    ("sort", "sort", Form::Word(&["kPopular", "kNew", "kPrice", "kName", "kRating"])),
];

const BRAND: &[Field] = &[
    ("name", "name", Form::Name(200)),
    ("text", "text", Form::Html),
    ("site", "site", Form::Text(500)),
    ("position", "position", Form::Int(0)),
];

/// The calls, by name.
pub(super) fn call(run: &mut Run<'_>, name: &str, args: &Arguments<'_>) -> Option<Answer> {
    Some(match name {
        "staff.save_category" => save_category(run, args),
        "staff.remove_category" => remove_category(run, args),
        "staff.save_brand" => save_brand(run, args),
        "staff.remove_brand" => remove_brand(run, args),
        _ => return None,
    })
}

/// Language, clock and person of a change.
struct Change<'a> {
    language: &'a str,
    now: Timestamp,
    person: i64,
}

fn save_category(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (id, given) = (args.int_or_null(0, "category")?, args.fields(1)?);
    let (language, now) = (run.visit.settings.config.language.clone(), run.visit.now);
    step(run, PRODUCTS, |tx, _, person| {
        let change = Change { language: &language, now, person };
        let mut row = fields::columns(tx, &given, CATEGORY, &["parent", "position", "path"])?;
        let parent = fields::int(&given, "parent")?;
        if let Some(parent) = parent
            && !rows::is_there(tx, "categories", parent)?
        {
            return Err(StaffError::Unknown { what: "category", id: parent });
        }
        let id = match id {
            Some(id) => {
                is_there(tx, "categories", "category", id)?;
                move_category(tx, id, &given, parent, now)?;
                id
            }
            None => new_category(tx, &given, parent, &change)?,
        };
        if let Some(path) = fields::path(&given)? {
            slugs::set(tx, "categories", id, &language, path, now)?;
        }
        row.push(("author_id", person.into()));
        rows::update(tx, "categories", id, None, &row, now)?;
        if given.contains_key("state") {
            listing::category_changed(tx, id, now)?;
        }
        Ok(json!({"category": id}))
    })
}

fn new_category(
    tx: &mut Tx,
    given: &Map<String, Json>,
    parent: Option<i64>,
    change: &Change<'_>,
) -> StaffDone<i64> {
    let name = fields::text(given, "name")?.ok_or_else(|| wrong("a new category needs a `name`"))?;
    let new = NewCategory {
        parent_id: parent,
        position: fields::int(given, "position")?.unwrap_or(0),
        name: name.trim().to_owned(),
        text: String::new(),
        author_id: Some(change.person),
    };
    let id = categories::insert(tx, &new, change.now)?;
    if !given.contains_key("path") {
        let above = match parent {
            Some(parent) => slugs::current(tx, "categories", &[parent], change.language)?.remove(&parent),
            None => None,
        };
        let wanted = above.map_or_else(|| slug(name), |above| format!("{above}/{}", slug(name)));
        let path = slugs::free(tx, change.language, &wanted, id)?;
        slugs::set(tx, "categories", id, change.language, &path, change.now)?;
    }
    Ok(id)
}

/// A category goes elsewhere in the tree, with all below it. What is not named stays.
fn move_category(
    tx: &mut Tx,
    id: i64,
    given: &Map<String, Json>,
    parent: Option<i64>,
    now: Timestamp,
) -> StaffDone<()> {
    if !given.contains_key("parent") && !given.contains_key("position") {
        return Ok(());
    }
    let (known_parent, known_position) = categories::place(tx, id)?;
    let parent = if given.contains_key("parent") { parent } else { known_parent };
    let position = fields::int(given, "position")?.unwrap_or(known_position);
    if categories::move_to(tx, id, parent, position, now)? {
        return Ok(());
    }
    Err(wrong(format!("category {id} cannot lie in itself or below itself")))
}

fn remove_category(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (id, now) = (args.int(0, "category")?, run.visit.now);
    step(run, PRODUCTS, |tx, _, _| {
        is_there(tx, "categories", "category", id)?;
        if categories::remove(tx, id, now)? {
            return Ok(json!({}));
        }
        Err(wrong(format!("other categories lie in category {id}: move or remove them first")))
    })
}

fn save_brand(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (id, given) = (args.int_or_null(0, "brand")?, args.fields(1)?);
    let (language, now) = (run.visit.settings.config.language.clone(), run.visit.now);
    step(run, PRODUCTS, |tx, _, person| {
        let mut row = fields::columns(tx, &given, BRAND, &["path"])?;
        if let Some(name) = fields::text(&given, "name")?.map(str::trim) {
            row.push(("name_folded", folded(name).into()));
        }
        row.push(("author_id", person.into()));
        let id = match id {
            Some(id) => {
                is_there(tx, "brands", "brand", id)?;
                rows::update(tx, "brands", id, None, &row, now)?;
                id
            }
            None => new_brand(tx, &given, &row, &language, now)?,
        };
        if let Some(path) = fields::path(&given)? {
            slugs::set(tx, "brands", id, &language, path, now)?;
        }
        Ok(json!({"brand": id}))
    })
}

fn new_brand(
    tx: &mut Tx,
    given: &Map<String, Json>,
    row: &[(&str, Value)],
    language: &str,
    now: Timestamp,
) -> StaffDone<i64> {
    let name = fields::text(given, "name")?.ok_or_else(|| wrong("a new brand needs a `name`"))?;
    let id = rows::insert(tx, "brands", row)?;
    if !given.contains_key("path") {
        let path = slugs::free(tx, language, &format!("brand/{}", slug(name)), id)?;
        slugs::set(tx, "brands", id, language, &path, now)?;
    }
    Ok(id)
}

fn remove_brand(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (id, now) = (args.int(0, "brand")?, run.visit.now);
    step(run, PRODUCTS, |tx, _, _| {
        is_there(tx, "brands", "brand", id)?;
        let count = filters::products_of_brand(tx, id)?;
        if count > 0 {
            return Err(wrong(format!("{count} products are of brand {id}: give them another one first")));
        }
        rows::remove(tx, "brands", id, now)?;
        slugs::end(tx, "brands", id)?;
        Ok(json!({}))
    })
}

fn is_there(tx: &mut Tx, table: &'static str, what: &'static str, id: i64) -> StaffDone<()> {
    if rows::is_there(tx, table, id)? { Ok(()) } else { Err(StaffError::Unknown { what, id }) }
}
