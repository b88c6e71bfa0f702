//! `categories.tree`, `categories.get`.

use std::collections::{HashMap, HashSet};

use db::DbError;
use db::categories::{self, Category};
use db::listing;
use sandbox::Value;

use super::cards::pictures;
use super::{Reading, image, read};
use crate::units::host::Answer;
use crate::units::host::arguments::{Arguments, int};
use crate::units::run::Run;
use crate::units::visit::map;

/// Deepest tree.
const DEEPEST: i64 = 8;

/// The tree of shown categories, as deep as is asked for.
pub(super) fn tree(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let depth = args.int_option(0, "depth")?.unwrap_or(DEEPEST).clamp(1, DEEPEST);
    let root = args.int_option(0, "parent")?;
    let with_pictures = args.option(0, "pictures") == Some(&Value::Bool(true));
    read(run, "categories.tree", |reading| {
        let known = reading.categories()?;
        let mut branches = branch(&known.all, &known.urls, root, depth);
        if with_pictures {
            add_pictures(reading, &mut branches)?;
        }
        Ok(Value::List(branches))
    })
}

/// Gives each category its picture, or else that of what sells most of it.
fn add_pictures(reading: &mut Reading<'_>, branches: &mut [Value]) -> Result<(), DbError> {
    let ids: Vec<i64> = branches.iter().filter_map(|branch| int(branch.get("id")?)).collect();
    let own = pictures(reading, "categories", &ids)?;
    let bare: Vec<i64> = ids.into_iter().filter(|id| !own.contains_key(id)).collect();
    let best = match reading.price_lists()?.first() {
        Some(list) => listing::most_popular(reading.tx, list.id, &bare)?,
        None => HashMap::new(),
    };
    for category in &bare {
        reading.dependencies.set("listing.category_id", *category);
    }
    let products: Vec<i64> = best.values().copied().collect();
    let others = pictures(reading, "products", &products)?;
    for branch in branches {
        let id = branch.get("id").and_then(int).unwrap_or_default();
        let file = own.get(&id).or_else(|| others.get(best.get(&id)?));
        if let Value::Map(fields) = branch {
            fields.push(("image".to_owned(), file.map(image).unwrap_or_default()));
        }
    }
    Ok(())
}

fn branch(all: &[Category], urls: &HashMap<i64, String>, parent: Option<i64>, depth: i64) -> Vec<Value> {
    if depth == 0 {
        return Vec::new();
    }
    let children = all.iter().filter(|category| category.parent_id == parent);
    let shown = children.filter_map(|category| urls.get(&category.id).map(|url| (category, url)));
    shown
        .map(|(category, url)| {
            map([
                ("id", category.id.into()),
                ("name", category.name.as_str().into()),
                ("url", url.as_str().into()),
                ("children", Value::List(branch(all, urls, Some(category.id), depth - 1))),
            ])
        })
        .collect()
}

/// A category with its path and what lies in it; null where it is not shown.
pub(super) fn get(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let id = args.int(0, "id")?;
    let found = read(run, "categories.get", |reading| {
        for table in ["categories", "category_closure", "texts.categories"] {
            reading.dependencies.table(table);
        }
        let Some(category) = categories::by_id(reading.tx, id, &reading.look.language)? else {
            return Ok(Value::Null);
        };
        let path = categories::path(reading.tx, id, &reading.look.language)?;
        // What lies in a hidden category is hidden with it.
        if path.iter().any(|step| step.state != "kShown") {
            return Ok(Value::Null);
        }
        whole(reading, &category, &path)
    })?;
    Ok(found)
}

fn whole(reading: &mut Reading<'_>, category: &Category, path: &[Category]) -> Result<Value, DbError> {
    let children = categories::children(reading.tx, Some(category.id), &reading.look.language)?;
    let ids: HashSet<i64> = path.iter().chain(&children).map(|category| category.id).collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let urls = reading.urls("categories", &ids)?;
    let [seo_title, seo_description] = reading.seo("categories", category.id)?;
    let all_urls = reading.all_urls("categories", category.id)?;
    let sort = match category.sort.as_str() {
        "kNew" => "new",
        "kPrice" => "price",
        "kName" => "name",
        "kRating" => "rating",
        _ => "popular",
    };
    Ok(map([
        ("id", category.id.into()),
        ("parent_id", category.parent_id.into()),
        ("name", category.name.as_str().into()),
        ("text", category.text.as_str().into()),
        ("sort", sort.into()),
        ("url", urls.get(&category.id).cloned().into()),
        ("urls", all_urls),
        ("path", steps(path, &urls)),
        ("children", steps(&children, &urls)),
        seo_title,
        seo_description,
    ]))
}

/// Categories as links.
pub(super) fn steps(categories: &[Category], urls: &HashMap<i64, String>) -> Value {
    let steps = categories.iter().filter_map(|category| urls.get(&category.id).map(|url| (category, url)));
    Value::List(
        steps
            .map(|(category, url)| {
                map([
                    ("id", category.id.into()),
                    ("name", category.name.as_str().into()),
                    ("url", url.as_str().into()),
                ])
            })
            .collect(),
    )
}
