//! Goods for the pages of a test's store, and the sample store's own units and templates.

use std::fs;
use std::path::Path;

use db::{DbError, Tx, Value, categories, listing, prices, products, rows, slugs, stock, texts};
use jiff::Timestamp;

use crate::test_store::{NOON, TestStore};

fn now() -> Timestamp {
    NOON.parse().unwrap()
}

/// Lays the sample store's units and templates into the store.
pub(crate) fn lay_files(store: &TestStore) {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shopwright/src/store_files");
    for folder in ["units", "templates"] {
        copy(&files.join(folder), &store.root().join(folder));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Writes in one transaction.
pub(crate) fn write<T>(store: &TestStore, f: impl FnOnce(&mut Tx) -> Result<T, DbError>) -> T {
    store.db.write(f).unwrap()
}

/// A category with its address.
pub(crate) fn category(tx: &mut Tx, name: &str, parent_id: Option<i64>, path: &str) -> Result<i64, DbError> {
    let new =
        categories::NewCategory { parent_id, name: name.to_owned(), ..categories::NewCategory::default() };
    let id = categories::insert(tx, &new, now())?;
    slugs::set(tx, "categories", id, "en", path, now())?;
    Ok(id)
}

/// A shown product with its address, without variants.
pub(crate) fn product(
    tx: &mut Tx,
    name: &str,
    text: &str,
    category: i64,
    path: &str,
) -> Result<i64, DbError> {
    let new = products::NewProduct {
        main_category_id: Some(category),
        name: name.to_owned(),
        text: text.to_owned(),
        state: "kShown".to_owned(),
        ..products::NewProduct::default()
    };
    let id = products::create(tx, &new, now())?;
    slugs::set(tx, "products", id, "en", path, now())?;
    Ok(id)
}

/// A variant with a price and so many pieces in the main location.
pub(crate) fn variant(
    tx: &mut Tx,
    product: i64,
    (sku, option_key): (&str, &str),
    (amount, compare_at): (i64, Option<i64>),
    on_hand: i64,
) -> Result<i64, DbError> {
    let folded = sku.to_lowercase();
    let values: [(&str, Value); 5] = [
        ("product_id", product.into()),
        ("option_key", option_key.into()),
        ("sku", sku.into()),
        ("sku_folded", folded.into()),
        ("gtin", "4006381333931".into()),
    ];
    let variant_id = rows::insert(tx, "variants", &values)?;
    let list_id = number(tx, "select id from price_lists where skey = 'kMain'")?;
    let price = prices::NewPrice {
        list_id,
        variant_id,
        min_quantity: 1,
        amount,
        compare_at,
        valid_from: None,
        valid_until: None,
    };
    prices::set(tx, &price, None, now())?;
    let location_id = number(tx, "select id from locations where skey = 'kMain'")?;
    if on_hand > 0 {
        let receipt = stock::Move {
            variant_id,
            location_id,
            quantity: on_hand,
            kind: "kReceipt".to_owned(),
            source: None,
            reason: String::new(),
            author_id: None,
        };
        stock::add_move(tx, &receipt, now())?;
    }
    Ok(variant_id)
}

/// The number that a statement finds.
pub(crate) fn number(tx: &mut Tx, sql: &str) -> Result<i64, DbError> {
    tx.row(sql, &[])?.unwrap().get("id")
}

/// A review that visitors see.
pub(crate) fn review(tx: &mut Tx, product: i64, name: &str, rating: i64, text: &str) -> Result<(), DbError> {
    let values: [(&str, Value); 5] = [
        ("product_id", product.into()),
        ("name", name.into()),
        ("rating", rating.into()),
        ("text", text.into()),
        ("state", "kShown".into()),
    ];
    rows::insert(tx, "reviews", &values)?;
    let sum = "update products set rating_sum = rating_sum + :rating, rating_count = rating_count + 1 where id = :id";
    tx.run(sum, &[("rating", rating.into()), ("id", product.into())])?;
    Ok(())
}

/// A small shop: a jacket in two sizes and a lamp, in two departments, one in two languages.
#[derive(Clone, Copy)]
pub(crate) struct Shop {
    pub(crate) jacket: i64,
    pub(crate) lamp: i64,
    pub(crate) small: i64,
    pub(crate) large: i64,
}

/// Fills the store with the small shop.
pub(crate) fn fill(store: &TestStore) -> Shop {
    write(store, |tx| {
        let outdoor = category(tx, "Outdoor", None, "outdoor")?;
        let jackets = category(tx, "Jackets", Some(outdoor), "outdoor/jackets")?;
        let lamps = category(tx, "Lamps", None, "lamps")?;
        texts::set(tx, "categories", outdoor, "ru", "name", "Для похода", now())?;
        slugs::set(tx, "categories", outdoor, "ru", "pohod", now())?;
        slugs::set(tx, "categories", jackets, "ru", "pohod/kurtki", now())?;

        let jacket = product(tx, "Trail jacket", "<p>Light & <b>dry</b>.</p>", jackets, "trail-jacket")?;
        texts::set(tx, "products", jacket, "ru", "name", "Куртка «Тропа»", now())?;
        slugs::set(tx, "products", jacket, "ru", "kurtka-tropa", now())?;
        let (size, values) = option(tx, jacket, "Size", &["S", "L"])?;
        let small = variant(tx, jacket, ("TJ-S", &format!("{}", values[0])), (8990, Some(9990)), 3)?;
        let large = variant(tx, jacket, ("TJ-L", &format!("{}", values[1])), (9490, None), 0)?;
        for (variant, value) in [(small, values[0]), (large, values[1])] {
            let pair: [(&str, Value); 3] =
                [("variant_id", variant.into()), ("option_id", size.into()), ("value_id", value.into())];
            rows::insert(tx, "variant_values", &pair)?;
        }
        review(tx, jacket, "Mara", 5, "Kept me dry.")?;
        review(tx, jacket, "Jon", 4, "Runs small.")?;
        colour(tx, jacket, "green", "Green")?;

        let lamp = product(tx, "Desk lamp", "Warm light.\n\nOak foot.", lamps, "desk-lamp")?;
        variant(tx, lamp, ("DL-1", ""), (4500, None), 12)?;
        colour(tx, lamp, "red", "Red")?;
        listing::reindex_all(tx, now())?;
        listing::rebuild_counts(tx, None)?;
        Ok(Shop { jacket, lamp, small, large })
    })
}

fn option(tx: &mut Tx, product: i64, name: &str, names: &[&str]) -> Result<(i64, Vec<i64>), DbError> {
    let option =
        rows::insert(tx, "product_options", &[("product_id", product.into()), ("name", name.into())])?;
    let mut values = Vec::new();
    for (position, name) in names.iter().enumerate() {
        let position = i64::try_from(position).unwrap();
        let row: [(&str, Value); 3] =
            [("option_id", option.into()), ("name", (*name).into()), ("position", position.into())];
        values.push(rows::insert(tx, "product_option_values", &row)?);
    }
    Ok((option, values))
}

/// Gives a product a colour, of an attribute that lists are narrowed by.
fn colour(tx: &mut Tx, product: i64, skey: &str, name: &str) -> Result<(), DbError> {
    let attribute = match tx.row("select id from attributes where skey = 'colour'", &[])? {
        Some(row) => row.get("id")?,
        None => {
            let values: [(&str, Value); 4] = [
                ("skey", "colour".into()),
                ("name", "Colour".into()),
                ("type", "kChoice".into()),
                ("filter", true.into()),
            ];
            rows::insert(tx, "attributes", &values)?
        }
    };
    let choice: [(&str, Value); 3] =
        [("attribute_id", attribute.into()), ("skey", skey.into()), ("name", name.into())];
    let choice = rows::insert(tx, "attribute_choices", &choice)?;
    let value: [(&str, Value); 3] =
        [("product_id", product.into()), ("attribute_id", attribute.into()), ("choice_id", choice.into())];
    rows::insert(tx, "attribute_values", &value)?;
    Ok(())
}
