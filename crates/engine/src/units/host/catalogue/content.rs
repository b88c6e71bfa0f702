//! `pages.get`, `pages.homes`, `menus.get`: what the owner wrote.

use std::collections::{HashMap, HashSet};

use db::DbError;
use db::content::{self, MenuItem};
use sandbox::Value;

use super::{Reading, read};
use crate::units::host::Answer;
use crate::units::host::arguments::{Arguments, int};
use crate::units::run::Run;
use crate::units::visit::map;

/// Deepest menu.
const DEEPEST: usize = 4;

/// A page by its number or key; null where it is not shown.
pub(super) fn page(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let id = int(args.value(0));
    let skey = if id.is_some() { "" } else { args.text(0, "id")? };
    read(run, "pages.get", |reading| {
        for table in ["pages", "texts.pages"] {
            reading.dependencies.table(table);
        }
        let Some(page) = content::page(reading.tx, id, skey, &reading.look.language)? else {
            return Ok(Value::Null);
        };
        let url = reading.urls("pages", &[page.id])?.remove(&page.id);
        let urls = reading.all_urls("pages", page.id)?;
        let [seo_title, seo_description] = reading.seo("pages", page.id)?;
        Ok(map([
            ("id", page.id.into()),
            ("key", page.skey.into()),
            ("name", page.name.into()),
            ("text", page.text.into()),
            ("url", url.into()),
            ("urls", urls),
            seo_title,
            seo_description,
        ]))
    })
}

/// The home pages, by language.
pub(super) fn homes(run: &mut Run<'_>, _: &Arguments<'_>) -> Answer {
    let config = &run.visit.settings.config;
    let mut homes = vec![(config.language.clone(), Value::from("/"))];
    for language in config.languages.iter().filter(|language| **language != config.language) {
        homes.push((language.clone(), format!("/{language}").into()));
    }
    Ok(Value::Map(homes))
}

/// The items of a menu as links; those that lead nowhere are left out.
pub(super) fn menu(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let skey = args.text(0, "key")?;
    read(run, "menus.get", |reading| {
        for table in ["menus", "menu_items", "texts.menu_items"] {
            reading.dependencies.table(table);
        }
        let mut items = content::menu(reading.tx, skey, &reading.look.language)?;
        name(reading, &mut items)?;
        let urls = addresses(reading, &items)?;
        Ok(Value::List(branch(&items, &urls, None, DEEPEST)))
    })
}

/// An item without a name of its own bears the name of what it leads to.
fn name(reading: &mut Reading<'_>, items: &mut [MenuItem]) -> Result<(), DbError> {
    let nameless = items.iter().filter(|item| item.name.is_empty());
    let entities: HashSet<String> = nameless.filter_map(|item| item.entity.clone()).collect();
    for entity in entities {
        let is_of = |item: &MenuItem| item.name.is_empty() && item.entity.as_ref() == Some(&entity);
        let ids: Vec<i64> = items.iter().filter(|item| is_of(item)).filter_map(|item| item.elem_id).collect();
        reading.rows(&entity, &ids);
        reading.element("texts", &entity, &ids);
        let names = content::names(reading.tx, &entity, &ids, &reading.look.language)?;
        for item in items.iter_mut().filter(|item| is_of(item)) {
            let name = item.elem_id.and_then(|id| names.get(&id));
            item.name = name.cloned().unwrap_or_default();
        }
    }
    Ok(())
}

/// Where the items lead, by their numbers.
fn addresses(reading: &mut Reading<'_>, items: &[MenuItem]) -> Result<HashMap<i64, String>, DbError> {
    let mut addresses = HashMap::new();
    let entities: HashSet<&str> = items.iter().filter_map(|item| item.entity.as_deref()).collect();
    for entity in entities {
        let of = items.iter().filter(|item| item.entity.as_deref() == Some(entity));
        let ids: Vec<i64> = of.clone().filter_map(|item| item.elem_id).collect();
        let urls = reading.urls(entity, &ids)?;
        let known = of.filter_map(|item| Some((item.id, urls.get(&item.elem_id?)?.clone())));
        addresses.extend(known);
    }
    // An address that a person typed leads into the store or to a page of the web, never into a script.
    let typed = items.iter().filter_map(|item| item.url.as_ref().map(|url| (item.id, url.clone())));
    addresses.extend(typed.filter(|(_, url)| {
        crate::units::host::is_own_address(url) || url.starts_with("https://") || url.starts_with("http://")
    }));
    Ok(addresses)
}

fn branch(items: &[MenuItem], urls: &HashMap<i64, String>, parent: Option<i64>, depth: usize) -> Vec<Value> {
    if depth == 0 {
        return Vec::new();
    }
    let children = items.iter().filter(|item| item.parent_id == parent);
    let shown = children.filter_map(|item| urls.get(&item.id).map(|url| (item, url)));
    shown
        .map(|(item, url)| {
            map([
                ("name", item.name.as_str().into()),
                ("url", url.as_str().into()),
                ("children", Value::List(branch(items, urls, Some(item.id), depth - 1))),
            ])
        })
        .collect()
}
