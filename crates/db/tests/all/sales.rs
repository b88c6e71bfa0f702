//! Carts, orders, stock and payments, with many hands at once: nothing is sold, used or given back twice.

use std::sync::Barrier;

use db::customers::Address;
use db::orders::{self, NewLine, NewOrder, PlaceError, Placed, StateError, Use};
use db::payments::{self, Outcome};
use db::refunds::{self, Begun, NewRefund, RefundError};
use db::stock::{self, Holder, ReserveError, Wanted};
use db::{Db, Tx, carts, customers, promotions, reviews, rows};
use shop::money::Currency;
use shop::order::Mover;
use shop::tax::{TaxDisplay, TaxRounding};
use shop::totals::{Basis, Line, totals};

use crate::fixture::{Fixture, later, now, on_both};
use crate::shop::{id_of, main_location, product, read, receive, write};

pub(crate) fn basis(lines: &[(i64, i64, i64)]) -> Basis {
    let line = |(product_id, price, quantity): &(i64, i64, i64)| Line {
        product_id: *product_id,
        categories: Vec::new(),
        price: *price,
        quantity: *quantity,
        decimals: 0,
        rates: Vec::new(),
    };
    Basis {
        currency: Currency::find("EUR").unwrap(),
        display: TaxDisplay::Included,
        rounding: TaxRounding::Order,
        cash_step: 0,
        lines: lines.iter().map(line).collect(),
        promotions: Vec::new(),
        buyer: shop::promotion::Buyer::default(),
        shipping: None,
        fees: Vec::new(),
    }
}

pub(crate) fn order(key: &str, variants: &[i64]) -> NewOrder {
    let line = |variant: &i64| NewLine {
        variant_id: Some(*variant),
        name: "thing".to_owned(),
        ..NewLine::default()
    };
    NewOrder {
        key: key.to_owned(),
        token_hash: key.as_bytes().to_vec(),
        email: format!("{key}@example.com"),
        rate_e9: 1_000_000_000,
        lines: variants.iter().map(line).collect(),
        source: "kStorefront".to_owned(),
        ..NewOrder::default()
    }
}

pub(crate) fn place(db: &Db, new: &NewOrder, lines: &[(i64, i64, i64)]) -> Result<Placed, PlaceError> {
    let basis = basis(lines);
    let totals = totals(&basis).unwrap();
    db.write(|tx| orders::place(tx, new, &basis, &totals, now()))
}

/// What was tried by so many at once.
pub(crate) fn at_once<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(count);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|n| {
                let (start, work) = (&start, &work);
                scope.spawn(move || {
                    start.wait();
                    work(n)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

pub(crate) fn stock_of(db: &Db, variant: i64) -> (i64, i64) {
    let sql = "select on_hand, reserved from stock where variant_id = :id";
    let row = read(db, |tx| tx.row(sql, &[("id", variant.into())]).unwrap().unwrap());
    (row.get("on_hand").unwrap(), row.get("reserved").unwrap())
}

/// What is promised is what reservations say, whatever happened.
pub(crate) fn assert_stock_agrees(tx: &mut Tx) {
    let wrong = tx
        .rows(
            "select s.id from stock s where s.reserved <> (select coalesce(sum(r.quantity), 0) from reservations r
               where r.variant_id = s.variant_id and r.location_id = s.location_id)
             or s.on_hand <> (select coalesce(sum(m.quantity), 0) from stock_moves m
               where m.variant_id = s.variant_id and m.location_id = s.location_id)",
            &[],
        )
        .unwrap();
    assert!(wrong.is_empty());
}

on_both! {
    fn the_last_unit_is_sold_once(db: &Db) {
        let (product, variant) = write(db, |tx| product(tx, "Last", None, 500, 3));
        let results = at_once(16, |n| place(db, &order(&format!("k{n}"), &[variant]), &[(product, 500, 1)]));
        let placed: Vec<_> = results.iter().filter_map(|result| result.as_ref().ok()).collect();
        assert_eq!(placed.len(), 3);
        for refused in results.iter().filter_map(|result| result.as_ref().err()) {
            assert!(matches!(refused, PlaceError::OutOfStock(ReserveError::OutOfStock { .. })), "{refused:?}");
        }
        let numbers: std::collections::BTreeSet<_> = placed.iter().map(|placed| &placed.number).collect();
        assert_eq!(numbers.len(), 3);
        assert_eq!(stock_of(db, variant), (3, 3));
        read(db, assert_stock_agrees);
    }

    fn orders_of_many_things_in_any_order_do_not_wait_for_each_other_for_ever(db: &Db) {
        let things: Vec<_> = write(db, |tx| (0..4).map(|n| product(tx, &format!("T{n}"), None, 100, 50)).collect());
        let results = at_once(8, |n| {
            let mut mine = things.clone();
            mine.rotate_left(n % 4);
            let variants: Vec<_> = mine.iter().map(|(_, variant)| *variant).collect();
            let lines: Vec<_> = mine.iter().map(|(product, _)| (*product, 100, 2)).collect();
            (0..3).map(|round| place(db, &order(&format!("k{n}-{round}"), &variants), &lines).unwrap()).count()
        });
        assert_eq!(results.iter().sum::<usize>(), 24);
        for (_, variant) in things {
            assert_eq!(stock_of(db, variant), (50, 48));
        }
        read(db, assert_stock_agrees);
    }

    fn one_key_and_one_cart_make_one_order(db: &Db) {
        let (product, variant) = write(db, |tx| product(tx, "One", None, 500, 9));
        let results = at_once(6, |_| place(db, &order("same", &[variant]), &[(product, 500, 1)]).unwrap());
        assert_eq!(results.iter().filter(|placed| !placed.is_repeat).count(), 1);
        assert!(results.iter().all(|placed| placed.id == results[0].id && placed.number == results[0].number));
        let (cart, version) = write(db, |tx| {
            let cart = carts::create(tx, b"cart", "EUR", "en", None, now()).unwrap();
            carts::add(tx, cart, variant, ("", ""), 1, now()).unwrap();
            (cart, carts::by_id(tx, cart).unwrap().unwrap().version)
        });
        let stale = NewOrder { cart: Some((cart, version - 1)), ..order("stale", &[variant]) };
        assert!(matches!(place(db, &stale, &[(product, 500, 1)]), Err(PlaceError::CartChanged)));
        let results = at_once(4, |n| {
            place(db, &NewOrder { cart: Some((cart, version)), ..order(&format!("c{n}"), &[variant]) }, &[(product, 500, 1)]).unwrap()
        });
        assert_eq!(results.iter().filter(|placed| !placed.is_repeat).count(), 1);
        assert_eq!(stock_of(db, variant), (9, 2));
    }

    fn a_coupon_for_one_use_is_used_once_and_given_back_once(db: &Db) {
        let (product, variant) = write(db, |tx| product(tx, "One", None, 500, 99));
        let (promotion, coupon) = write(db, |tx| {
            let promotion = rows::insert(tx, "promotions", &[
                ("name", "p".into()), ("action", "kPercent".into()), ("value", "100000".into()), ("coupon_only", true.into()),
                ("customer_limit", 1.into()),
            ]).unwrap();
            let coupon = rows::insert(tx, "coupons", &[
                ("promotion_id", promotion.into()), ("code", "Once".into()), ("code_folded", "once".into()), ("usage_limit", 1.into()),
            ]).unwrap();
            (promotion, coupon)
        });
        let uses = vec![Use { promotion_id: promotion, coupon_id: Some(coupon) }];
        let with = |key: &str| NewOrder { uses: uses.clone(), ..order(key, &[variant]) };
        let results = at_once(16, |n| place(db, &with(&format!("k{n}")), &[(product, 500, 1)]));
        let placed: Vec<_> = results.iter().filter_map(|result| result.as_ref().ok()).collect();
        assert_eq!(placed.len(), 1);
        assert!(results.iter().filter_map(|result| result.as_ref().err()).all(|e| matches!(e, PlaceError::UsedUp(_))));
        assert_eq!(stock_of(db, variant).1, 1);
        let used = || read(db, |tx| promotions::coupon(tx, " ONCE ").unwrap().unwrap().used);
        assert_eq!(used(), 1);
        let id = placed[0].id;
        for _ in 0..2 {
            let _ = db.write(|tx| orders::move_to(tx, id, "kCancel", Mover::Staff, "test", None, now()));
            assert_eq!((used(), stock_of(db, variant).1), (0, 0));
        }
        // One customer, once.
        let again = NewOrder { email: "A@example.com".to_owned(), ..with("again") };
        place(db, &again, &[(product, 500, 1)]).unwrap();
        write(db, |tx| rows::update(tx, "coupons", coupon, None, &[("usage_limit", 9.into())], now()).unwrap());
        let third = NewOrder { email: "a@EXAMPLE.com".to_owned(), ..with("third") };
        assert!(matches!(place(db, &third, &[(product, 500, 1)]), Err(PlaceError::UsedUp(_))));
    }

    fn reservations_of_carts_end_by_themselves_and_ones_own_never_blocks(db: &Db) {
        let (product, variant) = write(db, |tx| product(tx, "One", None, 500, 2));
        let cart = |token: &[u8]| write(db, |tx| carts::create(tx, token, "EUR", "en", None, now()).unwrap());
        let (mine, other) = (cart(b"mine"), cart(b"other"));
        let reserve = |cart, quantity, second| db.write(|tx| {
            let wanted = Wanted { holder: Holder::Cart(cart), variant_id: variant, quantity, until: Some(later(second + 60)) };
            stock::reserve(tx, &[wanted], later(second))
        });
        reserve(mine, 2, 0).unwrap();
        reserve(mine, 1, 1).unwrap();
        reserve(mine, 2, 2).unwrap();
        assert!(matches!(reserve(other, 1, 3), Err(ReserveError::OutOfStock { cause, .. }) if cause.available == 0));
        assert_eq!(stock_of(db, variant), (2, 2));
        // Time is over: no job was needed.
        let free = read(db, |tx| stock::of_variants(tx, &[variant], later(62)).unwrap()[&variant].for_sale());
        assert_eq!(free, Some(2));
        reserve(other, 1, 62).unwrap();
        assert_eq!(stock_of(db, variant), (2, 1));
        let version = read(db, |tx| carts::by_id(tx, other).unwrap().unwrap().version);
        let new = NewOrder { cart: Some((other, version)), ..order("k", &[variant]) };
        place(db, &new, &[(product, 500, 2)]).unwrap();
        assert_eq!(stock_of(db, variant), (2, 2));
        read(db, assert_stock_agrees);
    }

    fn signing_in_brings_a_guests_cart_over_once_up_to_what_there_is(db: &Db) {
        let (_, variant) = write(db, |tx| product(tx, "One", None, 500, 10));
        let (customer, guest, own) = write(db, |tx| {
            let customer = customers::create(tx, "Test@Example.com", "T", None, "en", now()).unwrap();
            let own = carts::create(tx, b"own", "EUR", "en", Some(customer), now()).unwrap();
            carts::add(tx, own, variant, ("", ""), 10, now()).unwrap();
            let guest = carts::create(tx, b"guest", "EUR", "en", None, now()).unwrap();
            carts::add(tx, guest, variant, ("", ""), 1, now()).unwrap();
            (customer, guest, own)
        });
        let (cart, shortened) = write(db, |tx| carts::sign_in(tx, guest, customer, now()).unwrap());
        assert_eq!((cart, shortened[0].wanted, shortened[0].got), (own, 11, 10));
        let (cart, shortened) = write(db, |tx| carts::sign_in(tx, guest, customer, now()).unwrap());
        assert_eq!((cart, shortened.len()), (own, 0));
        assert_eq!(read(db, |tx| carts::lines(tx, own).unwrap()[0].quantity), 10);
        assert!(read(db, |tx| customers::by_email(tx, "test@example.COM ").unwrap()).is_some());
        assert!(db.write(|tx| customers::create(tx, "TEST@example.com", "T", None, "en", now())).is_err());
    }

    fn an_order_is_paid_sent_returned_and_given_back_never_twice(db: &Db) {
        let (product, variant) = write(db, |tx| product(tx, "One", None, 500, 5));
        let id = place(db, &order("k", &[variant]), &[(product, 500, 2)]).unwrap().id;
        let (line, location) = write(db, |tx| (orders::lines(tx, id).unwrap()[0].id, main_location(tx)));
        write(db, |tx| {
            let first = payments::start(tx, id, None, "test", (1000, "EUR"), "pay", now()).unwrap();
            assert_eq!(payments::start(tx, id, None, "test", (1000, "EUR"), "pay", now()).unwrap(), first);
            let paid = Outcome { state: "kPaid".to_owned(), captured: 1000, ..Outcome::default() };
            payments::answered(tx, first.id, &paid, now()).unwrap();
            payments::answered(tx, first.id, &paid, now()).unwrap();
        });
        let now_is = || read(db, |tx| orders::by_id(tx, id).unwrap().unwrap());
        assert_eq!((now_is().pay.as_str(), now_is().paid, now_is().state.as_str()), ("kPaid", 1000, "kNew"));
        let go = |state: &str| db.write(|tx| orders::move_to(tx, id, state, Mover::Staff, "", None, now()));
        go("kAccept").unwrap();
        assert!(matches!(go("kDone"), Err(StateError::Rule(_))));
        assert!(matches!(go("kWait"), Err(StateError::Rule(_))));
        write(db, |tx| orders::ship(tx, id, &[(line, 2)], "Post", "1", None, now()).unwrap());
        assert_eq!(stock_of(db, variant), (3, 0));
        assert!(matches!(db.write(|tx| orders::ship(tx, id, &[(line, 1)], "", "", None, now())), Err(StateError::TooMany { left: 0, .. })));
        assert!(matches!(go("kCancel"), Err(StateError::Rule(_))));
        go("kDone").unwrap();
        let back = write(db, |tx| orders::request_return(tx, id, &[(line, 1, "too large")], "", now()).unwrap());
        for is_news in [true, false] {
            assert_eq!(write(db, |tx| orders::receive_return(tx, back, location, &[], None, now()).unwrap()), (id, is_news));
        }
        assert_eq!((stock_of(db, variant), now_is().delivery.as_str()), ((4, 0), "kPartBack"));
        let refund = |extra, key: &str| db.write(|tx| {
            let new = NewRefund { order_id: id, lines: &[], shipping: 0, extra, reason: "", return_id: Some(back), key };
            refunds::begin(tx, &new, None, now())
        });
        let first = refund(999, "r1").unwrap();
        assert_eq!(refund(999, "r1").unwrap(), Begun { is_repeat: true, ..first.clone() });
        assert!(matches!(refund(2, "r2"), Err(RefundError::TooMuch { left: 1, .. })));
        assert!(matches!(refund(0, "r2"), Err(RefundError::Nothing)));
        assert!(matches!(refund(-1, "r2"), Err(RefundError::Nothing)));
        let results = at_once(8, |n| refund(1, &format!("last{n}")));
        assert_eq!(results.iter().flatten().count(), 1);
        assert_eq!((now_is().refunded, now_is().pay.as_str()), (1000, "kBack"));
        for is_news in [true, false] {
            assert_eq!(write(db, |tx| refunds::answered(tx, first.ids[0], "kFailed", None, "no", now()).unwrap()), is_news);
        }
        assert_eq!((now_is().refunded, now_is().pay.as_str()), (1, "kPartBack"));
        read(db, assert_stock_agrees);
        assert!(read(db, |tx| orders::history(tx, id, true).unwrap().len()) >= 7);
    }

    fn an_unpaid_order_is_cancelled_in_its_time_and_money_that_comes_late_is_written_down(db: &Db) {
        let (product, variant) = write(db, |tx| product(tx, "One", None, 500, 1));
        let new = NewOrder { pay_until: Some(later(60)), ..order("k", &[variant]) };
        let id = place(db, &new, &[(product, 500, 1)]).unwrap().id;
        let state = || read(db, |tx| orders::by_id(tx, id).unwrap().unwrap().state);
        assert_eq!(state(), "kWait");
        assert!(read(db, |tx| orders::overdue(tx, 0, 10, later(59)).unwrap()).is_empty());
        assert!(!write(db, |tx| orders::cancel_overdue(tx, id, later(59)).unwrap()));
        assert_eq!(read(db, |tx| orders::overdue(tx, 0, 10, later(60)).unwrap()), [id]);
        assert!(write(db, |tx| orders::cancel_overdue(tx, id, later(60)).unwrap()));
        assert_eq!((state().as_str(), stock_of(db, variant)), ("kCancel", (1, 0)));
        write(db, |tx| {
            let payment = payments::start(tx, id, None, "test", (500, "EUR"), "pay", now()).unwrap();
            let paid = Outcome { state: "kPaid".to_owned(), captured: 500, ..Outcome::default() };
            payments::answered(tx, payment.id, &paid, later(61)).unwrap();
        });
        assert_eq!(state(), "kCancel");
        assert_eq!(read(db, |tx| orders::by_id(tx, id).unwrap().unwrap().paid), 500);
        // Staff takes it up again while there is something; not by a shopper.
        let to_new = |mover| db.write(|tx| orders::move_to(tx, id, "kNew", mover, "", None, later(70)));
        assert!(to_new(Mover::Shopper).is_err());
        let other = place(db, &order("other", &[variant]), &[(product, 500, 1)]).unwrap().id;
        assert!(matches!(to_new(Mover::Staff), Err(StateError::Rule(_))));
        db.write(|tx| orders::move_to(tx, other, "kCancel", Mover::Shopper, "", None, now())).unwrap();
        to_new(Mover::Staff).unwrap();
        assert_eq!((state().as_str(), stock_of(db, variant)), ("kNew", (1, 1)));
        assert!(write(db, |tx| payments::event(tx, "test", "e1", None, "paid", &serde_json::json!({}), now()).unwrap()));
        assert!(!write(db, |tx| payments::event(tx, "test", "e1", None, "paid", &serde_json::json!({}), now()).unwrap()));
    }

    fn a_guests_orders_join_the_account_and_erasing_leaves_the_sums(db: &Db) {
        let (product, variant) = write(db, |tx| product(tx, "One", None, 500, 5));
        let address = Address {
            id: 0, name: "T".into(), company: String::new(), country: "DE".into(), region: String::new(), city: "Berlin".into(),
            postcode: "10115".into(), line1: "Street 1".into(), line2: String::new(), phone: String::new(), tax_number: String::new(),
        };
        let new = NewOrder { email: "Guest@example.com".into(), shipping_address: Some(address), ..order("k", &[variant]) };
        let id = place(db, &new, &[(product, 500, 1)]).unwrap().id;
        let customer = write(db, |tx| customers::create(tx, "guest@example.com", "G", None, "en", now()).unwrap());
        assert!(read(db, |tx| orders::of_customer(tx, customer, 9).unwrap()).is_empty());
        assert_eq!(write(db, |tx| customers::confirm_email(tx, customer, now()).unwrap()), 1);
        assert_eq!(read(db, |tx| orders::of_customer(tx, customer, 9).unwrap()[0].id), id);
        write(db, |tx| {
            customers::consent(tx, "guest@example.com", "mail", true, "1", now()).unwrap();
            assert!(customers::agrees(tx, "GUEST@example.com", "mail").unwrap());
            customers::erase(tx, customer, now()).unwrap();
        });
        let row = read(db, |tx| tx.row("select a.country, a.line1, o.email, o.total from orders o join order_addresses a on a.order_id = o.id", &[]).unwrap().unwrap());
        assert_eq!(
            (row.get::<String>("country").unwrap(), row.get::<String>("line1").unwrap(), row.get::<String>("email").unwrap(), row.get::<i64>("total").unwrap()),
            ("DE".to_owned(), String::new(), String::new(), 500)
        );
        assert!(read(db, |tx| customers::by_email(tx, "guest@example.com").unwrap()).is_none());
    }

    fn stars_follow_shown_reviews(db: &Db) {
        let (product, _) = write(db, |tx| product(tx, "One", None, 500, 5));
        let new = |rating| reviews::NewReview { product_id: product, name: "N".into(), rating, ..reviews::NewReview::default() };
        let ids: Vec<i64> = write(db, |tx| [5, 2].map(|rating| reviews::add(tx, &new(rating), now()).unwrap()).to_vec());
        let stars = || read(db, |tx| {
            let product = db::products::by_ids(tx, &[product], "en").unwrap().remove(0);
            (product.rating_sum, product.rating_count, reviews::shown(tx, product.id, 0, 9).unwrap().0.len())
        });
        assert_eq!(stars(), (0, 0, 0));
        write(db, |tx| ids.iter().for_each(|id| reviews::set_state(tx, *id, "kShown", now()).unwrap()));
        assert_eq!(stars(), (7, 2, 2));
        write(db, |tx| reviews::set_state(tx, ids[1], "kHidden", now()).unwrap());
        assert_eq!(stars(), (5, 1, 1));
        assert!(db.write(|tx| reviews::add(tx, &new(6), now())).is_err());
    }

    fn a_move_with_a_source_lands_once(db: &Db) {
        let (_, variant) = write(db, |tx| product(tx, "One", None, 500, 0));
        let location_id = write(db, main_location);
        let receipt = stock::Move {
            variant_id: variant, location_id, quantity: 5, kind: "kReceipt".into(), source: Some("line 7 of 12".into()),
            reason: String::new(), author_id: None,
        };
        let results = at_once(6, |_| db.write(|tx| stock::add_move(tx, &receipt, now())));
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        assert_eq!(stock_of(db, variant), (5, 0));
        write(db, |tx| receive(tx, variant, -2));
        assert_eq!(stock_of(db, variant), (3, 0));
    }

    fn places_find_the_most_exact_zone_its_taxes_and_ways(db: &Db) {
        use db::places::{self, Parcel};
        write(db, |tx| {
            let zone = |tx: &mut Tx, skey: &str| rows::insert(tx, "zones", &[("skey", skey.into()), ("name", skey.into())]).unwrap();
            let (de, island) = (zone(tx, "de"), zone(tx, "island"));
            rows::insert(tx, "zone_places", &[("zone_id", de.into()), ("country", "DE".into())]).unwrap();
            rows::insert(tx, "zone_places", &[
                ("zone_id", island.into()), ("country", "DE".into()), ("postcode_from", "27498".into()), ("postcode_to", "27498".into()),
            ]).unwrap();
            let class = id_of(tx, "select id from tax_classes");
            for (zone, ppm) in [(de, 190_000), (island, 0)] {
                rows::insert(tx, "tax_rates", &[
                    ("zone_id", zone.into()), ("tax_class_id", class.into()), ("name", "VAT".into()), ("rate_ppm", ppm.into()),
                ]).unwrap();
            }
            let found = places::zones(tx, "DE", "", "27498").unwrap();
            assert_eq!(found, [island, de]);
            assert_eq!(places::tax_rates(tx, &found, false, now()).unwrap()[&class][0].rate_ppm, 0);
            let found = places::zones(tx, "DE", "", "10115").unwrap();
            assert_eq!(places::tax_rates(tx, &found, false, now()).unwrap()[&class][0].rate_ppm, 190_000);
            let method = rows::insert(tx, "shipping_methods", &[("skey", "post".into()), ("name", "Post".into())]).unwrap();
            rows::insert(tx, "shipping_rates", &[
                ("method_id", method.into()), ("zone_id", de.into()), ("currency", "EUR".into()), ("basis", "kWeight".into()),
                ("amount", 490.into()), ("least", 1000.into()), ("step", 500.into()), ("per_step", 100.into()),
            ]).unwrap();
            let cost = |tx: &mut Tx, weight| places::shipping_methods(tx, &[de], "EUR", Parcel { weight, ..Parcel::default() }, "en")
                .unwrap().first().map(|method| method.amount);
            assert_eq!([cost(tx, 999), cost(tx, 1000), cost(tx, 1001), cost(tx, 2000)], [None, Some(490), Some(590), Some(690)]);
            rows::insert(tx, "payment_methods", &[
                ("skey", "cash".into()), ("name", "Cash".into()), ("provider", "cash".into()), ("max_total", 100.into()),
            ]).unwrap();
            assert_eq!(places::payment_methods(tx, &[de], "EUR", 100, "en").unwrap().len(), 1);
            assert!(places::payment_methods(tx, &[de], "EUR", 101, "en").unwrap().is_empty());
            assert!(places::countries(tx, false, "ru").unwrap().iter().any(|country| country.name == "Германия"));
            assert_eq!(places::currency(tx, "KWD").unwrap().unwrap().decimals, 3);
            assert_eq!(places::exchange_rate(tx, "EUR", "USD", now()).unwrap(), None);
        });
    }
}

/// Two nodes of one store sell the same piece once.
#[test]
fn two_nodes_sell_the_last_unit_once() {
    let Some(place_of) = Fixture::postgres() else { return };
    let here = place_of.seeded();
    let there = place_of.open();
    let (product, variant) = write(&here, |tx| product(tx, "Last", None, 500, 1));
    let results = at_once(8, |n| {
        let db: &Db = if n % 2 == 0 { &here } else { &there };
        place(db, &order(&format!("k{n}"), &[variant]), &[(product, 500, 1)]).is_ok()
    });
    assert_eq!(results.iter().filter(|is_placed| **is_placed).count(), 1);
}
