//! Whether the shop's books agree: sums and what they are sums of, whoever wrote them.
//!
//! Agents and other programs write rows by themselves, and code has faults; each check is one statement that finds
//! the rows that contradict others. Nothing is mended here: which side is wrong is for a person to say.

use crate::{DbError, Tx};

/// Rows of a check that are named.
const NAMED: i64 = 5;

/// One check.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its name, for counts.
    pub name: &'static str,
    /// What must be so.
    pub what: &'static str,
    /// The table whose rows are named.
    pub table: &'static str,
    /// The condition of a wrong row `o` of that table.
    wrong: &'static str,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check's name.
    pub name: &'static str,
    /// What must be so.
    pub what: &'static str,
    /// The table of the wrong rows.
    pub table: &'static str,
    /// How many rows are wrong.
    pub count: i64,
    /// The numbers of some of them.
    pub ids: Vec<i64>,
}

macro_rules! check {
    ($name:literal, $what:literal, $table:literal, $wrong:literal) => {
        Check { name: $name, what: $what, table: $table, wrong: $wrong }
    };
}

/// All checks.
pub const CHECKS: &[Check] = &[
    check!(
        "reserved",
        "what is reserved of a stock is the sum of its reservations",
        "stock",
        "o.reserved <> (select coalesce(sum(r.quantity), 0) from reservations r
           where r.variant_id = o.variant_id and r.location_id = o.location_id)"
    ),
    check!(
        "reserved_somewhere",
        "what is reserved is reserved of a stock that is kept",
        "reservations",
        "not exists (select 1 from stock s where s.variant_id = o.variant_id and s.location_id = o.location_id)"
    ),
    check!(
        "on_hand",
        "what lies in a location is the sum of what came and went",
        "stock",
        "o.on_hand <> (select coalesce(sum(m.quantity), 0) from stock_moves m
           where m.variant_id = o.variant_id and m.location_id = o.location_id)"
    ),
    check!(
        "reserved_for_orders",
        "for a line of an order no more is reserved than is still to be sent",
        "order_lines",
        "o.quantity - o.cancelled - o.shipped <
           (select coalesce(sum(r.quantity), 0) from reservations r where r.order_line_id = o.id)"
    ),
    check!(
        "order_goods",
        "an order's goods are the sum of its lines",
        "orders",
        "o.goods <> (select coalesce(sum(l.amount), 0) from order_lines l where l.order_id = o.id)"
    ),
    check!(
        "order_total",
        "an order's total is the sum of its lines, shipping, fees and rounding",
        "orders",
        "o.tax_included and o.total <> o.shipping + o.fees + o.rounding
           + (select coalesce(sum(l.total), 0) from order_lines l where l.order_id = o.id)"
    ),
    check!(
        "line_total",
        "a line's total is its amount less its discount, with the tax where it comes on top",
        "order_lines",
        "o.total <> o.amount - o.discount
           + case when (select p.tax_included from orders p where p.id = o.order_id) then 0 else o.tax end"
    ),
    check!(
        "line_amount",
        "a line's amount is its price times its pieces",
        "order_lines",
        "o.measure_decimals = 0 and o.amount <> o.price * o.quantity"
    ),
    check!(
        "order_tax",
        "an order's tax is the sum of its tax lines",
        "orders",
        "o.tax <> (select coalesce(sum(t.tax), 0) from order_tax_lines t where t.order_id = o.id)"
    ),
    check!(
        "line_tax",
        "a line's tax is the sum of its tax lines",
        "order_lines",
        "o.tax <> (select coalesce(sum(t.tax), 0) from order_tax_lines t where t.order_line_id = o.id)"
    ),
    check!(
        "order_paid",
        "what an order was paid is what its payments captured",
        "orders",
        "o.paid <> (select coalesce(sum(p.captured), 0) from payments p where p.order_id = o.id)"
    ),
    check!(
        "order_refunded",
        "what went back for an order is what its payments gave back",
        "orders",
        "o.refunded <> (select coalesce(sum(p.refunded), 0) from payments p where p.order_id = o.id)"
    ),
    check!(
        "line_shipped",
        "what was sent of a line was in parcels",
        "order_lines",
        "o.shipped <> (select coalesce(sum(s.quantity), 0) from shipment_lines s where s.order_line_id = o.id)"
    ),
    check!(
        "order_state",
        "an order is in the state that its last step led to",
        "orders",
        "o.state <> (select h.new from order_history h where h.order_id = o.id and h.axis = 'kState'
           order by h.id desc limit 1)"
    ),
    check!(
        "order_steps",
        "orders go the ways that there are",
        "order_history",
        "o.axis = 'kState' and exists (select 1 from order_states a join order_states b on b.skey = o.new
           where a.skey = o.old and a.base <> b.base and not exists (select 1 from order_transitions t
             join order_states f on f.skey = t.from_state join order_states g on g.skey = t.to_state
             where f.base = a.base and g.base = b.base))"
    ),
    check!(
        "promotion_used",
        "how often a promotion was used is how many orders used it",
        "promotions",
        "o.used <> (select count(*) from promotion_uses u where u.promotion_id = o.id)"
    ),
    check!(
        "coupon_used",
        "how often a coupon was used is how many orders used it",
        "coupons",
        "o.used <> (select count(*) from promotion_uses u where u.coupon_id = o.id)"
    ),
    check!(
        "rating",
        "a product's stars are the sum of the reviews that are shown",
        "products",
        "o.rating_sum <> (select coalesce(sum(r.rating), 0) from reviews r
             where r.product_id = o.id and r.state = 'kShown' and r.deleted is null)
         or o.rating_count <> (select count(*) from reviews r
             where r.product_id = o.id and r.state = 'kShown' and r.deleted is null)"
    ),
];

/// Runs one check; `None` where everything agrees.
pub fn run(tx: &mut Tx, check: &Check) -> Result<Option<Finding>, DbError> {
    let from = format!("from {} o where {}", check.table, check.wrong);
    let count: i64 = match tx.row(&format!("select count(*) as n {from}"), &[])? {
        Some(row) => row.get("n")?,
        None => 0,
    };
    if count == 0 {
        return Ok(None);
    }
    let sql = format!("select o.id {from} order by o.id limit :most");
    let rows = tx.rows(&sql, &[("most", NAMED.into())])?;
    let ids = rows.iter().map(|row| row.get("id")).collect::<Result<_, _>>()?;
    Ok(Some(Finding { name: check.name, what: check.what, table: check.table, count, ids }))
}
