//! Promotions and coupons: which are in force, and how often they were used.

use jiff::Timestamp;
use serde_json::Value as Json;
use shop::promotion::{Action, Conditions, Promotion};
use shop::text::folded;

use crate::record::record;
use crate::{DbError, Tx, micros};

record! {
    struct Row {
        id: i64,
        name: String,
        priority: i64,
        exclusive: bool,
        conditions: String,
        action: String,
        value: String,
        coupon: Option<String>,
    }
}

record! {
    /// A coupon.
    pub struct Coupon {
        /// Number.
        pub id: i64,
        /// Its promotion.
        pub promotion_id: i64,
        /// The code.
        pub code: String,
        /// How often it may be used.
        pub usage_limit: Option<i64>,
        /// How often it was used.
        pub used: i64,
        /// Until when it holds.
        pub valid_until: Option<String>,
    }
}

/// Promotions in force for a cart: those that need no coupon, and those of the coupons that lie in it. A row that cannot
/// be read is left out and told in the log.
pub fn in_force(tx: &mut Tx, cart: Option<i64>, now: Timestamp) -> Result<Vec<Promotion>, DbError> {
    let rows = tx.rows(
        "select p.id, p.name, p.priority, p.exclusive, p.conditions, p.action, p.value, c.code as coupon
         from promotions p
         left join (select o.promotion_id, min(o.code) as code from cart_coupons x join coupons o on o.id = x.coupon_id
           where x.cart_id = :cart and (o.valid_until is null or o.valid_until > :now)
             and (o.usage_limit is null or o.used < o.usage_limit) group by o.promotion_id) c
           on c.promotion_id = p.id
         where p.deleted is null and p.enabled
           and (p.valid_from is null or p.valid_from <= :now) and (p.valid_until is null or p.valid_until > :now)
           and (p.usage_limit is null or p.used < p.usage_limit)
           and (c.code is not null or not p.coupon_only)
         order by p.priority desc, p.id",
        &[("cart", cart.unwrap_or(0).into()), ("now", micros(now).into())],
    )?;
    let mut promotions = Vec::new();
    for row in &rows {
        let row = Row::of(row)?;
        let id = row.id;
        match promotion(row) {
            Ok(promotion) => promotions.push(promotion),
            Err(cause) => tracing::warn!(id, %cause, "A promotion that cannot be read"),
        }
    }
    Ok(promotions)
}

fn promotion(row: Row) -> Result<Promotion, shop::promotion::PromotionError> {
    let value: Json = serde_json::from_str(&row.value).unwrap_or(Json::Null);
    Ok(Promotion {
        id: row.id,
        name: row.name,
        priority: row.priority,
        is_exclusive: row.exclusive,
        coupon: row.coupon,
        conditions: Conditions::parse(&row.conditions)?,
        action: Action::parse(&row.action, &value)?,
    })
}

/// The coupon of a code, however it is written.
pub fn coupon(tx: &mut Tx, code: &str) -> Result<Option<Coupon>, DbError> {
    let row = tx.row(
        "select id, promotion_id, code, usage_limit, used, valid_until from coupons where code_folded = :code",
        &[("code", folded(code).into())],
    )?;
    row.map(|row| Coupon::of(&row)).transpose()
}

/// Counts a use in the transaction that places the order; `false` where it was used up in the meantime, by everybody, by
/// its coupon or by this customer: then there must be no order.
pub fn count_use(
    tx: &mut Tx,
    promotion: i64,
    coupon: Option<i64>,
    order: i64,
    customer_key: &str,
) -> Result<bool, DbError> {
    let count = tx.run(
        "update promotions set used = used + 1 where id = :id and (usage_limit is null or used < usage_limit)",
        &[("id", promotion.into())],
    )?;
    if count == 0 {
        return Ok(false);
    }
    if let Some(coupon) = coupon {
        let sql = "update coupons set used = used + 1 where id = :id and (usage_limit is null or used < usage_limit)";
        if tx.run(sql, &[("id", coupon.into())])? == 0 {
            return Ok(false);
        }
    }
    // The promotion's row is held by the statement above, so nobody else counts this customer's uses now.
    let count = tx.run(
        "insert into promotion_uses (promotion_id, coupon_id, order_id, customer_key, n)
         select p.id, cast(:coupon as bigint), cast(:order_id as bigint), cast(:customer as text),
           (select coalesce(min(f.n), 0) from (
              select 1 as n union all
              select u.n + 1 from promotion_uses u where u.promotion_id = :id and u.customer_key = :customer) f
            where not exists (select 1 from promotion_uses t
              where t.promotion_id = :id and t.customer_key = :customer and t.n = f.n))
         from promotions p where p.id = :id and (p.customer_limit is null or p.customer_limit >
           (select count(*) from promotion_uses c where c.promotion_id = :id and c.customer_key = :customer))",
        &[
            ("id", promotion.into()),
            ("coupon", coupon.into()),
            ("order_id", order.into()),
            ("customer", customer_key.into()),
        ],
    )?;
    Ok(count > 0)
}

/// Gives back what a cancelled order used; once, since its rows go with it.
pub fn give_back(tx: &mut Tx, order: i64) -> Result<(), DbError> {
    let sql =
        "select id, promotion_id, coupon_id from promotion_uses where order_id = :id order by promotion_id";
    for row in tx.rows(sql, &[("id", order.into())])? {
        let gone =
            tx.run("delete from promotion_uses where id = :id", &[("id", row.get::<i64>("id")?.into())])?;
        if gone == 0 {
            continue;
        }
        let promotion: i64 = row.get("promotion_id")?;
        tx.run(
            "update promotions set used = used - 1 where id = :id and used > 0",
            &[("id", promotion.into())],
        )?;
        if let Some(coupon) = row.get::<Option<i64>>("coupon_id")? {
            tx.run(
                "update coupons set used = used - 1 where id = :id and used > 0",
                &[("id", coupon.into())],
            )?;
        }
    }
    Ok(())
}
