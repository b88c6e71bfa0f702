//! What imports and exports of goods read: rows as they are, without translations.

use crate::record::record;
use crate::{DbError, Tx};

record! {
    /// A product.
    pub struct Product {
        /// Number.
        pub id: i64,
        /// Name.
        pub name: String,
        /// Description, HTML.
        pub text: String,
        /// Brand.
        pub brand_id: Option<i64>,
        /// Name of the brand.
        pub brand: Option<String>,
        /// The category whose path its page shows.
        pub main_category_id: Option<i64>,
        /// `kDraft`, `kShown`, `kUnlisted`, `kArchive`.
        pub state: String,
        /// Its number elsewhere.
        pub external_id: Option<String>,
        /// Digits of the parts of its measure.
        pub decimals: i64,
    }
}

record! {
    /// A variant with its price and stock.
    pub struct Piece {
        /// Number.
        pub id: i64,
        /// Article number.
        pub sku: Option<String>,
        /// EAN, UPC or ISBN.
        pub gtin: Option<String>,
        /// Its values of the options, sorted.
        pub option_key: String,
        /// Grams.
        pub weight: Option<i64>,
        /// Millimetres.
        pub length: Option<i64>,
        /// Millimetres.
        pub width: Option<i64>,
        /// Millimetres.
        pub height: Option<i64>,
        /// Whether stock is counted.
        pub tracked: bool,
        /// How many may be sold beyond the stock; `None` any number.
        pub backorder: Option<i64>,
        /// What one costs the store.
        pub cost: Option<i64>,
        /// Currency of the cost.
        pub cost_currency: Option<String>,
        /// Its price at all times.
        pub amount: Option<i64>,
        /// The price before a reduction.
        pub compare_at: Option<i64>,
        /// Pieces in the location.
        pub on_hand: i64,
    }
}

record! {
    /// A value of an option of a product.
    pub struct OptionValue {
        /// The option.
        pub option_id: i64,
        /// Its name.
        pub option_name: String,
        /// The value.
        pub value_id: Option<i64>,
        /// Its name.
        pub value_name: Option<String>,
    }
}

record! {
    /// An attribute.
    pub struct Attribute {
        /// Number.
        pub id: i64,
        /// Key.
        pub skey: String,
        /// Name.
        pub name: String,
        /// Type.
        pub kind: String,
        /// Digits behind the point of `kDecimal`.
        pub decimals: i64,
    }
}

record! {
    /// A value of an attribute.
    pub struct AttributeValue {
        /// Number.
        pub id: i64,
        /// The choice's name.
        pub choice: Option<String>,
        /// The number; true is 1.
        pub int_value: Option<i64>,
        /// The text.
        pub text_value: Option<String>,
        /// The day.
        pub date_value: Option<String>,
    }
}

record! {
    /// A price for some time.
    pub struct Sale {
        /// The price.
        pub amount: i64,
        /// From when on.
        pub valid_from: Option<String>,
        /// Until when.
        pub valid_until: Option<String>,
    }
}

record! {
    /// A row with a name.
    pub struct Named {
        /// Number.
        pub id: i64,
        /// Name.
        pub name: String,
    }
}

record! {
    /// What a supplier offers.
    pub struct SupplierItem {
        /// Number.
        pub id: i64,
        /// The variant of ours.
        pub variant_id: Option<i64>,
        /// Their name for it.
        pub name: String,
        /// The brand.
        pub brand: String,
        /// The manufacturer's number.
        pub mpn: String,
        /// EAN, UPC or ISBN.
        pub gtin: String,
        /// What it costs.
        pub cost: Option<i64>,
        /// In which currency.
        pub currency: Option<String>,
        /// How many they have.
        pub quantity: Option<i64>,
    }
}

const PRODUCT: &str = "select p.id, p.name, p.text, p.brand_id, b.name as brand, p.main_category_id, p.state,
   p.external_id, coalesce(m.decimals, 0) as decimals
   from products p left join brands b on b.id = p.brand_id left join measures m on m.id = p.measure_id";

/// A product that is not removed.
pub fn product(tx: &mut Tx, id: i64) -> Result<Option<Product>, DbError> {
    let sql = format!("{PRODUCT} where p.id = :id and p.deleted is null");
    tx.row(&sql, &[("id", id.into())])?.map(|row| Product::of(&row)).transpose()
}

/// So many products behind a number.
pub fn products_after(tx: &mut Tx, after: i64, most: i64) -> Result<Vec<Product>, DbError> {
    let sql = format!("{PRODUCT} where p.id > :after and p.deleted is null order by p.id limit :most");
    tx.rows(&sql, &[("after", after.into()), ("most", most.into())])?.iter().map(Product::of).collect()
}

/// The product of a number elsewhere.
pub fn by_external_id(tx: &mut Tx, external_id: &str) -> Result<Option<i64>, DbError> {
    let sql = "select id from products where external_id = :external_id and deleted is null";
    tx.row(sql, &[("external_id", external_id.into())])?.map(|row| row.get("id")).transpose()
}

/// The variants of a product, with the price of this list and the stock of this location.
pub fn pieces(tx: &mut Tx, product: i64, list: i64, location: i64) -> Result<Vec<Piece>, DbError> {
    let sql = "select v.id, v.sku, v.gtin, v.option_key, v.weight, v.length, v.width, v.height, v.tracked,
         v.backorder, v.cost, v.cost_currency, p.amount, p.compare_at, coalesce(s.on_hand, 0) as on_hand
       from variants v
       left join prices p on p.variant_id = v.id and p.list_id = :list and p.min_quantity = 1
         and p.valid_from is null
       left join stock s on s.variant_id = v.id and s.location_id = :location
       where v.product_id = :product and v.deleted is null order by v.position, v.id";
    let params = [("product", product.into()), ("list", list.into()), ("location", location.into())];
    tx.rows(sql, &params)?.iter().map(Piece::of).collect()
}

/// The variant of an article number, with its product.
pub fn of_sku(tx: &mut Tx, sku_folded: &str) -> Result<Option<(i64, i64)>, DbError> {
    let sql = "select id, product_id from variants where sku_folded = :sku and deleted is null";
    let row = tx.row(sql, &[("sku", sku_folded.into())])?;
    row.map(|row| Ok((row.get("id")?, row.get("product_id")?))).transpose()
}

/// The only variant with this GTIN.
pub fn of_gtin(tx: &mut Tx, gtin: &str) -> Result<Option<i64>, DbError> {
    only(
        tx,
        "select id from variants where gtin = :gtin and deleted is null limit 2",
        &[("gtin", gtin.into())],
    )
}

/// The only variant of a brand with this number of its manufacturer.
pub fn of_mpn(tx: &mut Tx, brand_folded: &str, mpn: &str) -> Result<Option<i64>, DbError> {
    let sql = "select v.id from variants v join products p on p.id = v.product_id join brands b on b.id = p.brand_id
               where v.mpn = :mpn and b.name_folded = :brand and v.deleted is null and p.deleted is null limit 2";
    only(tx, sql, &[("mpn", mpn.into()), ("brand", brand_folded.into())])
}

fn only(tx: &mut Tx, sql: &str, params: &[(&str, crate::Value)]) -> Result<Option<i64>, DbError> {
    match tx.rows(sql, params)?.as_slice() {
        [row] => Ok(Some(row.get("id")?)),
        _ => Ok(None),
    }
}

/// The brand of a folded name.
pub fn brand(tx: &mut Tx, name_folded: &str) -> Result<Option<i64>, DbError> {
    let sql = "select id from brands where name_folded = :name and deleted is null";
    tx.row(sql, &[("name", name_folded.into())])?.map(|row| row.get("id")).transpose()
}

/// Categories that lie directly in one, whatever their state; at the top for `None`.
pub fn categories(tx: &mut Tx, parent: Option<i64>) -> Result<Vec<Named>, DbError> {
    let which = if parent.is_some() { "parent_id = :parent" } else { "parent_id is null" };
    let sql =
        format!("select id, name from categories where {which} and deleted is null order by position, id");
    let params: Vec<_> = parent.map(|parent| ("parent", parent.into())).into_iter().collect();
    tx.rows(&sql, &params)?.iter().map(Named::of).collect()
}

/// The names of a category and those above it, from the top.
pub fn category_path(tx: &mut Tx, id: i64) -> Result<Vec<String>, DbError> {
    let sql = "select c.name from category_closure t join categories c on c.id = t.ancestor
               where t.descendant = :id order by t.depth desc";
    tx.rows(sql, &[("id", id.into())])?.iter().map(|row| row.get("name")).collect()
}

/// The categories in which a product lies.
pub fn categories_of(tx: &mut Tx, product: i64) -> Result<Vec<i64>, DbError> {
    let sql = "select category_id from product_categories where product_id = :product order by position, id";
    tx.rows(sql, &[("product", product.into())])?.iter().map(|row| row.get("category_id")).collect()
}

/// The tags of a product.
pub fn tags_of(tx: &mut Tx, product: i64) -> Result<Vec<Named>, DbError> {
    let sql = "select t.id, t.name from product_tags x join tags t on t.id = x.tag_id
               where x.product_id = :product order by t.name, t.id";
    tx.rows(sql, &[("product", product.into())])?.iter().map(Named::of).collect()
}

/// The tag of a key.
pub fn tag(tx: &mut Tx, skey: &str) -> Result<Option<i64>, DbError> {
    let row = tx.row("select id from tags where skey = :skey", &[("skey", skey.into())])?;
    row.map(|row| row.get("id")).transpose()
}

/// The options of a product with their values.
pub fn options_of(tx: &mut Tx, product: i64) -> Result<Vec<OptionValue>, DbError> {
    let sql = "select o.id as option_id, o.name as option_name, w.id as value_id, w.name as value_name
               from product_options o left join product_option_values w on w.option_id = o.id
               where o.product_id = :product order by o.position, o.id, w.position, w.id";
    tx.rows(sql, &[("product", product.into())])?.iter().map(OptionValue::of).collect()
}

/// The attribute of a key.
pub fn attribute(tx: &mut Tx, skey: &str) -> Result<Option<Attribute>, DbError> {
    let sql = "select id, skey, name, type as kind, decimals from attributes where skey = :skey";
    tx.row(sql, &[("skey", skey.into())])?.map(|row| Attribute::of(&row)).transpose()
}

/// All attributes, in order.
pub fn attributes(tx: &mut Tx) -> Result<Vec<Attribute>, DbError> {
    let sql = "select id, skey, name, type as kind, decimals from attributes order by position, id";
    tx.rows(sql, &[])?.iter().map(Attribute::of).collect()
}

/// A product's values of an attribute.
pub fn attribute_values(tx: &mut Tx, product: i64, attribute: i64) -> Result<Vec<AttributeValue>, DbError> {
    let sql = "select v.id, c.name as choice, v.int_value, v.text_value, v.date_value
               from attribute_values v left join attribute_choices c on c.id = v.choice_id
               where v.product_id = :product and v.attribute_id = :attribute and v.variant_id is null order by v.id";
    let params = [("product", product.into()), ("attribute", attribute.into())];
    tx.rows(sql, &params)?.iter().map(AttributeValue::of).collect()
}

/// The choices of an attribute.
pub fn choices(tx: &mut Tx, attribute: i64) -> Result<Vec<Named>, DbError> {
    let sql = "select id, name from attribute_choices where attribute_id = :attribute order by position, id";
    tx.rows(sql, &[("attribute", attribute.into())])?.iter().map(Named::of).collect()
}

/// The price of a variant that holds for some time, the latest of them.
pub fn sale(tx: &mut Tx, list: i64, variant: i64) -> Result<Option<Sale>, DbError> {
    let sql = "select amount, valid_from, valid_until from prices
               where list_id = :list and variant_id = :variant and min_quantity = 1 and valid_from is not null
               order by valid_from desc limit 1";
    let row = tx.row(sql, &[("list", list.into()), ("variant", variant.into())])?;
    row.map(|row| Sale::of(&row)).transpose()
}

/// The price list that all may buy from, in a currency.
pub fn main_list(tx: &mut Tx, currency: &str) -> Result<Option<i64>, DbError> {
    let sql = "select id from price_lists where deleted is null and currency = :currency and customer_group_id is null
               order by case when skey = 'kMain' then 0 else 1 end, position, id limit 1";
    tx.row(sql, &[("currency", currency.into())])?.map(|row| row.get("id")).transpose()
}

/// The location whose stock a table tells.
pub fn main_location(tx: &mut Tx) -> Result<Option<i64>, DbError> {
    let sql = "select id from locations where deleted is null
               order by case when skey = 'kMain' then 0 else 1 end, priority desc, id limit 1";
    tx.row(sql, &[])?.map(|row| row.get("id")).transpose()
}

/// The supplier of a key.
pub fn supplier(tx: &mut Tx, skey: &str) -> Result<Option<i64>, DbError> {
    let sql = "select id from suppliers where skey = :skey and deleted is null";
    tx.row(sql, &[("skey", skey.into())])?.map(|row| row.get("id")).transpose()
}

/// What a supplier offers under an article number.
pub fn supplier_item(tx: &mut Tx, supplier: i64, folded: &str) -> Result<Option<SupplierItem>, DbError> {
    let sql = "select id, variant_id, name, brand, mpn, gtin, cost, currency, quantity from supplier_items
               where supplier_id = :supplier and article_folded = :article";
    let params = [("supplier", supplier.into()), ("article", folded.into())];
    tx.row(sql, &params)?.map(|row| SupplierItem::of(&row)).transpose()
}
