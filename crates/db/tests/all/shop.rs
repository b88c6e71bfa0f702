//! Things of a shop for tests.

use db::{Db, DbError, Tx, Value, categories, prices, products, rows, stock};

use crate::fixture::now;

/// A product that is shown, with one variant that has a price and stock in the main location.
pub(crate) fn product(
    tx: &mut Tx,
    name: &str,
    category: Option<i64>,
    price: i64,
    on_hand: i64,
) -> (i64, i64) {
    let new = products::NewProduct {
        main_category_id: category,
        name: name.to_owned(),
        state: "kShown".to_owned(),
        ..products::NewProduct::default()
    };
    let product = products::create(tx, &new, now()).unwrap();
    let sku = format!("SKU-{product}");
    let variant = variant(tx, product, "", &sku);
    let list = main_list(tx);
    set_price(tx, list, variant, price);
    if on_hand != 0 {
        receive(tx, variant, on_hand);
    }
    (product, variant)
}

/// One more variant of a product.
pub(crate) fn variant(tx: &mut Tx, product: i64, option_key: &str, sku: &str) -> i64 {
    let values: [(&str, Value); 4] = [
        ("product_id", product.into()),
        ("option_key", option_key.into()),
        ("sku", sku.into()),
        ("sku_folded", sku.to_lowercase().into()),
    ];
    rows::insert(tx, "variants", &values).unwrap()
}

/// The main price list.
pub(crate) fn main_list(tx: &mut Tx) -> i64 {
    id_of(tx, "select id from price_lists where skey = 'kMain'")
}

/// The main location.
pub(crate) fn main_location(tx: &mut Tx) -> i64 {
    id_of(tx, "select id from locations where skey = 'kMain'")
}

/// The number that a statement finds.
pub(crate) fn id_of(tx: &mut Tx, sql: &str) -> i64 {
    tx.row(sql, &[]).unwrap().unwrap().get("id").unwrap()
}

/// A price without end.
pub(crate) fn set_price(tx: &mut Tx, list_id: i64, variant_id: i64, amount: i64) {
    let price = prices::NewPrice {
        list_id,
        variant_id,
        min_quantity: 1,
        amount,
        compare_at: None,
        valid_from: None,
        valid_until: None,
    };
    prices::set(tx, &price, None, now()).unwrap();
}

/// Goods that come in.
pub(crate) fn receive(tx: &mut Tx, variant_id: i64, quantity: i64) {
    let location_id = main_location(tx);
    let receipt = stock::Move {
        variant_id,
        location_id,
        quantity,
        kind: "kReceipt".to_owned(),
        source: None,
        reason: String::new(),
        author_id: None,
    };
    stock::add_move(tx, &receipt, now()).unwrap();
}

/// A category.
pub(crate) fn category(tx: &mut Tx, name: &str, parent_id: Option<i64>) -> i64 {
    let new =
        categories::NewCategory { parent_id, name: name.to_owned(), ..categories::NewCategory::default() };
    categories::insert(tx, &new, now()).unwrap()
}

/// Writes in one transaction.
pub(crate) fn write<T>(db: &Db, f: impl FnOnce(&mut Tx) -> T) -> T {
    db.write::<_, DbError>(|tx| Ok(f(tx))).unwrap()
}

/// Reads in one transaction.
pub(crate) fn read<T>(db: &Db, f: impl FnOnce(&mut Tx) -> T) -> T {
    db.read::<_, DbError>(|tx| Ok(f(tx))).unwrap()
}
