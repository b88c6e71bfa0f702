//! A product of a table becomes one of the store, or changes the one that is there.

use std::collections::HashMap;

use db::exchange::{self, AttributeValue};
use db::products::NewProduct;
use db::slugs::Destination;
use db::{Tx, Value, listing, products, rows, slugs, texts};
use jiff::Timestamp;
use shop::text::{folded, slug, sort_key};

use super::amount;
use super::goods::{Attribute, Goods, Key};
use super::lookups::Lookups;
use super::pictures::{Came, Pictures};
use super::pieces::{self, Place};
use super::problem::{Code, Problem};
use super::report::{ImportError, Report};
use crate::units::clean_html;

/// What importing products needs and finds.
pub(super) struct Importer<'a> {
    pub(super) language: &'a str,
    pub(super) place: Place,
    pub(super) pictures: Pictures<'a>,
    /// Whether the table says what visitors see.
    pub(super) publishes: bool,
    pub(super) lookups: Lookups,
    /// Products of this table, by what their variations call them.
    pub(super) parents: HashMap<String, i64>,
    pub(super) report: Report,
    /// The last product, where it was counted as one that stays as it is.
    pub(super) counted_same: Option<i64>,
}

impl Importer<'_> {
    fn now(&self) -> Timestamp {
        self.place.now
    }

    /// Brings the store to what a product says; its number. What is wrong is noted, and nothing of it written.
    pub(super) fn bring(&mut self, tx: &mut Tx, goods: &Goods) -> Result<Option<i64>, ImportError> {
        let found = match self.find(tx, goods)? {
            Ok(found) => found,
            Err(problem) => {
                self.report.note(problem);
                return Ok(None);
            }
        };
        let (id, is_new) = match found {
            Some(id) => (id, false),
            None if goods.name.is_none() => {
                self.report.note(Problem {
                    line: goods.line,
                    column: "Name".to_owned(),
                    code: Code::NoName,
                    value: String::new(),
                });
                return Ok(None);
            }
            None => (self.create(tx, goods)?, true),
        };
        let is_changed = self.fields(tx, id, goods)?
            | self.texts(tx, id, goods)?
            | self.places(tx, id, goods)?
            | self.attributes(tx, id, goods)?
            | self.pieces(tx, id, &goods.pieces)?
            | self.pictures(tx, id, goods)?;
        self.report.count(is_new, is_changed);
        self.counted_same = (!is_new && !is_changed).then_some(id);
        if is_new || is_changed {
            listing::changed(tx, "products", id, self.now())?;
        }
        Ok(Some(id))
    }

    /// A product whose row said nothing new has a variation that did.
    pub(super) fn variation_changed(&mut self, product: i64) {
        if self.counted_same.take_if(|counted| *counted == product).is_some() {
            self.report.same -= 1;
            self.report.changed += 1;
        } else if self.report.changes_nothing() {
            self.report.changed += 1;
        }
    }

    /// Brings variants of a product.
    pub(super) fn pieces(
        &mut self,
        tx: &mut Tx,
        id: i64,
        wanted: &[super::goods::Piece],
    ) -> Result<bool, ImportError> {
        let decimals = exchange::product(tx, id)?.map_or(0, |product| product.decimals);
        Ok(pieces::bring(tx, &self.place, (id, decimals), wanted, &mut self.report)?)
    }

    /// The product that is meant.
    fn find(&self, tx: &mut Tx, goods: &Goods) -> Result<Result<Option<i64>, Problem>, ImportError> {
        match &goods.key {
            Key::Handle(handle) => match slugs::find(tx, self.language, handle)? {
                Some(Destination::Here(element) | Destination::Moved(element, _))
                    if element.entity == "products" =>
                {
                    Ok(Ok(Some(element.id)))
                }
                Some(Destination::Here(_)) => Ok(Err(Problem {
                    line: goods.line,
                    column: "Handle".to_owned(),
                    code: Code::TakenHandle,
                    value: handle.clone(),
                })),
                _ => Ok(Ok(None)),
            },
            Key::Product(id) => Ok(match exchange::product(tx, *id)? {
                Some(_) => Ok(Some(*id)),
                None => Err(Problem {
                    line: goods.line,
                    column: "product".to_owned(),
                    code: Code::UnknownProduct,
                    value: id.to_string(),
                }),
            }),
            Key::Outside { external_id, sku } => {
                if let Some(external_id) = external_id
                    && let Some(id) = exchange::by_external_id(tx, external_id)?
                {
                    return Ok(Ok(Some(id)));
                }
                // Tables of this store name products with variants by their addresses.
                let path = external_id.as_deref().and_then(|id| id.strip_prefix("woo-sku:"));
                if let Some(path) = path
                    && let Some(Destination::Here(element)) = slugs::find(tx, self.language, path)?
                    && element.entity == "products"
                {
                    return Ok(Ok(Some(element.id)));
                }
                let Some(sku) = sku else { return Ok(Ok(None)) };
                Ok(Ok(exchange::of_sku(tx, &folded(sku))?.map(|(_, product)| product)))
            }
        }
    }

    /// A new product; nobody sees it unless the table may publish.
    fn create(&mut self, tx: &mut Tx, goods: &Goods) -> Result<i64, ImportError> {
        let name = goods.name.clone().unwrap_or_default();
        let state = goods.state.filter(|_| self.publishes).unwrap_or("kDraft");
        let new = NewProduct { name: name.clone(), state: state.to_owned(), ..NewProduct::default() };
        let id = products::create(tx, &new, self.now())?;
        let path = match &goods.key {
            Key::Handle(handle) => handle.clone(),
            Key::Product(_) => slugs::free(tx, self.language, &slug(&name), id)?,
            Key::Outside { external_id, .. } => {
                if let Some(external_id) = external_id {
                    rows::update(
                        tx,
                        "products",
                        id,
                        None,
                        &[("external_id", external_id.into())],
                        self.now(),
                    )?;
                }
                slugs::free(tx, self.language, &slug(&name), id)?
            }
        };
        slugs::set(tx, "products", id, self.language, &path, self.now())?;
        Ok(id)
    }

    fn fields(&mut self, tx: &mut Tx, id: i64, goods: &Goods) -> Result<bool, ImportError> {
        let Some(known) = exchange::product(tx, id)? else { return Ok(false) };
        let mut row: Vec<(&str, Value)> = Vec::new();
        if let Some(name) = goods.name.as_ref().filter(|name| **name != known.name) {
            row.push(("name", name.into()));
            row.push(("name_folded", folded(name).into()));
            row.push(("name_sort", sort_key(name).into()));
        }
        if let Some(text) =
            goods.text.as_ref().map(|text| clean_html(text)).filter(|text| *text != known.text)
        {
            row.push(("text", text.into()));
        }
        if let Some(brand) = &goods.brand {
            let brand = self.lookups.brand(tx, brand)?;
            if known.brand_id != Some(brand) {
                row.push(("brand_id", brand.into()));
            }
        }
        if let Some(state) =
            goods.state.filter(|state| self.publishes && !is_state(known.state.as_str(), state, goods))
        {
            row.push(("state", state.into()));
        }
        if let Some(path) = goods.categories.first() {
            let category = self.lookups.category(tx, path)?;
            if category.is_some() && category != known.main_category_id {
                row.push(("main_category_id", category.into()));
            }
        }
        if row.is_empty() {
            return Ok(false);
        }
        self.report.add(&(&known.name, &known.text, &known.state));
        rows::update(tx, "products", id, None, &row, self.now())?;
        Ok(true)
    }

    fn texts(&self, tx: &mut Tx, id: i64, goods: &Goods) -> Result<bool, ImportError> {
        if goods.texts.is_empty() {
            return Ok(false);
        }
        let known = texts::of(tx, "products", &[id], self.language)?;
        let mut is_changed = false;
        for (field, text) in &goods.texts {
            let text = if *field == "short" { clean_html(text) } else { text.clone() };
            if known.get(&(id, (*field).to_owned())) != Some(&text) {
                texts::set(tx, "products", id, self.language, field, &text, self.now())?;
                is_changed = true;
            }
        }
        Ok(is_changed)
    }

    /// Categories and tags are added, never taken away.
    fn places(&mut self, tx: &mut Tx, id: i64, goods: &Goods) -> Result<bool, ImportError> {
        let mut is_changed = false;
        let known = exchange::categories_of(tx, id)?;
        for path in &goods.categories {
            if let Some(category) =
                self.lookups.category(tx, path)?.filter(|category| !known.contains(category))
            {
                products::add_category(tx, id, category)?;
                is_changed = true;
            }
        }
        if goods.tags.is_empty() {
            return Ok(is_changed);
        }
        let mut known: Vec<i64> = exchange::tags_of(tx, id)?.into_iter().map(|tag| tag.id).collect();
        for tag in &goods.tags {
            let tag = self.lookups.tag(tx, tag)?;
            if !known.contains(&tag) {
                rows::insert(tx, "product_tags", &[("product_id", id.into()), ("tag_id", tag.into())])?;
                known.push(tag);
                is_changed = true;
            }
        }
        Ok(is_changed)
    }

    fn attributes(&mut self, tx: &mut Tx, id: i64, goods: &Goods) -> Result<bool, ImportError> {
        let mut is_changed = false;
        for wanted in goods.attributes.iter().filter(|wanted| !wanted.skey.is_empty()) {
            let attribute = self.lookups.attribute(tx, &wanted.skey, &wanted.name)?;
            if attribute.kind == "kChoices" {
                // Several at once are no cell's.
                continue;
            }
            let known = exchange::attribute_values(tx, id, attribute.id)?;
            let Some((column, value)) = attribute_value(tx, &attribute, wanted)? else {
                self.report.note(Problem {
                    line: goods.line,
                    column: wanted.column.clone(),
                    code: Code::NotOfAttribute,
                    value: wanted.value.clone(),
                });
                continue;
            };
            if known.first().is_some_and(|known| is_value(known, &attribute, wanted, &value)) {
                continue;
            }
            match known.first() {
                Some(known) => {
                    rows::update(tx, "attribute_values", known.id, None, &[(column, value)], self.now())?;
                }
                None => {
                    let row =
                        [("product_id", id.into()), ("attribute_id", attribute.id.into()), (column, value)];
                    rows::insert(tx, "attribute_values", &row)?;
                }
            }
            is_changed = true;
        }
        Ok(is_changed)
    }

    /// Gives a product its pictures.
    pub(super) fn pictures(&mut self, tx: &mut Tx, id: i64, goods: &Goods) -> Result<bool, ImportError> {
        let mut is_changed = false;
        for picture in &goods.pictures {
            match self.pictures.give(tx, id, picture, self.place.now)? {
                Came::Known => {}
                Came::Added => {
                    is_changed = true;
                    self.report.pictures += 1;
                }
                Came::Missing => self.report.missing_pictures += 1,
                Came::Bad => self.report.note(Problem {
                    line: picture.line,
                    column: picture.column.clone(),
                    code: Code::BadPicture,
                    value: picture.source.clone(),
                }),
            }
        }
        Ok(is_changed)
    }
}

/// Whether a product is in this state already. WooCommerce knows no archive: what is not published may lie there.
fn is_state(known: &str, wanted: &str, goods: &Goods) -> bool {
    let is_of_woocommerce = matches!(goods.key, Key::Outside { .. });
    known == wanted || (is_of_woocommerce && (known, wanted) == ("kArchive", "kDraft"))
}

/// The column of an attribute's type with the value; `None` for what it cannot hold.
fn attribute_value(
    tx: &mut Tx,
    attribute: &exchange::Attribute,
    wanted: &Attribute,
) -> Result<Option<(&'static str, Value)>, ImportError> {
    let text = wanted.value.trim();
    Ok(match attribute.kind.as_str() {
        "kText" => Some(("text_value", text.into())),
        "kInt" => amount::whole(text).ok().map(|value| ("int_value", value.into())),
        "kDecimal" => {
            let decimals = u8::try_from(attribute.decimals).unwrap_or_default();
            let sign = if text.contains(',') { amount::Sign::Comma } else { amount::Sign::Point };
            amount::decimal(text, decimals, Some(sign)).ok().map(|value| ("int_value", value.into()))
        }
        "kBool" => match folded(text).as_str() {
            "true" | "yes" | "1" => Some(("int_value", 1_i64.into())),
            "false" | "no" | "0" => Some(("int_value", 0_i64.into())),
            _ => None,
        },
        "kDate" => text.parse::<jiff::civil::Date>().ok().map(|_| ("date_value", text.into())),
        "kChoice" => {
            let known = exchange::choices(tx, attribute.id)?;
            let same = known.into_iter().find(|choice| folded(&choice.name) == folded(text));
            same.map(|choice| ("choice_id", choice.id.into()))
        }
        _ => None,
    })
}

fn is_value(
    known: &AttributeValue,
    attribute: &exchange::Attribute,
    wanted: &Attribute,
    value: &Value,
) -> bool {
    match attribute.kind.as_str() {
        "kText" => known.text_value.as_deref() == Some(wanted.value.trim()),
        "kDate" => known.date_value.as_deref() == Some(wanted.value.trim()),
        "kChoice" => known.choice.as_deref().map(folded) == Some(folded(wanted.value.trim())),
        _ => known.int_value.map(Value::from).as_ref() == Some(value),
    }
}
