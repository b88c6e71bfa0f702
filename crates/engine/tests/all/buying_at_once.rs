//! Many buyers at once, silent and forged payments, time that is over: nothing is sold, used or paid twice.

use serde_json::json;

use crate::client::{Line, all};
use crate::goods::write;
use crate::test_store::{NOON, TestClock, TestStore, on_both};
use crate::visitor::{Visitor, Ways, counted, coupon, open_shop, told};

/// Waits until a job that begins with the engine has done its round.
async fn until(store: &TestStore, sql: &str, wanted: &str) {
    let started = std::time::Instant::now();
    while told(store, sql) != wanted {
        assert!(started.elapsed().as_secs() < 60, "{sql}: not {wanted}");
        tokio::task::yield_now().await;
    }
}

/// A buyer who goes as far as the summary.
async fn at_the_till(
    port: u16,
    number: usize,
    variant: i64,
    ways: &Ways,
    code: Option<&str>,
) -> (Visitor, String) {
    let mut buyer = Visitor::at(port);
    assert_eq!(buyer.add(variant, "1").await.status, 303);
    if let Some(code) = code {
        buyer.sent("/cart", &[("do", "coupon"), ("code", code)]).await;
    }
    let summary = buyer.check_out(&format!("buyer{number}@example.com"), ways).await;
    (buyer, summary)
}

on_both! {
    async fn fifty_buyers_of_the_last_ten_pieces_buy_exactly_ten(store: TestStore) {
        let ways = open_shop(store);
        let clock = TestClock::at(NOON);
        // On PostgreSQL half of them come to another node.
        let other = if store.is_postgres() { Some(store.node(&clock).await) } else { None };
        let lamp = counted(store, "select id from variants where sku = 'DL-1'");
        write(store, |tx| tx.run("update stock set on_hand = 10 where variant_id = :id", &[("id", lamp.into())]));
        let ports = [store.port(), other.as_ref().map_or(store.port(), |other| other.address().port())];
        let mut ready = Vec::new();
        for number in 0..50 {
            ready.push(at_the_till(ports[number % 2], number, lamp, &ways, None).await);
        }
        let answers = all(ready.iter_mut().map(|(buyer, summary)| buyer.place(summary))).await;
        let placed = answers.iter().filter(|answer| answer.status == 303).count();
        for answer in answers.iter().filter(|answer| answer.status != 303) {
            let text = answer.text();
            assert_eq!(answer.status, 422, "{text}");
            assert!(text.contains("sold out") || text.contains("has changed") || text.contains("left"), "{text}");
        }
        assert_eq!(placed, 10);
        assert_eq!(store.count("orders"), 10);
        assert_eq!(counted(store, &format!("select reserved as id from stock where variant_id = {lamp}")), 10);
        assert_eq!(counted(store, &format!("select cast(sum(quantity) as bigint) as id from order_lines where variant_id = {lamp}")), 10);
        if let Some(other) = other {
            other.stop().await;
        }
    }

    async fn a_coupon_for_five_is_used_five_times(store: TestStore) {
        let ways = open_shop(store);
        let lamp = counted(store, "select id from variants where sku = 'DL-1'");
        write(store, |tx| {
            tx.run("update stock set on_hand = 100 where variant_id = :id", &[("id", lamp.into())])?;
            coupon(tx, "FIVE", "100000", Some(5))
        });
        let mut ready = Vec::new();
        for number in 0..12 {
            ready.push(at_the_till(store.port(), number, lamp, &ways, Some("five")).await);
        }
        let answers = all(ready.iter_mut().map(|(buyer, summary)| buyer.place(summary))).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 303).count(), 5);
        assert!(answers.iter().filter(|answer| answer.status != 303).all(|answer| answer.status == 422));
        assert_eq!(counted(store, "select used as id from coupons where code = 'FIVE'"), 5);
        assert_eq!(store.count("promotion_uses"), 5);
    }

    async fn a_payment_without_an_answer_is_asked_for_and_a_forged_message_counts_for_nothing(store: TestStore) {
        let ways = open_shop(store);
        let settings = |store: &TestStore, text: &str| {
            write(store, |tx| tx.run("update payment_methods set settings = :it where provider = 'test'", &[("it", text.into())]));
        };
        settings(store, r#"{"silent": true}"#);
        let (mut anna, summary) = at_the_till(store.port(), 1, ways.shop.small, &ways, None).await;
        let order = anna.place(&summary).await.header("location").unwrap().to_owned();
        assert!(order.starts_with("/order/"), "{order}");
        assert_eq!(told(store, "select state as it from payments"), "kUnknown");
        assert_eq!(anna.post(&order, &[("do", "pay")]).await.status, 422, "nobody pays twice");
        // A job asks: the bank knows nothing of it.
        settings(store, "{}");
        store.clock.set_now("2026-11-30T12:05:00Z");
        store.restart().await;
        until(store, "select state as it from payments", "kFailed").await;
        assert_eq!(told(store, "select state as it from payments"), "kFailed");
        let mut anna = Visitor::at(store.port());
        let bank = anna.sent(&order, &[("do", "pay")]).await;
        assert!(bank.starts_with("/core/pay/test/"), "{bank}");
        assert_eq!(anna.sent(&order, &[("do", "pay")]).await, bank, "one payment is open");
        let number = bank.rsplit('/').next().unwrap();
        let body = json!({"id": "e1", "payment": number, "kind": "paid", "amount": 1, "currency": "EUR"}).to_string();
        for signature in ["", "AAAA", number] {
            let head = format!(
                "POST /core/pay/test/notify HTTP/1.1\r\nhost: x\r\nx-signature: {signature}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            let mut line = Line::to(("127.0.0.1", store.port())).await;
            assert_eq!(line.send(head.as_bytes()).await.status, 403, "{signature}");
        }
        assert_eq!(store.count("payment_events"), 0);
        // Cancelled by its shopper, and paid all the same: written down, and somebody is told.
        anna.sent(&order, &[("do", "cancel")]).await;
        assert_eq!(counted(store, "select cast(sum(reserved) as bigint) as id from stock"), 0);
        anna.sent(&bank, &[("do", "paid")]).await;
        assert_eq!(told(store, "select state as it from orders"), "kCancel");
        assert_eq!(counted(store, "select paid as id from orders"), 8990 + 490);
        assert!(told(store, "select data as it from events where key = 'kPaymentReceived'").contains("paid_after_cancel"));
    }

    async fn what_nobody_paid_or_bought_in_time_is_free_again(store: TestStore) {
        store.settings(json!({"cart_minutes": 15})).await;
        let ways = open_shop(store);
        let mut idle = Visitor::of(store);
        idle.add(ways.shop.small, "3").await;
        let mut anna = Visitor::of(store);
        assert!(anna.add(ways.shop.small, "1").await.text().contains("sold out"));
        idle.sent("/cart", &[("do", "set"), (&format!("quantity_{}", counted(store, "select id from cart_lines")), "2")]).await;
        assert_eq!(anna.add(ways.shop.small, "1").await.status, 303, "one's own reservation never blocks, and what is let go is free");
        store.clock.set_now("2026-11-30T12:16:00Z");
        let (_, _) = (&mut idle, &mut anna);
        let mut late = Visitor::of(store);
        assert_eq!(late.add(ways.shop.small, "3").await.status, 303);
        let summary = late.check_out("late@example.com", &ways).await;
        assert_eq!(late.place(&summary).await.status, 303);
        assert_eq!(counted(store, "select cast(sum(reserved) as bigint) as id from stock"), 3);
        store.clock.set_now("2026-11-30T13:30:00Z");
        store.restart().await;
        until(store, "select state as it from orders", "kCancel").await;
        assert_eq!(told(store, "select state as it from orders"), "kCancel");
        assert_eq!(counted(store, "select cast(sum(reserved) as bigint) as id from stock"), 0);
        assert_eq!(counted(store, "select count(*) as id from outbox where template = 'cancelled'"), 1);
    }
}
