//! What staff does with orders: by the table of states, in parcels, with returns, money that came and money that goes
//! back; and what the customer is told.

use engine::settings::Settings;
use engine::shopping::staff::{
    AnswerReturn, Arrived, AskReturn, CancelPieces, LineBack, MoneyCame, MoveOrder, NewRefund, Note, Pieces,
    ReceiveReturn, ReturnedLine, Ship, Staff, StaffError,
};

use crate::goods::write;
use crate::test_store::{NOON, TestStore, on_both};
use crate::visitor::{Visitor, Ways, counted, mailed, open_shop, told};

/// Somebody of the store does something.
fn staff<T>(store: &TestStore, work: impl FnOnce(&Staff<'_>) -> T) -> T {
    let settings = Settings::read(store.root()).unwrap();
    let user = store.id("irina");
    store.db.with(|db| work(&Staff::new(db, &settings, Some(user), NOON.parse().unwrap())))
}

fn way(store: &TestStore, provider: &str) -> String {
    counted(store, &format!("select id from payment_methods where provider = '{provider}'")).to_string()
}

/// An order of so many small jackets, paid this way; its number.
async fn ordered(store: &TestStore, ways: &Ways, quantity: &str, provider: &str) -> i64 {
    let ways = Ways {
        post: ways.post.clone(),
        cash: ways.cash.clone(),
        test: way(store, provider),
        shop: ways.shop,
    };
    let mut anna = Visitor::of(store);
    anna.add(ways.shop.small, quantity).await;
    let summary = anna.check_out("anna@example.com", &ways).await;
    let placed = anna.place(&summary).await;
    assert_eq!(placed.status, 303, "{}", placed.text());
    let next = placed.header("location").unwrap().to_owned();
    if next.starts_with("/core/pay/") {
        anna.sent(&next, &[("do", "paid")]).await;
    }
    counted(store, "select max(id) as id from orders")
}

fn line_of(store: &TestStore, order: i64) -> i64 {
    counted(store, &format!("select id from order_lines where order_id = {order}"))
}

fn stock(store: &TestStore, ways: &Ways) -> (i64, i64) {
    let of = |column: &str| {
        let id = ways.shop.small;
        counted(
            store,
            &format!("select cast(sum({column}) as bigint) as id from stock where variant_id = {id}"),
        )
    };
    (of("on_hand"), of("reserved"))
}

fn mails(store: &TestStore, template: &str) -> i64 {
    counted(store, &format!("select count(*) as id from outbox where template = '{template}'"))
}

fn state(store: &TestStore, order: i64) -> String {
    told(
        store,
        &format!("select state || ' ' || pay || ' ' || delivery as it from orders where id = {order}"),
    )
}

fn to<'a>(order: i64, state: &'a str, reason: &'a str) -> MoveOrder<'a> {
    MoveOrder { order, state, reason }
}

fn refund<'a>(order: i64, lines: &'a [LineBack], key: &'a str) -> NewRefund<'a> {
    NewRefund { order_id: order, lines, shipping: 0, extra: 0, reason: "returned", return_id: None, key }
}

fn bank(store: &TestStore, settings: &str) {
    let settings = settings.to_owned();
    write(store, |tx| {
        tx.run(
            "update payment_methods set settings = :it where provider = 'test'",
            &[("it", settings.into())],
        )
    });
}

on_both! {
    async fn an_order_is_sent_in_parts_comes_back_and_its_money_goes_back_once(store: TestStore) {
        let ways = open_shop(store);
        let order = ordered(store, &ways, "3", "test").await;
        let line = line_of(store, order);
        assert_eq!(state(store, order), "kNew kPaid kNone");
        let parcel = |pieces| Pieces { line, pieces };
        let ship = |pieces: &[Pieces]| staff(store, |staff| staff.ship(Ship { order, lines: pieces, carrier: "DHL", tracking: "T-77" }));
        for (pieces, words) in [(4, "of line"), (0, "nothing is named"), (-1, "nothing is named")] {
            let refused = ship(&[parcel(pieces)]).unwrap_err().to_string();
            assert!(refused.contains(words), "{pieces}: {refused}");
        }
        assert!(matches!(ship(&[Pieces { line: line + 1, pieces: 1 }]), Err(StaffError::Unknown { what: "line", .. })));
        assert_eq!(state(store, order), "kNew kPaid kNone", "what is refused does nothing");
        ship(&[parcel(1), parcel(1)]).unwrap();
        assert_eq!(state(store, order), "kAccept kPaid kPart");
        assert_eq!(stock(store, &ways), (1, 1));
        let cancelled = staff(store, |staff| staff.move_order(to(order, "kCancel", "")));
        assert_eq!(cancelled.unwrap_err().to_string(), "goods were sent: take them back as a return");
        // Everything else; nothing more after it.
        ship(&[]).unwrap();
        assert!(matches!(ship(&[]), Err(StaffError::Nothing)));
        assert_eq!((state(store, order).as_str(), stock(store, &ways), mails(store, "sent")), ("kAccept kPaid kSent", (0, 0), 2));
        assert!(mailed(store, "T-77").await.contains("DHL"));
        staff(store, |staff| {
            staff.move_order(to(order, "kDone", "")).unwrap();
            let four = [ReturnedLine { line, pieces: 4, reason: "too large" }];
            let asked = staff.ask_return(AskReturn { order, lines: &four, text: "Sorry" });
            assert!(matches!(asked, Err(StaffError::TooMany { left: 3, .. })));
            let two = [ReturnedLine { pieces: 2, ..four[0] }];
            let id = staff.ask_return(AskReturn { order, lines: &two, text: "Sorry" }).unwrap();
            staff.answer_return(AnswerReturn { id, agreed: true, text: "Please send it back." }).unwrap();
            let back = [LineBack { line_id: line, pieces: 2, amount: None }];
            let early = staff.refund(refund(order, &back, "r-1")).unwrap_err().to_string();
            assert!(early.contains("only 0 pieces can be refunded"), "{early}");
            let location = counted(store, "select id from locations where skey = 'kMain'");
            let arrived = [Arrived { line_id: line, pieces: 2, restock: true }];
            for _ in 0..2 {
                staff.receive_return(ReceiveReturn { id, location, lines: &arrived }).unwrap();
            }
            assert_eq!((state(store, order).as_str(), stock(store, &ways), mails(store, "return")), ("kDone kPaid kPartBack", (2, 0), 1));
            assert_eq!(staff.refundable(order).unwrap().lines[0].amount, 2 * 8990);
            for _ in 0..2 {
                let done = staff.refund(refund(order, &back, "r-1")).unwrap();
                assert_eq!((done.amount, done.rows.len(), done.rows[0].state.as_str()), (2 * 8990, 1, "kDone"));
            }
            assert!(staff.refund(refund(order, &back, "r-2")).unwrap_err().to_string().contains("only 0 pieces"));
            assert_eq!(state(store, order), "kDone kPartBack kPartBack");
            // The shipping was free (over 200.00), the last piece did not come back, and there is no more money than that.
            let shipping = staff.refund(NewRefund { shipping: 1, ..refund(order, &[], "r-3") }).unwrap_err().to_string();
            assert!(shipping.contains("only 0 minor units of shipping"), "{shipping}");
            let more = staff.refund(NewRefund { extra: 8991, ..refund(order, &[], "r-4") }).unwrap_err().to_string();
            assert!(more.contains("only 8990 minor units of the payments"), "{more}");
            staff.refund(NewRefund { extra: 8990, ..refund(order, &[], "r-5") }).unwrap();
            assert_eq!(state(store, order), "kDone kBack kPartBack");
            let history = staff.history(order).unwrap();
            assert!(history.iter().any(|entry| entry.new == "kDone" && entry.author_id == Some(store.id("irina"))));
            assert!(history.iter().any(|entry| entry.axis == "kNote" && entry.text == "Please send it back." && entry.for_customer));
        });
        assert_eq!(mails(store, "refunded"), 2);
        assert!(mailed(store, "179.80").await.contains("back the way it came"));
    }

    async fn moves_that_are_not_in_the_table_are_refused_in_words(store: TestStore) {
        let ways = open_shop(store);
        let unpaid = ordered(store, &ways, "1", "transfer").await;
        let paid = ordered(store, &ways, "1", "test").await;
        staff(store, |staff| {
            for (order, state, words) in [
                (unpaid, "kNew", "the order is not paid yet"),
                (unpaid, "kAccept", "an order does not go from `kWait` to `kAccept`"),
                (paid, "kDone", "an order does not go from `kNew` to `kDone`"),
                (paid, "kWait", "an order does not go from `kNew` to `kWait`"),
                (paid, "kNonsense", "there is no state `kNonsense`"),
                (9_999_999, "kAccept", "there is no order 9999999"),
            ] {
                assert_eq!(staff.move_order(to(order, state, "")).unwrap_err().to_string(), words);
            }
            let ship = staff.ship(Ship { order: unpaid, lines: &[], carrier: "", tracking: "" });
            assert_eq!(ship.unwrap_err().to_string(), "only a new or an accepted order is sent");
            assert_eq!(staff.take_held(paid).unwrap_err().to_string(), "nothing is authorised");
            staff.move_order(to(paid, "kAccept", "")).unwrap();
            assert_eq!(staff.move_order(to(paid, "kDone", "")).unwrap_err().to_string(), "not everything is sent or cancelled");
            assert!(matches!(staff.arrived(9_999_999), Err(StaffError::Unknown { what: "shipment", .. })));
            assert!(matches!(staff.note(Note { order: paid, text: " ", for_customer: true }), Err(StaffError::Nothing)));
            // Cancelled with a reason that its customer reads, and taken up again while there is something.
            staff.move_order(to(paid, "kCancel", "The supplier has none")).unwrap();
            staff.move_order(to(paid, "kCancel", "again")).unwrap();
            assert!(staff.history(paid).unwrap().iter().any(|entry| entry.text == "The supplier has none"));
            staff.move_order(to(paid, "kNew", "")).unwrap();
        });
        assert_eq!(mails(store, "cancelled"), 1);
        assert!(mailed(store, "The supplier has none").await.contains("anna@example.com"));
        assert_eq!(stock(store, &ways), (3, 2));
        write(store, |tx| tx.run("insert into order_states (skey, name, base) values ('packed', 'Packed', 'kAccept')", &[]));
        staff(store, |staff| staff.move_order(to(paid, "packed", ""))).unwrap();
        assert_eq!(state(store, paid), "packed kPaid kNone");
    }

    async fn money_by_hand_is_written_down_once_and_sent_back_by_people(store: TestStore) {
        let ways = open_shop(store);
        write(store, |tx| tx.run("update payment_methods set text = '<p>IBAN DE00 1</p>' where provider = 'transfer'", &[]));
        let order = ordered(store, &ways, "2", "transfer").await;
        let line = line_of(store, order);
        let total = 2 * 8990 + 490;
        let mail = mailed(store, "Please pay for order").await;
        for part in ["IBAN DE00 1", "184.70", "Reference: 1"] {
            assert!(mail.contains(part), "{part}: {mail}");
        }
        assert_eq!((state(store, order).as_str(), mails(store, "pay")), ("kWait kNone kNone", 1));
        let came = |amount, key| staff(store, |staff| staff.money_came(MoneyCame { order, amount, key, note: "statement 7" }));
        assert!(matches!(came(Some(0), "a"), Err(StaffError::Amount)) && matches!(came(Some(-5), "a"), Err(StaffError::Amount)));
        assert!(matches!(came(None, ""), Err(StaffError::BadKey)));
        for _ in 0..2 {
            came(Some(10_000), "first").unwrap();
            assert_eq!(state(store, order), "kWait kPart kNone");
        }
        assert!(mailed(store, "still to be paid").await.contains("84.70"));
        came(None, "second").unwrap();
        assert_eq!((state(store, order).as_str(), counted(store, "select paid as id from orders")), ("kNew kPaid kNone", total));
        assert!(matches!(came(None, "third"), Err(StaffError::Amount)), "nothing is owed");
        assert_eq!(mails(store, "paid"), 2);
        // One piece is not there: it goes back with its money, by hand.
        staff(store, |staff| {
            staff.cancel_pieces(CancelPieces { order, lines: &[Pieces { line, pieces: 1 }], reason: "One is broken." }).unwrap();
            let all = staff.cancel_pieces(CancelPieces { order, lines: &[Pieces { line, pieces: 1 }], reason: "" });
            assert_eq!(all.unwrap_err().to_string(), "that is everything: cancel the order");
        });
        assert_eq!(stock(store, &ways), (3, 1));
        let back = [LineBack { line_id: line, pieces: 1, amount: None }];
        let done = staff(store, |staff| staff.refund(NewRefund { shipping: 490, ..refund(order, &back, "r-1") })).unwrap();
        let row = done.rows[0].clone();
        assert_eq!((row.amount, row.state.as_str(), row.by_hand), (8990 + 490, "kOpen", true));
        let promised = mailed(store, "You get money of order").await;
        assert!(promised.contains("94.80") && promised.contains("A person transfers it") && !promised.contains("We have"), "{promised}");
        assert_eq!(counted(store, "select count(*) as id from events where key = 'kRefundDue'"), 1);
        // Asked again, and by a job much later: it waits for people all the same.
        store.clock.set_now("2026-11-30T13:00:00Z");
        store.restart().await;
        staff(store, |staff| staff.refund(NewRefund { shipping: 490, ..refund(order, &back, "r-1") })).unwrap();
        assert_eq!((mails(store, "refunded"), told(store, "select state as it from refunds").as_str()), (1, "kOpen"));
        for _ in 0..2 {
            staff(store, |staff| staff.refund_sent(row.id)).unwrap();
        }
        assert!(mailed(store, "We have transferred money").await.contains("94.80"));
        assert_eq!((mails(store, "refunded"), told(store, "select state as it from refunds").as_str()), (2, "kDone"));
        let dropped = staff(store, |staff| staff.drop_refund(row.id, "no")).unwrap_err().to_string();
        assert!(dropped.contains("does not wait for somebody"), "{dropped}");
        // One that is not sent after all can be made again.
        let beside = NewRefund { extra: 100, ..refund(order, &[], "r-2") };
        let id = staff(store, |staff| staff.refund(beside)).unwrap().rows[0].id;
        staff(store, |staff| staff.drop_refund(id, "wrong account")).unwrap();
        assert_eq!(counted(store, "select refunded as id from orders"), 8990 + 490);
        staff(store, |staff| staff.refund(NewRefund { key: "r-3", ..beside })).unwrap();
        assert_eq!(counted(store, "select refunded as id from orders"), 8990 + 490 + 100);
    }

    async fn a_provider_that_gives_no_answer_or_says_no_gives_back_once_or_nothing(store: TestStore) {
        let ways = open_shop(store);
        let order = ordered(store, &ways, "2", "test").await;
        let line = line_of(store, order);
        staff(store, |staff| staff.move_order(to(order, "kCancel", "gone"))).unwrap();
        let back = [LineBack { line_id: line, pieces: 2, amount: None }];
        bank(store, r#"{"refunds": "refused"}"#);
        let refused = staff(store, |staff| staff.refund(refund(order, &back, "no"))).unwrap();
        assert_eq!((refused.amount, refused.rows[0].state.as_str()), (0, "kFailed"));
        assert_eq!(counted(store, "select refunded as id from orders"), 0);
        assert_eq!(counted(store, "select count(*) as id from events where key = 'kRefundFailed'"), 1);
        bank(store, r#"{"refunds": "lost"}"#);
        let lost = staff(store, |staff| staff.refund(refund(order, &back, "lost"))).unwrap();
        assert_eq!((lost.amount, lost.rows[0].state.as_str(), mails(store, "refunded")), (2 * 8990, "kUnknown", 0));
        // Another attempt finds the pieces taken, and the same one asks the bank again.
        assert!(staff(store, |staff| staff.refund(refund(order, &back, "other"))).is_err());
        bank(store, "{}");
        let found = staff(store, |staff| staff.refund(refund(order, &back, "lost"))).unwrap();
        assert_eq!((found.rows[0].state.as_str(), found.rows[0].id), ("kDone", lost.rows[0].id));
        assert_eq!(mails(store, "refunded"), 1);
        let told_to_bank = "select count(*) as id from payment_events where provider = 'test-bank' and kind = 'refund'";
        assert_eq!(counted(store, told_to_bank), 1, "the bank gave back once");
        let rest = staff(store, |staff| staff.refund(NewRefund { shipping: 490, ..refund(order, &[], "post") })).unwrap();
        assert_eq!((rest.amount, state(store, order).as_str()), (490, "kCancel kBack kNone"));
    }

    async fn who_comes_for_the_goods_is_told_when_they_lie_ready(store: TestStore) {
        let ways = open_shop(store);
        write(store, |tx| {
            tx.run("update shipping_methods set pickup = true", &[])?;
            tx.run("update locations set pickup = true, name = 'Shop in Berlin', address = 'Lane 7'", &[])
        });
        let order = ordered(store, &ways, "1", "cash").await;
        assert_eq!(mails(store, "pay"), 0, "coins are paid at the door");
        let parcel = staff(store, |staff| staff.ship(Ship { order, lines: &[], carrier: "", tracking: "" })).unwrap();
        assert_eq!((mails(store, "sent"), mails(store, "pickup")), (0, 1));
        let mail = mailed(store, "is ready for you").await;
        assert!(mail.contains("Shop in Berlin") && mail.contains("Lane 7"), "{mail}");
        assert_eq!(told(store, "select state as it from shipments"), "kReady");
        for _ in 0..2 {
            staff(store, |staff| staff.arrived(parcel)).unwrap();
        }
        staff(store, |staff| staff.money_came(MoneyCame { order, amount: None, key: "till", note: "" })).unwrap();
        assert_eq!(state(store, order), "kAccept kPaid kArrived");
        let back = NewRefund { extra: 100, ..refund(order, &[], "r") };
        staff(store, |staff| staff.refund(back)).unwrap();
        assert!(mailed(store, "You get money of order").await.contains("hands it to you"));
    }
}
