//! Refunds: pieces, shipping and money beside them, by several payments, by many hands, in any order; the sums agree.

use db::orders::{self, StateError};
use db::payments::{self, Outcome};
use db::refunds::{self, Begun, LineBack, NewRefund, RefundError};
use db::{Db, Tx};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRng, TestRunner};

use crate::fixture::{now, on_both};
use crate::sales::{assert_stock_agrees, at_once, order, place, stock_of};
use crate::shop::{id_of, main_location, product, read, write};

/// An order of ten pieces at 23.90 less nothing, paid by these payments.
fn paid_order(db: &Db, key: &str, price: i64, quantity: i64, paid: &[i64]) -> (i64, i64, i64) {
    let (product, variant) = write(db, |tx| product(tx, &format!("Thing {key}"), None, price, quantity));
    let id = place(db, &order(key, &[variant]), &[(product, price, quantity)]).unwrap().id;
    let line = read(db, |tx| orders::lines(tx, id).unwrap()[0].id);
    write(db, |tx| {
        for (number, amount) in paid.iter().enumerate() {
            let key = format!("{key}:{number}");
            let payment = payments::start(tx, id, None, "test", (*amount, "EUR"), &key, now()).unwrap();
            let outcome = Outcome { state: "kPaid".to_owned(), captured: *amount, ..Outcome::default() };
            payments::answered(tx, payment.id, &outcome, now()).unwrap();
        }
    });
    (id, line, variant)
}

fn begin(db: &Db, id: i64, lines: &[LineBack], extra: i64, key: &str) -> Result<Begun, RefundError> {
    let new = NewRefund { order_id: id, lines, shipping: 0, extra, reason: "", return_id: None, key };
    db.write(|tx| refunds::begin(tx, &new, None, now()))
}

fn pieces(line_id: i64, pieces: i64) -> LineBack {
    LineBack { line_id, pieces, amount: None }
}

fn send_and_take_back(db: &Db, id: i64, line: i64, pieces: i64) {
    write(db, |tx| orders::ship(tx, id, &[(line, pieces)], "", "", None, now()).unwrap());
    write(db, |tx| {
        let back = orders::request_return(tx, id, &[(line, pieces, "")], "", now()).unwrap();
        let location = main_location(tx);
        orders::receive_return(tx, back, location, &[], None, now()).unwrap();
    });
}

fn amounts(db: &Db, id: i64) -> Vec<i64> {
    read(db, |tx| refunds::of_order(tx, id).unwrap().iter().map(|refund| refund.amount).collect())
}

/// Every sum says the same, whatever happened.
fn assert_sums_agree(tx: &mut Tx) {
    for (what, sql) in [
        ("payments", "select p.id from payments p where p.refunded > p.captured or p.refunded <> (select coalesce(sum(r.amount), 0)
            from refunds r where r.payment_id = p.id and r.state <> 'kFailed')"),
        ("orders", "select o.id from orders o where o.refunded <> (select coalesce(sum(p.refunded), 0) from payments p where p.order_id = o.id)
            or o.paid <> (select coalesce(sum(p.captured), 0) from payments p where p.order_id = o.id)"),
        ("refunds", "select r.id from refunds r where r.amount <> (select coalesce(sum(l.amount), 0) from refund_lines l where l.refund_id = r.id)"),
        ("lines", "select l.id from order_lines l where l.refunded_quantity > l.returned + l.cancelled or l.refunded > l.total
            or l.refunded <> (select coalesce(sum(x.amount), 0) from refund_lines x join refunds r on r.id = x.refund_id
               where x.order_line_id = l.id and r.state <> 'kFailed')
            or l.refunded_tax <> (select coalesce(sum(x.tax), 0) from refund_lines x join refunds r on r.id = x.refund_id
               where x.order_line_id = l.id and r.state <> 'kFailed')
            or l.refunded_quantity <> (select coalesce(sum(x.quantity), 0) from refund_lines x join refunds r on r.id = x.refund_id
               where x.order_line_id = l.id and r.state <> 'kFailed')"),
    ] {
        let wrong: Vec<i64> = tx.rows(sql, &[]).unwrap().iter().map(|row| row.get("id").unwrap()).collect();
        assert!(wrong.is_empty(), "{what}: {wrong:?}");
    }
    assert_stock_agrees(tx);
}

on_both! {
    fn pieces_are_refunded_once_and_add_up_to_what_was_paid(db: &Db) {
        let (id, line, _) = paid_order(db, "a", 2390, 10, &[23_900]);
        assert!(matches!(begin(db, id, &[pieces(line, 1)], 0, "early"), Err(RefundError::TooMany { left: 0, .. })), "nothing came back");
        send_and_take_back(db, id, line, 3);
        begin(db, id, &[pieces(line, 3)], 0, "first").unwrap();
        assert!(matches!(begin(db, id, &[pieces(line, 1)], 0, "again"), Err(RefundError::TooMany { left: 0, .. })));
        assert!(matches!(begin(db, id, &[pieces(line, 1), pieces(line, 1)], 0, "twice"), Err(RefundError::TooMany { .. })));
        assert_eq!(begin(db, id, &[pieces(line, 3)], 0, "first").unwrap().ids.len(), 1, "a repeat");
        assert!(matches!(begin(db, id, &[pieces(line, 2)], 0, "first"), Err(RefundError::KeyUsed)), "another refund under the key");
        for key in ["", "a#2", &"x".repeat(101)] {
            assert!(matches!(begin(db, id, &[], 1, key), Err(RefundError::BadKey)), "{key}");
        }
        send_and_take_back(db, id, line, 7);
        begin(db, id, &[pieces(line, 7)], 0, "rest").unwrap();
        assert_eq!(amounts(db, id), [7170, 16_730]);
        let line_is = read(db, |tx| orders::lines(tx, id).unwrap()[0].clone());
        assert_eq!((line_is.refunded, line_is.refunded_quantity), (23_900, 10));
        read(db, assert_sums_agree);
    }

    fn many_hands_refund_the_same_pieces_once(db: &Db) {
        let (id, line, _) = paid_order(db, "a", 1000, 4, &[4000]);
        send_and_take_back(db, id, line, 4);
        let results = at_once(8, |n| begin(db, id, &[pieces(line, 2)], 0, &format!("k{n}")));
        assert_eq!(results.iter().flatten().count(), 2);
        assert!(results.iter().filter_map(|one| one.as_ref().err()).all(|cause| matches!(cause, RefundError::TooMany { left: 0, .. })));
        let (id, line, _) = paid_order(db, "b", 1000, 4, &[4000]);
        send_and_take_back(db, id, line, 4);
        let results = at_once(6, |_| begin(db, id, &[pieces(line, 4)], 0, "same").unwrap());
        assert!(results.iter().all(|begun| begun.ids == results[0].ids));
        assert_eq!(results.iter().filter(|begun| !begun.is_repeat).count(), 1);
        // Messages of the provider and refunds of people hold the same rows in the same order.
        let (id, _, _) = paid_order(db, "c", 1000, 4, &[4000]);
        let payment = read(db, |tx| payments::of_order(tx, id).unwrap()[0].id);
        at_once(8, |n| if n % 2 == 0 {
            begin(db, id, &[], 1, &format!("c{n}")).map(|_| ()).unwrap();
        } else {
            let paid = Outcome { state: "kPaid".to_owned(), captured: 4000, ..Outcome::default() };
            db.write(|tx| payments::answered(tx, payment, &paid, now())).unwrap();
        });
        read(db, assert_sums_agree);
    }

    fn a_refund_goes_back_by_all_payments_and_one_that_fails_gives_its_part_back(db: &Db) {
        let (id, line, _) = paid_order(db, "a", 1000, 10, &[6000, 4000, 500]);
        send_and_take_back(db, id, line, 10);
        // More than any one payment holds.
        let begun = begin(db, id, &[pieces(line, 10)], 300, "all").unwrap();
        assert_eq!(amounts(db, id), [6000, 4000, 300]);
        assert_eq!(begin(db, id, &[pieces(line, 10)], 300, "all").unwrap().ids, begun.ids);
        read(db, assert_sums_agree);
        write(db, |tx| refunds::answered(tx, begun.ids[1], "kFailed", None, "no", now()).unwrap());
        let line_is = read(db, |tx| orders::lines(tx, id).unwrap()[0].clone());
        assert_eq!((line_is.refunded, line_is.refunded_quantity), (6000, 10));
        read(db, assert_sums_agree);
        // The money of the part that failed is given once more, for no pieces.
        let rest = LineBack { line_id: line, pieces: 0, amount: Some(4000) };
        begin(db, id, &[rest], 0, "rest").unwrap();
        assert!(matches!(begin(db, id, &[], 201, "more"), Err(RefundError::TooMuch { left: 200, .. })));
        read(db, assert_sums_agree);
    }

    fn pieces_on_their_way_back_are_not_asked_for_twice(db: &Db) {
        let (id, line, variant) = paid_order(db, "a", 1000, 5, &[5000]);
        write(db, |tx| orders::ship(tx, id, &[(line, 3)], "", "", None, now()).unwrap());
        let ask = |pieces| db.write(|tx| orders::request_return(tx, id, &[(line, pieces, "")], "", now()));
        let first = ask(2).unwrap();
        assert!(matches!(ask(2), Err(StateError::TooMany { left: 1, .. })));
        write(db, |tx| orders::answer_return(tx, first, false, "worn", now()).unwrap());
        let location = write(db, main_location);
        let refused = db.write(|tx| orders::receive_return(tx, first, location, &[], None, now()));
        assert!(matches!(refused, Err(StateError::Rule(_))));
        let second = ask(3).unwrap();
        // Two came, and nobody sells them again.
        let arrived = orders::Arrived { line_id: line, pieces: 2, restock: false };
        write(db, |tx| orders::receive_return(tx, second, location, &[arrived], None, now()).unwrap());
        assert_eq!(stock_of(db, variant), (2, 2));
        assert_eq!(read(db, |tx| orders::lines(tx, id).unwrap()[0].returned), 2);
        let third = ask(1).unwrap();
        write(db, |tx| orders::receive_return(tx, third, location, &[], None, now()).unwrap());
        assert_eq!(stock_of(db, variant), (3, 2));
        read(db, assert_sums_agree);
    }

    fn whatever_happens_in_whatever_order_the_sums_agree(db: &Db) {
        let rng = TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(Config { cases: 12, failure_persistence: None, ..Config::default() }, rng);
        let number = std::cell::Cell::new(0);
        let steps = prop::collection::vec((0_u8..8, 1_i64..6, 1_i64..900), 1..25);
        let money = (100_i64..5000, 2_i64..9, 1_i64..100);
        runner.run(&(money, steps), |((price, quantity, first), steps)| {
            number.set(number.get() + 1);
            let total = price * quantity;
            let first = total * first / 100;
            let name = format!("p{}", number.get());
            let (id, line, _) = paid_order(db, &name, price, quantity, &[first, total - first]);
            let location = write(db, main_location);
            for (at, (what, count, money)) in steps.into_iter().enumerate() {
                let key = format!("{name}-{at}");
                // What is refused changes nothing, which the sums below tell.
                match what {
                    0 | 1 => { let _ = db.write(|tx| orders::ship(tx, id, &[(line, count)], "", "", None, now())); }
                    2 => {
                        let asked = db.write(|tx| orders::request_return(tx, id, &[(line, count, "")], "", now()));
                        if let Ok(back) = asked {
                            db.write(|tx| orders::receive_return(tx, back, location, &[], None, now())).unwrap();
                        }
                    }
                    3 => { let _ = db.write(|tx| orders::cancel_pieces(tx, id, &[(line, count)], None, now())); }
                    4 | 5 => { let _ = begin(db, id, &[pieces(line, count)], 0, &key); }
                    6 => { let _ = begin(db, id, &[LineBack { line_id: line, pieces: 0, amount: Some(money) }], money / 2, &key); }
                    _ => {
                        let all = read(db, |tx| refunds::of_order(tx, id).unwrap());
                        if let Some(refund) = all.get(usize::try_from(count).unwrap()) {
                            db.write(|tx| refunds::answered(tx, refund.id, "kFailed", None, "", now())).unwrap();
                        }
                    }
                }
                read(db, assert_sums_agree);
            }
            Ok(())
        }).unwrap();
        assert!(read(db, |tx| id_of(tx, "select count(*) as id from refunds")) > 10, "much was refunded");
    }
}
