//! What the engine does for the shop's rows by itself, with a clock that tests move.

use db::listing::{self, Query, Start};
use db::orders::{self, NewLine, NewOrder};
use db::stock::{self, Holder, Wanted};
use db::{DbError, carts, prices, rows};
use jiff::{SignedDuration, Timestamp};
use shop::money::Currency;
use shop::tax::{TaxDisplay, TaxRounding};
use shop::totals::{Basis, Line, totals};

use crate::client::get;
use crate::goods::{Shop, fill, number, write};
use crate::test_store::{NOON, TestClock, TestStore, on_both};

fn noon() -> Timestamp {
    NOON.parse().unwrap()
}

fn later(minutes: i64) -> Timestamp {
    noon() + SignedDuration::from_mins(minutes)
}

/// The lowest price of a product in the lists of the whole shop, if it is there, and whether it can be bought.
fn listed(store: &TestStore, product: i64) -> Option<(i64, bool)> {
    store
        .db
        .read(|tx| {
            let list_id = number(tx, "select id from price_lists where skey = 'kMain'")?;
            let page = listing::page(tx, &Query { list_id, ..Query::default() }, &Start::Offset(0), 50)?;
            let entry = page.entries.into_iter().find(|entry| entry.product_id == product);
            Ok::<_, DbError>(entry.map(|entry| (entry.price, entry.available)))
        })
        .unwrap()
}

/// The engine at a moment, when its jobs have had their turn.
async fn at(store: &TestStore, minutes: i64) {
    store.clock.set_now(&later(minutes).to_string());
    store.keep_up().await;
}

fn price(store: &TestStore, variant_id: i64, amount: i64, span: Option<(i64, i64)>) {
    write(store, |tx| {
        let list_id = number(tx, "select id from price_lists where skey = 'kMain'")?;
        let price = prices::NewPrice {
            list_id,
            variant_id,
            min_quantity: 1,
            amount,
            compare_at: None,
            valid_from: span.map(|(from, _)| later(from)),
            valid_until: span.map(|(_, until)| later(until)),
        };
        prices::set(tx, &price, None, noon())?;
        Ok(())
    });
}

fn line(product_id: i64, price: i64, quantity: i64) -> Line {
    Line { product_id, categories: Vec::new(), price, quantity, decimals: 0, rates: Vec::new() }
}

/// Places an order that must be paid within an hour.
fn place(store: &TestStore, (product, variant): (i64, i64), quantity: i64) -> i64 {
    let basis = Basis {
        currency: Currency::find("EUR").unwrap(),
        display: TaxDisplay::Included,
        rounding: TaxRounding::Order,
        cash_step: 0,
        lines: vec![line(product, 4500, quantity)],
        promotions: Vec::new(),
        buyer: shop::promotion::Buyer::default(),
        shipping: None,
        fees: Vec::new(),
    };
    let new = NewOrder {
        key: "unpaid".to_owned(),
        token_hash: b"unpaid".to_vec(),
        email: "a@example.com".to_owned(),
        rate_e9: 1_000_000_000,
        lines: vec![NewLine { variant_id: Some(variant), name: "Lamp".to_owned(), ..NewLine::default() }],
        source: "kStorefront".to_owned(),
        pay_until: Some(later(60)),
        ..NewOrder::default()
    };
    let totals = totals(&basis).unwrap();
    write(store, |tx| Ok(orders::place(tx, &new, &basis, &totals, noon()).unwrap().id))
}

fn lamp_of(store: &TestStore, shop: &Shop) -> i64 {
    let sql = format!("select id from variants where product_id = {}", shop.lamp);
    store.db.read(|tx| number(tx, &sql)).unwrap()
}

on_both! {
    async fn a_sale_shows_in_lists_while_it_lasts(store: TestStore) {
        let shop = fill(store);
        at(store, 0).await;
        assert_eq!(listed(store, shop.lamp), Some((4500, true)));
        let variant = lamp_of(store, &shop);
        price(store, variant, 3000, Some((10, 20)));
        for (minute, amount) in [(9, 4500), (10, 3000), (19, 3000), (20, 4500), (40, 4500)] {
            at(store, minute).await;
            assert_eq!(listed(store, shop.lamp), Some((amount, true)), "minute {minute}");
        }
        // An engine that stood still meanwhile has the whole sale to catch up with.
        price(store, variant, 2000, Some((50, 60)));
        at(store, 41).await;
        store.stop().await;
        store.clock.set_now(&later(55).to_string());
        store.restart().await;
        store.keep_up().await;
        assert_eq!(listed(store, shop.lamp), Some((2000, true)));
        // A clock that was ahead and is set back takes back what it had begun.
        at(store, 45).await;
        assert_eq!(listed(store, shop.lamp), Some((4500, true)));
    }

    async fn what_agents_and_other_programs_write_comes_into_the_lists(store: TestStore) {
        let shop = fill(store);
        at(store, 0).await;
        write(store, |tx| {
            tx.run("update prices set amount = 4100 where amount = 4500", &[])?;
            tx.run("update products set state = 'kArchive' where id = :id", &[("id", shop.jacket.into())])
        });
        at(store, 1).await;
        assert_eq!(listed(store, shop.lamp), Some((4100, true)));
        assert_eq!(listed(store, shop.jacket), None);
        let shown_until = [("shown_until", db::micros(later(5)).into())];
        write(store, |tx| rows::update(tx, "products", shop.lamp, None, &shown_until, noon()));
        at(store, 2).await;
        assert!(listed(store, shop.lamp).is_some());
        at(store, 5).await;
        assert_eq!(listed(store, shop.lamp), None);
        assert_eq!(store.count("dirty"), 0);
    }

    async fn changes_that_were_lost_make_everything_anew(store: TestStore) {
        let shop = fill(store);
        at(store, 0).await;
        write(store, |tx| {
            db::changes::pause(tx)?;
            tx.run("update prices set amount = 4200 where amount = 4500", &[])
        });
        at(store, 1).await;
        assert_eq!(listed(store, shop.lamp), Some((4200, true)));
    }

    async fn an_unpaid_order_is_cancelled_and_its_pieces_come_back(store: TestStore) {
        let shop = fill(store);
        let variant = lamp_of(store, &shop);
        let order = place(store, (shop.lamp, variant), 12);
        at(store, 59).await;
        let state = || store.db.read(|tx| orders::by_id(tx, order)).unwrap().unwrap().state;
        assert_eq!(state(), "kWait");
        assert_eq!(listed(store, shop.lamp), Some((4500, false)));
        at(store, 60).await;
        assert_eq!(state(), "kCancel");
        assert_eq!(listed(store, shop.lamp), Some((4500, true)));
        let free = store.db.read(|tx| stock::of_variants(tx, &[variant], later(60))).unwrap();
        assert_eq!(free[&variant].for_sale(), Some(12));
    }

    async fn what_a_cart_reserved_comes_back_when_its_time_is_over(store: TestStore) {
        let shop = fill(store);
        let variant = lamp_of(store, &shop);
        write(store, |tx| {
            let cart = carts::create(tx, b"cart", "EUR", "en", None, noon())?;
            let wanted = Wanted {
                holder: Holder::Cart(cart),
                variant_id: variant,
                quantity: 12,
                until: Some(later(30)),
            };
            stock::reserve(tx, &[wanted], noon()).unwrap();
            Ok(())
        });
        at(store, 29).await;
        assert_eq!((listed(store, shop.lamp), store.count("reservations")), (Some((4500, false)), 1));
        at(store, 30).await;
        assert_eq!((listed(store, shop.lamp), store.count("reservations")), (Some((4500, true)), 0));
    }

    async fn a_part_that_fails_keeps_no_other_from_its_work(store: TestStore) {
        let shop = fill(store);
        at(store, 0).await;
        let variant = lamp_of(store, &shop);
        let order = place(store, (shop.lamp, variant), 12);
        write(store, |tx| tx.run("alter table search_postings rename to hidden", &[]));
        write(store, |tx| tx.run("update prices set amount = 4200 where amount = 4500", &[]));
        at(store, 60).await;
        assert_eq!(store.db.read(|tx| orders::by_id(tx, order)).unwrap().unwrap().state, "kCancel");
        assert_eq!(listed(store, shop.lamp).unwrap().0, 4500);
        let metrics = get(store, "/core/metrics", "").await.text();
        assert!(metrics.contains("shopwright_jobs_total{job=\"update_lists\",outcome=\"failed\"}"), "{metrics}");
        assert!(metrics.contains("shopwright_job_rows_total{job=\"cancel_unpaid_orders\"} 1"), "{metrics}");
        write(store, |tx| tx.run("alter table hidden rename to search_postings", &[]));
        at(store, 61).await;
        assert_eq!(listed(store, shop.lamp).unwrap().0, 4200);
    }

    async fn at_night_it_is_said_where_the_books_do_not_agree(store: TestStore) {
        fill(store);
        let wrong = "shopwright_books_wrong{check=\"on_hand\"}";
        write(store, |tx| tx.run("update stock set on_hand = on_hand + 1", &[]));
        at(store, 14 * 60 + 59).await;
        assert!(!get(store, "/core/metrics", "").await.text().contains(wrong));
        at(store, 15 * 60).await;
        let metrics = get(store, "/core/metrics", "").await.text();
        assert!(metrics.contains(&format!("{wrong} 2\n")), "{metrics}");
        assert!(metrics.contains("shopwright_books_wrong{check=\"reserved\"} 0\n"), "{metrics}");
        // Once a night.
        write(store, |tx| tx.run("update stock set on_hand = on_hand - 1", &[]));
        at(store, 15 * 60 + 30).await;
        assert!(get(store, "/core/metrics", "").await.text().contains(&format!("{wrong} 2\n")));
        at(store, 39 * 60).await;
        assert!(get(store, "/core/metrics", "").await.text().contains(&format!("{wrong} 0\n")));
    }

    async fn of_several_nodes_one_does_the_work(store: TestStore) {
        let shop = fill(store);
        at(store, 0).await;
        let variant = lamp_of(store, &shop);
        let order = place(store, (shop.lamp, variant), 12);
        store.clock.set_now(&later(60).to_string());
        let other = store.node(&TestClock::at(&later(60).to_string())).await;
        tokio::join!(store.keep_up(), other.keep_up());
        let history = store.db.read(|tx| orders::history(tx, order, true)).unwrap();
        assert_eq!(history.iter().filter(|entry| entry.new == "kCancel").count(), 1);
        other.stop().await;
    }
}
