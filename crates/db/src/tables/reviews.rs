//! Reviews of products; the product's stars follow in the same transaction.

use jiff::Timestamp;

use crate::record::record;
use crate::{DbError, Tx, listing, micros, rows};

record! {
    /// A review that visitors see.
    pub struct Review {
        /// Number.
        pub id: i64,
        /// The visitor's name.
        pub name: String,
        /// Stars, 1 to 5.
        pub rating: i64,
        /// What the visitor wrote.
        pub text: String,
        /// What the store answered.
        pub answer: String,
        /// Whether the visitor bought it here.
        pub is_verified: bool,
        /// When it was written.
        pub created: String,
    }
}

/// What a visitor writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewReview {
    /// The product.
    pub product_id: i64,
    /// The line of the order it was bought with.
    pub order_line_id: Option<i64>,
    /// The customer.
    pub customer_id: Option<i64>,
    /// Name it is shown under.
    pub name: String,
    /// Language.
    pub language: String,
    /// Stars, 1 to 5.
    pub rating: i64,
    /// The review.
    pub text: String,
}

/// Reviews of a product that visitors see, the newest first, and how many there are.
pub fn shown(tx: &mut Tx, product: i64, skip: i64, most: i64) -> Result<(Vec<Review>, i64), DbError> {
    let shown = "product_id = :product and state = 'kShown' and deleted is null";
    let of = ("product", product.into());
    let sql = format!(
        "select id, name, rating, text, answer, order_line_id is not null as is_verified, created from reviews
         where {shown} order by created desc, id desc limit :most offset :skip"
    );
    let rows = tx.rows(&sql, &[of.clone(), ("most", most.into()), ("skip", skip.into())])?;
    let reviews = rows.iter().map(Review::of).collect::<Result<_, DbError>>()?;
    let total = tx.row(&format!("select count(*) as n from reviews where {shown}"), &[of])?;
    Ok((reviews, total.map_or(Ok(0), |row| row.get("n"))?))
}

/// How many shown reviews of a product have one star, two, … five.
pub fn stars(tx: &mut Tx, product: i64) -> Result<[i64; 5], DbError> {
    let rows = tx.rows(
        "select rating, count(*) as n from reviews
         where product_id = :product and state = 'kShown' and deleted is null group by rating",
        &[("product", product.into())],
    )?;
    let mut counts = [0; 5];
    for row in rows {
        let at = usize::try_from(row.get::<i64>("rating")? - 1).unwrap_or(usize::MAX);
        if let Some(count) = counts.get_mut(at) {
            *count = row.get("n")?;
        }
    }
    Ok(counts)
}

/// How many reviews nobody has looked at yet: of a product, and of all.
pub fn waiting(tx: &mut Tx, product: i64) -> Result<(i64, i64), DbError> {
    let row = tx.row(
        "select count(case when product_id = :product then 1 end) as of_product, count(*) as of_all
         from reviews where state = 'kNew' and deleted is null",
        &[("product", product.into())],
    )?;
    row.map_or(Ok((0, 0)), |row| Ok((row.get("of_product")?, row.get("of_all")?)))
}

/// Adds a review that nobody has looked at yet.
pub fn add(tx: &mut Tx, new: &NewReview, now: Timestamp) -> Result<i64, DbError> {
    let time = micros(now);
    rows::insert(
        tx,
        "reviews",
        &[
            ("product_id", new.product_id.into()),
            ("order_line_id", new.order_line_id.into()),
            ("customer_id", new.customer_id.into()),
            ("name", (&new.name).into()),
            ("language", (&new.language).into()),
            ("rating", new.rating.into()),
            ("text", (&new.text).into()),
            ("created", (&time).into()),
            ("changed", (&time).into()),
        ],
    )
}

/// Shows or hides a review.
pub fn set_state(tx: &mut Tx, id: i64, state: &str, now: Timestamp) -> Result<(), DbError> {
    rows::update(tx, "reviews", id, None, &[("state", state.into())], now)?;
    let row = tx.row("select product_id from reviews where id = :id", &[("id", id.into())])?;
    row.map_or(Ok(()), |row| recount(tx, row.get("product_id")?, now))
}

/// Brings a product's stars up to date with its shown reviews.
pub fn recount(tx: &mut Tx, product: i64, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "update products set
           rating_sum = (select cast(coalesce(sum(r.rating), 0) as bigint) from reviews r
             where r.product_id = products.id and r.state = 'kShown' and r.deleted is null),
           rating_count = (select count(*) from reviews r
             where r.product_id = products.id and r.state = 'kShown' and r.deleted is null)
         where id = :id",
        &[("id", product.into())],
    )?;
    listing::reindex(tx, &[product], now)
}
