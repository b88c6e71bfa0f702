//! What is made from the rest, made anew beside others; whether the books agree; marks that are added while others are
//! taken.

use db::books::{self, CHECKS};
use db::orders::{self, NewLine, NewOrder, Use};
use db::{Db, DbError, Tx, jobs, listing, reindex, reviews, rows, search};
use shop::money::Currency;
use shop::tax::{TaxDisplay, TaxRounding};
use shop::totals::{Basis, Line, totals};

use crate::fixture::{later, now, on_both};
use crate::shop::{category, id_of, product, read, write};

const DERIVED: [&str; 4] = ["category_closure", "listing", "facet_counts", "search_postings"];

/// All derived rows, without their numbers; words in place of numbers of words.
fn derived(tx: &mut Tx) -> Vec<Vec<db::Row>> {
    DERIVED
        .iter()
        .map(|table| {
            let columns: Vec<_> = db::schema::table(table)
                .unwrap()
                .columns()
                .map(|column| column.name)
                .filter(|name| !["id", "term_id"].contains(name))
                .collect();
            let (columns, from) = match *table {
                "search_postings" => (
                    format!("t.term, p.{}", columns.join(", p.")),
                    "search_postings p join search_terms t on t.id = p.term_id".to_owned(),
                ),
                table => (columns.join(", "), table.to_owned()),
            };
            tx.rows(&format!("select {columns} from {from} order by {columns}"), &[]).unwrap()
        })
        .collect()
}

fn stock_the_shop(db: &Db) {
    write(db, |tx| {
        let top = category(tx, "Top", None);
        let low = category(tx, "Low", Some(top));
        for n in 0..1200 {
            product(tx, &format!("Thing {n}"), Some(if n % 2 == 0 { top } else { low }), 100 + n, n % 3);
        }
    });
    while write(db, |tx| listing::flush(tx, now()).unwrap()) > 0 {}
}

fn go_on(_: u64, _: u64) -> Result<(), DbError> {
    Ok(())
}

/// An order of two pieces with a promotion, placed as shops do.
fn place(db: &Db, product: i64, variant: i64, promotion: i64) -> i64 {
    let basis = Basis {
        currency: Currency::find("EUR").unwrap(),
        display: TaxDisplay::Included,
        rounding: TaxRounding::Order,
        cash_step: 0,
        lines: vec![Line {
            product_id: product,
            categories: Vec::new(),
            price: 500,
            quantity: 2,
            decimals: 0,
            rates: Vec::new(),
        }],
        promotions: Vec::new(),
        buyer: shop::promotion::Buyer::default(),
        shipping: None,
        fees: Vec::new(),
    };
    let new = NewOrder {
        key: "k".to_owned(),
        token_hash: b"k".to_vec(),
        email: "k@example.com".to_owned(),
        rate_e9: 1_000_000_000,
        lines: vec![NewLine { variant_id: Some(variant), name: "thing".to_owned(), ..NewLine::default() }],
        source: "kStorefront".to_owned(),
        uses: vec![Use { promotion_id: promotion, coupon_id: None }],
        ..NewOrder::default()
    };
    let totals = totals(&basis).unwrap();
    db.write(|tx| orders::place(tx, &new, &basis, &totals, now())).unwrap().id
}

fn findings(db: &Db) -> Vec<&'static str> {
    let found =
        read(db, |tx| CHECKS.iter().filter_map(|check| books::run(tx, check).unwrap()).collect::<Vec<_>>());
    for finding in &found {
        assert!(finding.count > 0 && !finding.ids.is_empty(), "{finding:?}");
    }
    found.iter().map(|finding| finding.name).collect()
}

on_both! {
    fn derived_rows_are_made_anew_beside_others_whenever_it_is_stopped(db: &Db) {
        stock_the_shop(db);
        let kept = read(db, derived);
        assert!(kept.iter().all(|rows| !rows.is_empty() || kept[2] == *rows));
        let spoil = || write(db, |tx| {
            for sql in [
                "delete from listing where id % 3 = 0",
                "update listing set price = 1, available = not available where id % 5 = 0",
                "insert into listing (list_id, category_id, product_id, price, price_max, created, name_sort, available)
                 values (1, 0, 999999, 1, 1, 'x', 'x', true)",
                "delete from search_postings where id % 2 = 0",
                "delete from category_closure",
                "insert into facet_counts (category_id, attribute_id, products) values (0, 7, 5)",
            ] {
                tx.run(sql, &[]).unwrap();
            }
        });
        spoil();
        reindex::beside(db, now(), &mut go_on).unwrap();
        assert!(read(db, derived) == kept);
        // Again changes nothing; and one that is stopped in the middle is ended by whoever flushes next.
        reindex::beside(db, now(), &mut go_on).unwrap();
        assert!(read(db, derived) == kept);
        spoil();
        let mut steps = 0;
        let stopped = reindex::beside(db, now(), &mut |_, _| {
            steps += 1;
            if steps == 2 { Err(DbError::Busy) } else { Ok(()) }
        });
        assert!(matches!(stopped, Err(DbError::Busy)));
        assert!(read(db, derived) != kept);
        while write(db, |tx| listing::flush(tx, now()).unwrap()) > 0 {}
        assert!(read(db, derived) == kept);
    }

    fn a_mark_that_is_added_while_others_are_taken_stays(db: &Db) {
        let (thing, _) = write(db, |tx| product(tx, "Thing", None, 100, 1));
        while write(db, |tx| listing::flush(tx, now()).unwrap()) > 0 {}
        assert_eq!(read(db, |tx| jobs::due(tx, now()).unwrap()), jobs::Due::default());
        // The same product marked twice is taken once, and leaves no mark.
        write(db, |tx| {
            for _ in 0..3 {
                listing::changed(tx, "products", thing, now()).unwrap();
            }
            listing::sold(tx, thing, now()).unwrap();
        });
        assert!(read(db, |tx| jobs::due(tx, now()).unwrap()).marked);
        let taken = write(db, |tx| listing::flush(tx, now()).unwrap());
        assert_eq!(taken, 4);
        assert!(!read(db, |tx| jobs::due(tx, now()).unwrap()).marked);
        if db.dialect() == db::Dialect::Postgres {
            // One that marks has not committed yet; one that takes neither waits for it nor takes its mark.
            write(db, |tx| listing::changed(tx, "products", thing, now()).unwrap());
            db.write(|marking| {
                marking.run("update products set name = 'Other', name_folded = 'other' where id = :id", &[("id", thing.into())])?;
                listing::changed(marking, "products", thing, now())?;
                std::thread::scope(|scope| {
                    scope.spawn(|| assert_eq!(write(db, |tx| listing::flush(tx, now()).unwrap()), 1)).join().unwrap();
                });
                Ok::<_, DbError>(())
            }).unwrap();
            assert!(read(db, |tx| search::find(tx, "other", 5).unwrap()).is_empty());
            assert_eq!(write(db, |tx| listing::flush(tx, now()).unwrap()), 1);
            assert_eq!(read(db, |tx| search::find(tx, "other", 5).unwrap()), [thing]);
        }
    }

    fn what_was_removed_is_followed_by_the_journal(db: &Db) {
        let _ = write(db, |tx| {
            let top = category(tx, "Top", None);
            product(tx, "Thing", Some(top), 100, 1)
        });
        jobs::follow(db, now()).unwrap();
        while write(db, |tx| listing::flush(tx, now()).unwrap()) > 0 {}
        let listed = || read(db, |tx| id_of(tx, "select count(*) as id from listing where category_id <> 0"));
        assert_eq!(listed(), 1);
        write(db, |tx| {
            tx.run("delete from product_categories", &[]).unwrap();
        });
        assert!(jobs::follow(db, now()).unwrap());
        while write(db, |tx| listing::flush(tx, now()).unwrap()) > 0 {}
        assert_eq!(listed(), 0);
        // What flushing changed is seen, and marks nothing.
        jobs::follow(db, now()).unwrap();
        assert!(!read(db, |tx| jobs::due(tx, now()).unwrap()).marked);
        assert!(!jobs::follow(db, now()).unwrap());
    }

    fn a_job_is_taken_once_in_its_time(db: &Db) {
        let every = later(60).duration_since(now());
        let take = |minutes| jobs::take(db, "job", every, later(minutes)).unwrap();
        assert_eq!([0, 1, 59, 60, 61, 130].map(take), [true, false, false, true, false, true]);
        // Taken by a clock that was ahead.
        assert!(take(100));
    }

    fn every_check_of_the_books_finds_what_it_is_for(db: &Db) {
        let (thing, variant, promotion) = write(db, |tx| {
            let (thing, variant) = product(tx, "Thing", None, 500, 9);
            let new = [("name", "P".into()), ("action", "kPercent".into()), ("value", "1".into())];
            let promotion = rows::insert(tx, "promotions", &new).unwrap();
            let coupon = [("promotion_id", promotion.into()), ("code", "C".into()), ("code_folded", "c".into())];
            rows::insert(tx, "coupons", &coupon).unwrap();
            let review = reviews::NewReview { product_id: thing, name: "N".into(), rating: 5, ..Default::default() };
            let review = reviews::add(tx, &review, now()).unwrap();
            reviews::set_state(tx, review, "kShown", now()).unwrap();
            (thing, variant, promotion)
        });
        place(db, thing, variant, promotion);
        assert_eq!(findings(db), Vec::<&str>::new());
        let spoils = [
            ("reserved", "update stock set reserved = reserved + 1"),
            ("reserved_somewhere", "delete from stock"),
            ("on_hand", "update stock set on_hand = on_hand + 1"),
            ("reserved_for_orders", "update order_lines set cancelled = 1"),
            ("order_goods", "update orders set goods = goods + 1, discount = discount + 1"),
            ("order_total", "update orders set goods = goods + 1, total = total + 1"),
            ("line_total", "update order_lines set discount = discount + 1"),
            ("line_amount", "update order_lines set price = price + 1"),
            ("order_tax", "update orders set tax = 5"),
            ("line_tax", "update order_lines set tax = 5"),
            ("order_paid", "update orders set paid = 5"),
            ("order_refunded", "update orders set paid = 5, refunded = 5"),
            ("line_shipped", "update order_lines set shipped = 1"),
            ("order_state", "update orders set state = 'kAccept'"),
            ("order_steps", "update order_history set old = 'kDone' where axis = 'kState'"),
            ("promotion_used", "update promotions set used = used + 1"),
            ("coupon_used", "update coupons set used = used + 1"),
            ("rating", "update products set rating_sum = 4"),
        ];
        assert_eq!(spoils.map(|(name, _)| name).to_vec(), CHECKS.iter().map(|check| check.name).collect::<Vec<_>>());
        for (name, sql) in spoils {
            let found = db.write(|tx| {
                tx.run(sql, &[])?;
                let check = CHECKS.iter().find(|check| check.name == name).unwrap();
                // Rolled back, so that each is spoilt alone.
                Err::<(), _>(Spoilt(books::run(tx, check).unwrap()))
            });
            let found = found.unwrap_err().0;
            assert!(found.is_some_and(|found| found.count > 0), "{name}");
        }
        assert_eq!(findings(db), Vec::<&str>::new());
    }
}

/// What a check found in a transaction that is rolled back.
#[derive(Debug)]
struct Spoilt(Option<books::Finding>);

impl From<DbError> for Spoilt {
    fn from(error: DbError) -> Self {
        panic!("{error}")
    }
}
