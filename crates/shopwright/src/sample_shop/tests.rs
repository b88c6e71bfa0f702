//! The sample shop adds up: stock, money, states, ratings, addresses; and it is the same at each run.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use db::transfer::{self, Table};
use db::{Db, FromValue, Row, books};
use jiff::Timestamp;
use shop::order::{LinePieces, OrderMoney, TRANSITIONS, delivery_state};
use shop::promotion::{Action, Conditions};
use tempfile::TempDir;

use super::{Counts, Setting, Size, fill};

const NOW: &str = "2026-12-01T00:00:00Z";

/// A new database, seeded as every store's is. Dropping it removes it.
struct Place {
    db: Db,
    _folder: TempDir,
    schema: Option<(Db, String)>,
}

impl Place {
    fn sqlite() -> Self {
        let folder = TempDir::new().unwrap();
        let db = ready(Db::open("sqlite:store.db", folder.path()).unwrap());
        Self { db, _folder: folder, schema: None }
    }

    /// A schema of its own on the server; `None` where no server is named.
    fn postgres() -> Option<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let Ok(server) = env::var("TEST_DATABASE_URL") else {
            println!("TEST_DATABASE_URL is not set: not run on PostgreSQL");
            return None;
        };
        let folder = TempDir::new().unwrap();
        let schema = format!("s{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let whole = Db::open(&server, folder.path()).unwrap();
        run(&whole, &format!("create schema {schema}"));
        let mark = if server.contains('?') { '&' } else { '?' };
        let url = format!("{server}{mark}options=-csearch_path%3D{schema}");
        let db = ready(Db::open(&url, folder.path()).unwrap());
        Some(Self { db, _folder: folder, schema: Some((whole, schema)) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some((whole, schema)) = &self.schema {
            run(whole, &format!("drop schema {schema} cascade"));
        }
    }
}

fn ready(db: Db) -> Db {
    db.migrate().unwrap();
    db.write(|tx| db::seed::base(tx, now())).unwrap();
    db
}

fn run(db: &Db, sql: &str) {
    db.write::<_, db::DbError>(|tx| tx.run(sql, &[])).unwrap();
}

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn try_fill(db: &Db, size: Size, language: &str) -> Result<Counts> {
    let folder = TempDir::new()?;
    let setting = Setting { language, now: now(), root: folder.path() };
    fill(db, size, setting, &mut |_| ControlFlow::Continue(()))
}

fn rows(db: &Db, sql: &str) -> Vec<Row> {
    db.read::<_, db::DbError>(|tx| tx.rows(sql, &[])).unwrap()
}

fn column<T: FromValue + Ord>(db: &Db, sql: &str) -> BTreeSet<T> {
    rows(db, sql).iter().map(|row| row.get("it").unwrap()).collect()
}

fn number(db: &Db, sql: &str) -> i64 {
    rows(db, sql).first().unwrap().get("it").unwrap()
}

/// What must never be in a sample shop, beside what its books tell, and how many rows of it there are.
const WRONG: [(&str, &str); 12] = [
    ("nothing is promised that is not there", "from stock where reserved > on_hand"),
    (
        "what went back was for lines",
        "from orders o where refunded <> (select sum(refunded) from order_lines where order_id = o.id)",
    ),
    (
        "a payment's refunds add up",
        "from payments p where refunded <> (select coalesce(sum(amount), 0) from refunds
           where payment_id = p.id and state = 'kDone')",
    ),
    (
        "a refund says what it is for",
        "from refunds r where amount <> (select coalesce(sum(amount), 0) from refund_lines where refund_id = r.id)",
    ),
    (
        "what is refunded of a line is what refunds say of it",
        "from order_lines l where refunded <> (select coalesce(sum(amount), 0) from refund_lines where order_line_id = l.id)
           or refunded_quantity <> (select coalesce(sum(quantity), 0) from refund_lines where order_line_id = l.id)
           or refunded_tax <> (select coalesce(sum(tax), 0) from refund_lines where order_line_id = l.id)",
    ),
    (
        "what came back was in returns, and was refunded",
        "from order_lines l where returned <> refunded_quantity or returned <>
           (select coalesce(sum(quantity), 0) from return_lines where order_line_id = l.id)",
    ),
    (
        "open pieces are reserved, and only those",
        "from order_lines l where quantity - cancelled - shipped <>
           (select coalesce(sum(quantity), 0) from reservations where order_line_id = l.id)",
    ),
    (
        "every product has a variant, a price, stock and a category",
        "from products p where not exists (select 1 from variants v
           join prices c on c.variant_id = v.id and c.min_quantity = 1 and c.valid_from is null
           join stock s on s.variant_id = v.id
           join product_categories k on k.product_id = v.product_id where v.product_id = p.id)",
    ),
    (
        "every variant has a value of each option",
        "from product_options o join variants v on v.product_id = o.product_id
         where not exists (select 1 from variant_values x where x.variant_id = v.id and x.option_id = o.id)",
    ),
    (
        "products and categories have an address in both languages",
        "from (select 'products' as entity, id from products union all select 'categories', id from categories
           union all select 'pages', id from pages) e
         where 2 <> (select count(*) from slugs s where s.entity = e.entity and s.elem_id = e.id
           and s.state = 'kCurrent' and s.path_folded <> '')",
    ),
    (
        "the whole shop lists every product that is shown",
        "from products p where state = 'kShown' and not exists (select 1 from listing l
           where l.product_id = p.id and l.category_id = 0)",
    ),
    (
        "every word of the shop is told in the other language",
        "from (select 'products' as entity, id from products union all select 'categories', id from categories
           union all select 'attributes', id from attributes
           union all select 'attribute_choices', id from attribute_choices
           union all select 'product_option_values', id from product_option_values
           union all select 'pages', id from pages) e
         where not exists (select 1 from texts t where t.entity = e.entity and t.elem_id = e.id and t.field = 'name'
           and t.value <> '')",
    ),
];

/// Everything about a filled shop that a statement can tell.
fn check(db: &Db) {
    for check in books::CHECKS {
        assert_eq!(db.read(|tx| books::run(tx, check)).unwrap(), None);
    }
    for (what, sql) in WRONG {
        assert_eq!(number(db, &format!("select count(*) as it {sql}")), 0, "{what}");
    }
    check_states(db);
    for what in ["kPromotion", "kCoupon"] {
        let sql =
            format!("select count(distinct order_id) as it from order_adjustments where kind = '{what}'");
        assert!(number(db, &sql) > 0, "orders with {what}");
    }
    for row in rows(db, "select conditions, action, value from promotions") {
        Conditions::parse(&row.get::<String>("conditions").unwrap()).unwrap();
        let value = serde_json::from_str(&row.get::<String>("value").unwrap()).unwrap();
        Action::parse(&row.get::<String>("action").unwrap(), &value).unwrap();
    }
    let ways = rows(db, "select from_state, to_state from order_transitions").len();
    assert_eq!(ways, TRANSITIONS.len());
    for gtin in column::<String>(db, "select gtin as it from variants") {
        assert!(shop::text::is_gtin(&gtin), "{gtin}");
    }
    let next = number(db, "select next as it from counters where skey = 'order'");
    let numbers = column::<String>(db, "select number as it from orders");
    assert!(
        numbers.iter().all(|number| number.parse::<i64>().unwrap() < next),
        "the next order finds a number"
    );
}

/// What the rules say about payment and delivery of each order is what stands there.
fn check_states(db: &Db) {
    let mut lines: BTreeMap<i64, Vec<LinePieces>> = BTreeMap::new();
    for row in rows(db, "select order_id, quantity, cancelled, shipped, returned from order_lines") {
        let piece = |name| row.get(name).unwrap();
        lines.entry(piece("order_id")).or_default().push(LinePieces {
            quantity: piece("quantity"),
            cancelled: piece("cancelled"),
            shipped: piece("shipped"),
            returned: piece("returned"),
        });
    }
    let sql = "select id, pay, delivery, total, paid, refunded, (select count(*) from shipments s
                 where s.order_id = o.id and s.state <> 'kArrived') as on_their_way from orders o";
    for row in rows(db, sql) {
        let amount = |name| row.get::<i64>(name).unwrap();
        let (total, paid, refunded) = (amount("total"), amount("paid"), amount("refunded"));
        let money = OrderMoney { total, held: 0, paid, refunded };
        assert_eq!(row.get::<String>("pay").unwrap(), money.state());
        let pieces = &lines[&amount("id")];
        assert!(pieces.iter().all(LinePieces::is_sound));
        let delivery = delivery_state(pieces, amount("on_their_way") == 0).unwrap();
        assert_eq!(row.get::<String>("delivery").unwrap(), delivery);
    }
}

fn check_sample(db: &Db) {
    let counts = try_fill(db, Size::SAMPLE, "en").unwrap();
    check(db);
    assert_eq!(counts["products"], 200);
    assert_eq!(number(db, "select count(*) as it from categories where parent_id is not null"), 20);
    let full =
        "select count(*) as it from (select category_id from product_categories group by category_id) c";
    assert_eq!(number(db, full), 20);
    let known = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let states = column::<String>(db, "select state as it from orders");
    assert_eq!(states, known(&["kWait", "kNew", "kAccept", "kDone", "kCancel"]));
    let pay = column::<String>(db, "select pay as it from orders");
    assert!(pay.is_superset(&known(&["kNone", "kPaid", "kPartBack"])), "{pay:?}");
    let delivery = column::<String>(db, "select delivery as it from orders");
    assert_eq!(delivery, known(&["kNone", "kPart", "kSent", "kArrived", "kPartBack", "kBack"]));
    let sold_out = "select count(*) as it from listing where category_id = 0 and not available";
    assert!(number(db, sold_out) > 0, "something is sold out");
    let refused = try_fill(db, Size::SAMPLE, "en").unwrap_err().to_string();
    assert!(refused.contains("has rows in `products`; nothing was changed"), "{refused}");
    assert_eq!(number(db, "select count(*) as it from products"), 200);
}

#[test]
fn the_sample_adds_up_on_sqlite() {
    check_sample(&Place::sqlite().db);
}

#[test]
fn the_sample_adds_up_on_postgres() {
    if let Some(place) = Place::postgres() {
        check_sample(&place.db);
    }
}

#[test]
fn lots_after_the_words_add_up_too() {
    let place = Place::sqlite();
    try_fill(&place.db, Size::of(1000), "ru").unwrap();
    check(&place.db);
}

/// Sums of all rows of the tables that the sample fills.
fn sums(db: &Db, counts: &Counts) -> BTreeMap<String, String> {
    // Every store has rows of these, made when the store was.
    let has_others = ["tax_classes", "customer_groups", "price_lists", "locations"];
    let is_filled = |table: &Table| {
        counts.contains_key(table.name.as_str()) && !has_others.contains(&table.name.as_str())
    };
    let tables = transfer::tables().unwrap().into_iter().filter(is_filled);
    tables
        .map(|table| {
            let sum = db.read(|tx| transfer::read(tx, &table, &mut |_, _| Ok(()))).unwrap();
            (table.name, sum.hex())
        })
        .collect()
}

#[test]
fn two_runs_give_the_same_rows_on_whatever_database() {
    let places = [Some(Place::sqlite()), Some(Place::sqlite()), Place::postgres()];
    let filled: Vec<_> = places
        .iter()
        .flatten()
        .map(|place| sums(&place.db, &try_fill(&place.db, Size::of(300), "en").unwrap()))
        .collect();
    assert!(filled[0].len() > 30, "{:?}", filled[0]);
    for other in &filled[1..] {
        for (table, sum) in &filled[0] {
            assert_eq!(other.get(table), Some(sum), "{table}");
        }
    }
}

#[test]
fn stopped_on_its_way_it_leaves_nothing() {
    let place = Place::sqlite();
    let mut steps = 0;
    let folder = TempDir::new().unwrap();
    let setting = Setting { language: "en", now: now(), root: folder.path() };
    let stopped = fill(&place.db, Size::SAMPLE, setting, &mut |step| {
        steps += 1;
        if step.table == "orders" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(format!("{:#}", stopped.unwrap_err()).contains("stopped; the store is as it was"));
    assert!(steps > 20);
    assert_eq!(number(&place.db, "select count(*) as it from products"), 0);
    try_fill(&place.db, Size::of(50), "en").unwrap();
}
