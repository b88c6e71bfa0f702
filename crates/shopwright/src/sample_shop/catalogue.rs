//! Categories, brands, attributes, products and their variants, prices.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use db::Value;
use shop::money::{part, scaled};
use shop::text::{folded, slug, sort_key};

use super::plan::Plan;
use super::random::Stream;
use super::words::{Words, either, of};
use super::writer::{Rows, Writer};

/// Products that the words describe; those after them are the same ones again, as later lots.
pub(super) struct Catalogue<'a> {
    pub(super) plan: &'a Plan,
    pub(super) words: &'a Words,
    /// The products of the words, in order.
    pub(super) bases: Vec<Base<'a>>,
    brands: BTreeMap<&'a str, i64>,
    choices: BTreeMap<(&'a str, &'a str), i64>,
    /// Variants of the products of one round, and options and their values of one.
    variants_a_round: i64,
}

/// A product of the words.
pub(super) struct Base<'a> {
    pub(super) product: &'a super::words::Product,
    pub(super) scheme: &'a super::words::Scheme,
    pub(super) category_id: i64,
    pub(super) tax: &'a str,
    /// Variants of the products before it in a round.
    variants_before: i64,
}

/// One product of the shop, worked out from its number.
pub(super) struct ProductOf<'c> {
    pub(super) id: i64,
    pub(super) base: &'c Base<'c>,
    /// 0 for the products of the words, then the lots.
    lot: i64,
    pub(super) first_variant: i64,
}

impl ProductOf<'_> {
    /// The name; lots after the first are numbered.
    pub(super) fn name(&self, language: &str) -> String {
        let name = either(&self.base.product.0, &self.base.product.1, language);
        match self.lot {
            0 => name.to_owned(),
            lot => format!("{name}, {} {}", either("lot", "партия", language), lot + 1),
        }
    }

    /// What a variant costs in minor units, taxes in it.
    pub(super) fn price(&self, variant: usize) -> i64 {
        let factor = self.base.scheme.values.get(variant).map_or(1000, |value| value.3);
        // Each lot is a little cheaper or dearer, so that sorting by price has something to do.
        let lot = 1000 + (self.lot * 37) % 240 - 120 * (self.lot % 2);
        scaled(self.base.product.4, factor, 1000).and_then(|price| scaled(price, lot, 1000)).unwrap_or(100)
    }

    /// What it is searched by in a shop's books.
    pub(super) fn sku(&self, variant: usize) -> String {
        let suffix = self.base.scheme.values.get(variant).map_or("", |value| value.0.as_str());
        let dash = if suffix.is_empty() { "" } else { "-" };
        format!("CK-{:05}{dash}{}", self.id, suffix.to_uppercase())
    }

    /// What it is made of, where that is told.
    pub(super) fn material(&self) -> &str {
        self.attributes().into_iter().find(|(key, _)| *key == "material").map_or("", |(_, value)| value)
    }

    /// Values of its attributes: key and choice, or key and number.
    fn attributes(&self) -> Vec<(&str, &str)> {
        let origin = Some(("origin", self.base.product.3.as_str())).filter(|(_, key)| !key.is_empty());
        let rest = self.base.product.5.split_whitespace().filter_map(|word| word.split_once('='));
        let rest = rest.flat_map(|(key, values)| values.split(',').map(move |value| (key, value)));
        origin.into_iter().chain(rest).collect()
    }
}

impl<'a> Catalogue<'a> {
    pub(super) fn new(plan: &'a Plan, words: &'a Words) -> Result<Self> {
        let mut bases = Vec::new();
        let mut variants_before = 0;
        for (category_id, category) in (plan.first_leaf(words)..).zip(&words.categories) {
            let scheme = words.variants.get(&category.variants);
            let scheme = scheme.with_context(|| format!("no variants `{}`", category.variants))?;
            for product in &category.products {
                bases.push(Base { product, scheme, category_id, tax: &category.tax, variants_before });
                variants_before += i64::try_from(scheme.values.len())?;
            }
        }
        let brands = words.brands.keys().map(String::as_str).zip(plan.ids("brands")..).collect();
        let choices = words.attributes.iter().flat_map(|attribute| {
            attribute.choices.iter().map(|choice| (attribute.key.as_str(), choice.0.as_str()))
        });
        let choices = choices.zip(plan.ids("attribute_choices")..).collect();
        Ok(Self { plan, words, bases, brands, choices, variants_a_round: variants_before })
    }

    /// The product of this place, from 0.
    pub(super) fn product(&'a self, at: i64) -> Result<ProductOf<'a>> {
        let round = i64::try_from(self.bases.len())?;
        let base = self.bases.get(usize::try_from(at % round)?).context("no such product")?;
        let lot = at / round;
        let first_variant = self.plan.ids("variants") + lot * self.variants_a_round + base.variants_before;
        Ok(ProductOf { id: self.plan.ids("products") + at, base, lot, first_variant })
    }

    /// Does something for every product.
    pub(super) fn each(&'a self, mut take: impl FnMut(&ProductOf<'a>) -> Result<()>) -> Result<()> {
        (0..self.plan.products).try_for_each(|at| take(&self.product(at)?))
    }

    /// Does something for every variant, with its number and its place among the product's.
    pub(super) fn each_variant(
        &'a self,
        mut take: impl FnMut(&ProductOf<'a>, i64, usize) -> Result<()>,
    ) -> Result<()> {
        self.each(|product| {
            (product.first_variant..)
                .zip(0..product.base.scheme.values.len())
                .try_for_each(|(id, at)| take(product, id, at))
        })
    }

    /// Fills every table of the catalogue.
    pub(super) fn write(&'a self, writer: &mut Writer<'_>) -> Result<()> {
        self.categories(writer)?;
        self.brands_and_attributes(writer)?;
        self.products(writer)?;
        self.options(writer)?;
        self.variants(writer)?;
        self.variant_values(writer)?;
        self.attribute_values(writer)?;
        self.links(writer)
    }

    fn categories(&self, writer: &mut Writer<'_>) -> Result<()> {
        let main = &self.plan.language;
        let row = |rows: &mut Rows<'_>, parent: Option<i64>, position: i64, name: &str, text: &str| {
            rows.add(&[
                ("parent_id", parent.into()),
                ("position", position.into()),
                ("name", name.into()),
                ("text", format!("<p>{text}</p>").into()),
                ("state", "kShown".into()),
                ("sort", "kPopular".into()),
            ])
        };
        writer.table("categories", self.plan.ids("categories"), |rows| {
            let mut roots = BTreeMap::new();
            for (position, root) in (1..).zip(&self.words.roots) {
                let id = row(rows, None, position, of(&root.name, main), of(&root.text, main))?;
                roots.insert(root.key.as_str(), id);
            }
            for (position, leaf) in (1..).zip(&self.words.categories) {
                let parent = roots.get(leaf.root.as_str()).copied();
                row(rows, parent, position, of(&leaf.name, main), of(&leaf.text, main))?;
            }
            Ok(())
        })
    }

    fn brands_and_attributes(&self, writer: &mut Writer<'_>) -> Result<()> {
        let main = &self.plan.language;
        writer.table("brands", self.plan.ids("brands"), |rows| {
            for (position, name) in (1_i64..).zip(self.words.brands.values()) {
                rows.add(&[
                    ("name", name.into()),
                    ("name_folded", folded(name).into()),
                    ("position", position.into()),
                    ("text", "".into()),
                    ("site", "".into()),
                ])?;
            }
            Ok(())
        })?;
        writer.table("attributes", self.plan.ids("attributes"), |rows| {
            for (position, attribute) in (1_i64..).zip(&self.words.attributes) {
                rows.add(&[
                    ("skey", (&attribute.key).into()),
                    ("name", of(&attribute.name, main).into()),
                    ("position", position.into()),
                    ("type", (&attribute.kind).into()),
                    ("decimals", 0_i64.into()),
                    ("measure", (&attribute.measure).into()),
                    ("filter", true.into()),
                    ("search", (attribute.kind == "kChoice" || attribute.kind == "kChoices").into()),
                    ("compare", true.into()),
                ])?;
            }
            Ok(())
        })?;
        let attributes = self.plan.ids("attributes");
        writer.table("attribute_choices", self.plan.ids("attribute_choices"), |rows| {
            for (attribute_id, attribute) in (attributes..).zip(&self.words.attributes) {
                for (position, (key, en, ru)) in (1_i64..).zip(&attribute.choices) {
                    rows.add(&[
                        ("attribute_id", attribute_id.into()),
                        ("skey", key.into()),
                        ("name", either(en, ru, main).into()),
                        ("position", position.into()),
                    ])?;
                }
            }
            Ok(())
        })?;
        let roots = self.plan.ids("categories")..self.plan.first_leaf(self.words);
        writer.table("category_attributes", self.plan.ids("category_attributes"), |rows| {
            for category_id in roots {
                for (position, attribute_id) in (1_i64..).zip(attributes..).take(self.words.attributes.len())
                {
                    rows.add(&[
                        ("category_id", category_id.into()),
                        ("attribute_id", attribute_id.into()),
                        ("position", position.into()),
                    ])?;
                }
            }
            Ok(())
        })
    }

    fn products(&'a self, writer: &mut Writer<'_>) -> Result<()> {
        let main = &self.plan.language;
        writer.table("products", self.plan.ids("products"), |rows| {
            self.each(|product| {
                let name = product.name(main);
                let brand = self.brands.get(product.base.product.2.as_str()).copied();
                let created = self.plan.days_ago(30 + (product.id * 13) % 700)?;
                let (sum, count) = self.rating(product.id)?;
                rows.add(&[
                    ("id", product.id.into()),
                    ("kind", "kGoods".into()),
                    ("brand_id", brand.into()),
                    ("tax_class_id", self.plan.key("tax_classes", product.base.tax)?.into()),
                    ("main_category_id", product.base.category_id.into()),
                    ("text", self.text(product, main).into()),
                    ("name_folded", folded(&name).into()),
                    ("name_sort", sort_key(&name).into()),
                    ("name", name.into()),
                    ("state", state(product.id).into()),
                    ("rating_sum", sum.into()),
                    ("rating_count", count.into()),
                    ("created", created.into()),
                ])?;
                Ok(())
            })
        })
    }

    /// A description of a few sentences.
    pub(super) fn text(&self, product: &ProductOf<'_>, language: &str) -> String {
        let mut stream = Stream::of("text", product.id);
        let sentences = self.words.sentences.get(language).map_or(&[][..], Vec::as_slice);
        let first = stream.pick(sentences).map_or("", String::as_str);
        let second = stream.pick(sentences).filter(|second| *second != first).map_or("", String::as_str);
        format!("<p>{}. {first}</p><p>{second}</p>", product.name(language))
    }

    /// Sum and count of the shown reviews of a product.
    fn rating(&self, product_id: i64) -> Result<(i64, i64)> {
        let reviews = super::reviews::of_product(self.plan, self.words, product_id)?;
        let shown = reviews.iter().filter(|review| review.state == "kShown");
        Ok(shown.fold((0, 0), |(sum, count), review| (sum + review.rating, count + 1)))
    }

    fn options(&'a self, writer: &mut Writer<'_>) -> Result<()> {
        let main = &self.plan.language;
        // An option carries the number of its product, and a value that of its variant.
        writer.table("product_options", 1, |rows| {
            self.each(|product| {
                let Some(key) = &product.base.scheme.key else { return Ok(()) };
                rows.add(&[
                    ("id", product.id.into()),
                    ("product_id", product.id.into()),
                    ("skey", key.into()),
                    ("name", of(&product.base.scheme.name, main).into()),
                    ("position", 1_i64.into()),
                ])?;
                Ok(())
            })
        })?;
        writer.table("product_option_values", 1, |rows| {
            self.each_variant(|product, variant_id, at| {
                let (Some(_), Some(value)) = (&product.base.scheme.key, product.base.scheme.values.get(at))
                else {
                    return Ok(());
                };
                rows.add(&[
                    ("id", variant_id.into()),
                    ("option_id", product.id.into()),
                    ("skey", (&value.0).into()),
                    ("name", either(&value.1, &value.2, main).into()),
                    ("position", i64::try_from(at + 1)?.into()),
                ])?;
                Ok(())
            })
        })
    }

    fn variants(&'a self, writer: &mut Writer<'_>) -> Result<()> {
        writer.table("variants", self.plan.ids("variants"), |rows| {
            self.each_variant(|product, id, at| {
                let sku = product.sku(at);
                let weight = product.base.scheme.values.get(at).map(|value| value.4);
                let option_key = product.base.scheme.key.as_ref().map(|_| id.to_string()).unwrap_or_default();
                rows.add(&[
                    ("id", id.into()),
                    ("product_id", product.id.into()),
                    ("sku_folded", folded(&sku).into()),
                    ("sku", sku.into()),
                    ("gtin", gtin(id).into()),
                    ("position", i64::try_from(at + 1)?.into()),
                    ("option_key", option_key.into()),
                    ("weight", weight.into()),
                    ("tracked", true.into()),
                    ("backorder", 0_i64.into()),
                    ("min_quantity", 1_i64.into()),
                    ("step", 1_i64.into()),
                    ("cost", part(product.price(at), 550_000)?.into()),
                    ("cost_currency", self.plan.currency.code.into()),
                    ("origin", product.base.product.3.as_str().into()),
                    ("ships", true.into()),
                ])?;
                Ok(())
            })
        })
    }

    fn variant_values(&'a self, writer: &mut Writer<'_>) -> Result<()> {
        writer.table("variant_values", self.plan.ids("variant_values"), |rows| {
            self.each_variant(|product, id, _| {
                if product.base.scheme.key.is_some() {
                    rows.add(&[
                        ("variant_id", id.into()),
                        ("option_id", product.id.into()),
                        ("value_id", id.into()),
                    ])?;
                }
                Ok(())
            })
        })
    }

    fn attribute_values(&'a self, writer: &mut Writer<'_>) -> Result<()> {
        let attributes: BTreeMap<&str, i64> = self
            .words
            .attributes
            .iter()
            .map(|one| one.key.as_str())
            .zip(self.plan.ids("attributes")..)
            .collect();
        writer.table("attribute_values", self.plan.ids("attribute_values"), |rows| {
            self.each(|product| {
                for (key, value) in product.attributes() {
                    let attribute_id =
                        *attributes.get(key).with_context(|| format!("no attribute `{key}`"))?;
                    let choice = self.choices.get(&(key, value)).copied();
                    let number: Option<i64> = if choice.is_none() { Some(value.parse()?) } else { None };
                    rows.add(&[
                        ("product_id", product.id.into()),
                        ("attribute_id", attribute_id.into()),
                        ("choice_id", choice.into()),
                        ("int_value", number.into()),
                    ])?;
                }
                Ok(())
            })
        })
    }

    fn links(&'a self, writer: &mut Writer<'_>) -> Result<()> {
        writer.table("product_categories", self.plan.ids("product_categories"), |rows| {
            self.each(|product| {
                rows.add(&[
                    ("product_id", product.id.into()),
                    ("category_id", product.base.category_id.into()),
                    ("position", 0_i64.into()),
                ])?;
                Ok(())
            })
        })?;
        let first = self.plan.ids("products");
        writer.table("product_links", self.plan.ids("product_links"), |rows| {
            self.each(|product| {
                let mut stream = Stream::of("links", product.id);
                for kind in ["kCross", "kAnalog"] {
                    let linked = first + stream.below(self.plan.products);
                    if linked != product.id {
                        rows.add(&[
                            ("product_id", product.id.into()),
                            ("linked_id", linked.into()),
                            ("kind", kind.into()),
                            ("position", 1_i64.into()),
                        ])?;
                    }
                }
                Ok(())
            })
        })
    }

    /// Names and texts in the other languages, and the addresses in all of them.
    pub(super) fn texts_and_slugs(&'a self, writer: &mut Writer<'_>) -> Result<()> {
        let others: Vec<&str> = ["en", "ru"].into_iter().filter(|one| *one != self.plan.language).collect();
        writer.table("texts", self.plan.ids("texts"), |rows| {
            let mut row = |entity: &str, id: i64, language: &str, field: &str, value: String| {
                rows.add(&[
                    ("entity", entity.into()),
                    ("elem_id", id.into()),
                    ("language", language.into()),
                    ("field", field.into()),
                    ("value", value.into()),
                ])
            };
            for language in others {
                for (id, name, text) in self.named_categories(language) {
                    row("categories", id, language, "name", name)?;
                    row("categories", id, language, "text", format!("<p>{text}</p>"))?;
                }
                for (id, attribute) in (self.plan.ids("attributes")..).zip(&self.words.attributes) {
                    row("attributes", id, language, "name", of(&attribute.name, language).to_owned())?;
                }
                let choices = self.words.attributes.iter().flat_map(|attribute| &attribute.choices);
                for (id, (_, en, ru)) in (self.plan.ids("attribute_choices")..).zip(choices) {
                    row("attribute_choices", id, language, "name", either(en, ru, language).to_owned())?;
                }
                self.each(|product| {
                    row("products", product.id, language, "name", product.name(language))?;
                    row("products", product.id, language, "text", self.text(product, language))?;
                    if product.base.scheme.key.is_some() {
                        let name = of(&product.base.scheme.name, language).to_owned();
                        row("product_options", product.id, language, "name", name)?;
                    }
                    Ok(())
                })?;
                self.each_variant(|product, id, at| {
                    if let (Some(_), Some(value)) =
                        (&product.base.scheme.key, product.base.scheme.values.get(at))
                    {
                        let name = either(&value.1, &value.2, language).to_owned();
                        row("product_option_values", id, language, "name", name)?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        self.slugs(writer)
    }

    fn slugs(&'a self, writer: &mut Writer<'_>) -> Result<()> {
        let made = db::micros(self.plan.now);
        writer.table("slugs", self.plan.ids("slugs"), |rows| {
            let mut row = |entity: &str, id: i64, language: &str, path: String| {
                rows.add(&[
                    ("language", language.into()),
                    ("path_folded", folded(&path).into()),
                    ("path", path.into()),
                    ("entity", entity.into()),
                    ("elem_id", id.into()),
                    ("state", "kCurrent".into()),
                    ("created", made.clone().into()),
                ])
            };
            for language in ["en", "ru"] {
                for (id, name, _) in self.named_categories(language) {
                    row("categories", id, language, slug(&name))?;
                }
                for (id, name) in (self.plan.ids("brands")..).zip(self.words.brands.values()) {
                    row("brands", id, language, format!("brand/{}", slug(name)))?;
                }
                self.each(|product| {
                    row("products", product.id, language, slug(&product.name(language)))?;
                    Ok(())
                })?;
            }
            Ok(())
        })
    }

    fn named_categories(&self, language: &str) -> Vec<(i64, String, String)> {
        let roots = self.words.roots.iter().map(|root| (&root.name, &root.text));
        let leaves = self.words.categories.iter().map(|leaf| (&leaf.name, &leaf.text));
        (self.plan.ids("categories")..)
            .zip(roots.chain(leaves))
            .map(|(id, (name, text))| (id, of(name, language).to_owned(), of(text, language).to_owned()))
            .collect()
    }

    /// Prices of all variants: the shop's own, from ten pieces on, and now and then a sale.
    pub(super) fn prices(&'a self, writer: &mut Writer<'_>) -> Result<()> {
        let list_id = self.plan.main_list;
        let (from, until) = (self.plan.days_ago(10)?, self.plan.days_ago(-20)?);
        writer.table("prices", self.plan.ids("prices"), |rows| {
            self.each_variant(|product, id, at| {
                let price = product.price(at);
                let mut row = |least: i64, from: Value, until: Value, amount: i64, compare_at: Value| {
                    rows.add(&[
                        ("list_id", list_id.into()),
                        ("variant_id", id.into()),
                        ("min_quantity", least.into()),
                        ("valid_from", from),
                        ("valid_until", until),
                        ("amount", amount.into()),
                        ("compare_at", compare_at),
                    ])
                };
                row(1, Value::Null, Value::Null, price, Value::Null)?;
                if at == 0 && product.id % 5 == 0 {
                    row(10, Value::Null, Value::Null, part(price, 900_000)?, Value::Null)?;
                }
                if is_reduced(product.id) {
                    row(1, from.clone().into(), until.clone().into(), sale(price)?, price.into())?;
                }
                Ok(())
            })
        })?;
        let begin = self.plan.days_ago(400)?;
        writer.table("price_history", self.plan.ids("price_history"), |rows| {
            self.each_variant(|product, id, at| {
                let price = product.price(at);
                let mut row = |amount: i64, since: &str, until: Value| {
                    rows.add(&[
                        ("list_id", list_id.into()),
                        ("variant_id", id.into()),
                        ("amount", amount.into()),
                        ("since", since.into()),
                        ("until", until),
                    ])
                };
                if is_reduced(product.id) {
                    row(price, &begin, from.clone().into())?;
                    row(sale(price)?, &from, Value::Null)?;
                } else {
                    row(price, &begin, Value::Null)?;
                }
                Ok(())
            })
        })
    }
}

/// Most products are shown; a few are in the other states.
fn state(product_id: i64) -> &'static str {
    match product_id % 67 {
        11 => "kDraft",
        29 => "kUnlisted",
        47 => "kArchive",
        _ => "kShown",
    }
}

/// Whether a product costs less for a while.
fn is_reduced(product_id: i64) -> bool {
    product_id % 17 == 3
}

/// The price of such a product.
fn sale(price: i64) -> Result<i64> {
    Ok(part(price, 800_000)?)
}

/// A GTIN of 13 digits with its check digit, from the range for use within a company.
fn gtin(variant_id: i64) -> String {
    let digits = format!("20{variant_id:010}");
    let weighed = digits.bytes().zip([1_u32, 3].into_iter().cycle());
    let sum: u32 = weighed.map(|(digit, weight)| u32::from(digit - b'0') * weight).sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_have_their_check_digit() {
        for id in [1, 7, 99_999, 1_234_567_890] {
            assert!(shop::text::is_gtin(&super::gtin(id)), "{}", super::gtin(id));
        }
    }
}
