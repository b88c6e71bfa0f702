//! Typed calls for what every shop shows: they know the rules, and exactly what their answers are made of.

mod brands;
mod cards;
mod categories;
mod content;
mod list;
mod product;
mod reviews;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use db::borders::Borders;
use db::prices::{self, PriceList, Prices};
use db::products::File;
use db::stock::Availability;
use db::{DbError, Tx};
use db::{slugs, stock, texts};
use jiff::Timestamp;
use sandbox::{HostError, Value};

use super::Answer;
use super::arguments::Arguments;
use super::data::{time_was_up, too_many};
use super::media::picture;
use crate::media::Kind;
use crate::settings::Settings;
use crate::units::dependencies::Dependencies;
use crate::units::run::Run;
use crate::units::shared::{Categories, Shared};
use crate::units::templates::{Look, decimal_text, money_text};
use crate::units::visit::map;

/// The typed calls, by name.
pub(super) fn call(run: &mut Run<'_>, name: &str, args: &Arguments<'_>) -> Option<Answer> {
    let answer = match name {
        "categories.tree" => categories::tree(run, args),
        "categories.get" => categories::get(run, args),
        "products.list" => list::list(run, args),
        "products.get" => product::get(run, args),
        "products.links" => product::links(run, args),
        "prices.of" => product::prices_of(run, args),
        "stock.of" => product::stock_of(run, args),
        "reviews.of" => reviews::of(run, args),
        "reviews.stars" => reviews::stars(run, args),
        "reviews.add" => reviews::add(run, args),
        "pages.get" => content::page(run, args),
        "pages.homes" => content::homes(run, args),
        "menus.get" => content::menu(run, args),
        "search" => list::search(run, args),
        "brands.get" => brands::get(run, args),
        "brands.list" => brands::list(run, args),
        _ => return None,
    };
    Some(answer)
}

/// What typed calls read in: one moment of the database, and the look of the page.
pub(super) struct Reading<'a> {
    pub(super) tx: &'a mut Tx,
    pub(super) look: &'a Look,
    pub(super) settings: &'a Settings,
    pub(super) now: Timestamp,
    pub(super) dependencies: &'a mut Dependencies,
    pub(super) borders: Borders,
    /// What other calls of the run have read.
    pub(super) shared: Shared,
}

/// Reads for a call, in one transaction; `rows` of the answer are told to the debugger.
fn read(
    run: &mut Run<'_>,
    call: &str,
    f: impl FnOnce(&mut Reading<'_>) -> Result<Value, DbError>,
) -> Result<Value, HostError> {
    if !run.count_query() {
        return Err(too_many());
    }
    let visit = run.visit;
    let mut dependencies = Dependencies::default();
    let mut shared = std::mem::take(&mut run.shared);
    let started = Instant::now();
    let work = |tx: &mut Tx| {
        let mut reading = Reading {
            tx,
            look: &visit.look,
            settings: &visit.settings,
            now: visit.now,
            dependencies: &mut dependencies,
            borders: Borders::around(visit.now),
            shared: std::mem::take(&mut shared),
        };
        let answer = f(&mut reading)?;
        let borders = reading.borders;
        shared = reading.shared;
        dependencies.borders(&borders);
        Ok::<_, DbError>(answer)
    };
    let answer = run.read(work).ok_or_else(time_was_up)?;
    if Shared::is_for(visit) {
        run.shared = shared;
    }
    run.dependencies().merge(&dependencies);
    let rows = match &answer {
        Ok(Value::List(list)) => list.len(),
        Ok(Value::Null) | Err(_) => 0,
        Ok(_) => 1,
    };
    run.note_query(&format!("shop.{call}()"), rows, started.elapsed());
    answer.map_err(|error| {
        tracing::error!(cause = ?error, call, "A typed call failed");
        HostError::new("DATABASE", "the database cannot be used")
    })
}

impl Reading<'_> {
    /// The address of a page in a language of the store.
    fn url(&self, language: &str, path: &str) -> String {
        let path = path.trim_start_matches('/');
        let path = if language == self.look.default_language {
            path.to_owned()
        } else {
            format!("{language}/{path}")
        };
        crate::units::path::encoded(&path)
    }

    /// The store's languages, its own first.
    fn languages(&self) -> Vec<&str> {
        let config = &self.settings.config;
        let mut languages = vec![config.language.as_str()];
        languages
            .extend(config.languages.iter().map(String::as_str).filter(|other| *other != config.language));
        languages
    }

    /// Addresses of rows in the page's language.
    fn urls(&mut self, entity: &str, ids: &[i64]) -> Result<HashMap<i64, String>, DbError> {
        self.element("slugs", entity, ids);
        let paths = slugs::current(self.tx, entity, ids, &self.look.language)?;
        Ok(paths.into_iter().map(|(id, path)| (id, self.url(&self.look.language, &path))).collect())
    }

    /// Addresses of one row in all languages of the store.
    fn all_urls(&mut self, entity: &str, id: i64) -> Result<Value, DbError> {
        self.element("slugs", entity, &[id]);
        let paths = slugs::of(self.tx, entity, id)?;
        let languages = self.languages();
        let known = paths.into_iter().filter(|(language, _)| languages.contains(&language.as_str()));
        Ok(Value::Map(
            known
                .map(|(language, path)| {
                    let url = self.url(&language, &path);
                    (language, url.into())
                })
                .collect(),
        ))
    }

    /// The texts that only search engines show, as fields.
    fn seo(&mut self, entity: &str, id: i64) -> Result<[(&'static str, Value); 2], DbError> {
        self.element("texts", entity, &[id]);
        let mut texts = texts::of(self.tx, entity, &[id], &self.look.language)?;
        let mut take = |field: &str| Value::from(texts.remove(&(id, field.to_owned())));
        Ok([("seo_title", take("seo_title")), ("seo_description", take("seo_description"))])
    }

    /// Notes that the answer depends on what rows have in a table that is for many: addresses, translations, files.
    fn element(&mut self, table: &str, entity: &str, ids: &[i64]) {
        let sets = [
            "files.products",
            "files.categories",
            "files.brands",
            "files.pages",
            "slugs.products",
            "slugs.categories",
            "slugs.brands",
            "slugs.pages",
            "texts.products",
            "texts.categories",
            "texts.brands",
            "texts.pages",
        ];
        let of = |set: &&str| set.split_once('.') == Some((table, entity));
        match sets.into_iter().find(of) {
            Some(set) => ids.iter().for_each(|id| self.dependencies.set(set, *id)),
            None => self.dependencies.table(&format!("{table}.{entity}")),
        }
    }

    /// Notes that the answer depends on rows that have pages.
    fn rows(&mut self, table: &str, ids: &[i64]) {
        match ["products", "categories", "brands", "pages"].into_iter().find(|known| *known == table) {
            Some(table) => ids.iter().for_each(|id| self.dependencies.row(table, *id)),
            None => self.dependencies.table(table),
        }
    }

    /// The lists whose prices everybody pays.
    fn price_lists(&mut self) -> Result<Arc<[PriceList]>, DbError> {
        self.dependencies.table("price_lists");
        let (lists, borders) = match &self.shared.price_lists {
            Some(known) => known.clone(),
            None => {
                let mut borders = Borders::around(self.now);
                borders.add_price_lists(self.tx)?;
                let lists = prices::open_lists(self.tx, &self.look.currency, None, self.now)?;
                self.shared.price_lists.insert((lists.into(), borders)).clone()
            }
        };
        self.borders.merge(&borders);
        Ok(lists)
    }

    /// All categories with their addresses in the page's language.
    fn categories(&mut self) -> Result<Arc<Categories>, DbError> {
        for table in ["categories", "texts.categories"] {
            self.dependencies.table(table);
        }
        if let Some(known) = self.shared.categories.clone() {
            let ids: Vec<i64> = known.all.iter().map(|category| category.id).collect();
            self.element("slugs", "categories", &ids);
            return Ok(known);
        }
        let all = db::categories::all(self.tx, &self.look.language)?;
        let ids: Vec<i64> = all.iter().map(|category| category.id).collect();
        let urls = self.urls("categories", &ids)?;
        Ok(Arc::clone(self.shared.categories.insert(Arc::new(Categories { all, urls }))))
    }

    /// The prices of variants for everybody.
    fn prices(&mut self, variants: &[i64]) -> Result<(Prices, Arc<[PriceList]>), DbError> {
        for variant in variants {
            self.dependencies.set("prices.variant_id", *variant);
        }
        let lists = self.price_lists()?;
        let prices = prices::of_variants(self.tx, variants, &lists)?;
        prices.add_borders(&mut self.borders)?;
        Ok((prices, lists))
    }

    /// How much there is of variants.
    fn stock(&mut self, variants: &[i64]) -> Result<HashMap<i64, Availability>, DbError> {
        self.dependencies.table("locations");
        for variant in variants {
            self.dependencies.row("variants", *variant);
            self.dependencies.set("stock.variant_id", *variant);
            self.dependencies.set("reservations.variant_id", *variant);
        }
        self.borders.add_reservations(self.tx, variants)?;
        stock::of_variants(self.tx, variants, self.now)
    }
}

/// A price as pages show it.
fn price(look: &Look, amount: i64, compare_at: Option<i64>, lowest: Option<i64>) -> Value {
    let text = |minor: i64| money_text(minor, &look.currency, &look.language).unwrap_or_default();
    map([
        ("amount", amount.into()),
        ("currency", look.currency.as_str().into()),
        ("text", text(amount).into()),
        ("decimal", decimal_text(amount, &look.currency).unwrap_or_default().into()),
        ("compare_at", compare_at.into()),
        ("compare_text", compare_at.map(text).into()),
        ("lowest", lowest.into()),
        ("lowest_text", lowest.map(text).into()),
    ])
}

/// A picture as pages show it.
fn image(file: &File) -> Value {
    let mut fields = picture(&file.stored_name, &file.mime, file.width, file.height);
    fields.push(("id".to_owned(), file.id.into()));
    fields.push(("alt".to_owned(), file.alt.as_str().into()));
    Value::Map(fields)
}

/// Whether a file is a picture that pages show.
fn is_image(file: &File) -> bool {
    Kind::of_mime(&file.mime).is_some_and(Kind::is_picture)
}
