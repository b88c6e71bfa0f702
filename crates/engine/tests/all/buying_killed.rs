//! An engine that is killed while orders are placed and paid: each order has its stock and its payment, once.

use std::time::{Duration, Instant};

use crate::goods::write;
use crate::kill;
use crate::test_store::{TestStore, on_both};
use crate::visitor::{Visitor, counted, hidden, open_shop};

/// How many times the engine is killed, unless `BUYING_KILLS` says otherwise: once while each order is placed, and once
/// while its payment is told.
const KILLS: usize = 16;

/// How many orders there are.
fn orders_to_place() -> usize {
    let kills = std::env::var("BUYING_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    kills.div_ceil(2)
}

/// Sends a form to an engine that is killed so many microseconds later; whether it answers does not matter.
async fn killed(store: &TestStore, buyer: &mut Visitor, path: &str, fields: &[(String, String)], after: u64) {
    let (mut child, port) = kill::start(store);
    buyer.port = port;
    let (mut sender, path, fields) = (buyer.clone(), path.to_owned(), fields.to_vec());
    let sent = tokio::spawn(async move {
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        sender.post(&path, &fields).await;
    });
    let started = Instant::now();
    while started.elapsed() < Duration::from_micros(after) && !sent.is_finished() {
        tokio::task::yield_now().await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // It broke off, or came just in time.
    let _ = sent.await;
}

/// Sends the form again to an engine that lives; where it leads.
async fn again(store: &TestStore, buyer: &mut Visitor, path: &str, fields: &[(String, String)]) -> String {
    let (mut child, port) = kill::start(store);
    buyer.port = port;
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let led = buyer.sent(path, &fields).await;
    child.kill().unwrap();
    child.wait().unwrap();
    led
}

on_both! {
    async fn no_order_is_without_its_stock_and_no_payment_is_lost_or_made_twice(store: TestStore) {
        store.with_the_real_clock().await;
        let ways = open_shop(store);
        let lamp = counted(store, "select id from variants where sku = 'DL-1'");
        write(store, |tx| {
            tx.run("update stock set on_hand = 100 where variant_id = :id", &[("id", lamp.into())])
        });
        let mut ready = Vec::new();
        for number in 0..orders_to_place() {
            let mut buyer = Visitor::of(store);
            buyer.add(lamp, "2").await;
            let summary = buyer.check_out(&format!("buyer{number}@example.com"), &ways).await;
            ready.push((buyer, hidden(&summary, "cart"), hidden(&summary, "seen")));
        }
        store.stop().await;
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        // Moments that lie anywhere within the work, the same in every run.
        let mut moment = 12_345_u64;
        let mut next = || {
            moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (moment >> 33) % 400_000
        };
        for (buyer, cart, seen) in &mut ready {
            let place = [field("do", "place"), field("cart", cart), field("seen", seen)];
            killed(store, buyer, "/checkout", &place, next()).await;
            let bank = again(store, buyer, "/checkout", &place).await;
            assert!(bank.starts_with("/core/pay/test/page/"), "{bank}");
            let pay = [field("do", "paid")];
            killed(store, buyer, &bank, &pay, next()).await;
            let order = again(store, buyer, &bank, &pay).await;
            assert!(order.starts_with("/order/"), "{order}");
        }
        let orders = i64::try_from(ready.len()).unwrap();
        let all = "select count(*) as id from orders where state = 'kNew' and pay = 'kPaid' and paid = total";
        assert_eq!((store.count("orders"), counted(store, all)), (orders, orders));
        assert_eq!(
            counted(store, &format!("select reserved as id from stock where variant_id = {lamp}")),
            2 * orders
        );
        let held =
            "select count(*) as id from order_lines l where l.quantity <> (select coalesce(sum(r.quantity), 0)
                    from reservations r where r.order_line_id = l.id)";
        assert_eq!(counted(store, held), 0);
        assert_eq!(
            (
                store.count("payments"),
                counted(store, "select count(*) as id from payments where captured = amount")
            ),
            (orders, orders)
        );
        assert_eq!(counted(store, "select count(*) as id from payment_events where provider = 'test'"), orders);
        for (event, table) in [("kOrderNew", "events"), ("kPaymentReceived", "events")] {
            assert_eq!(
                counted(store, &format!("select count(*) as id from {table} where key = '{event}'")),
                orders
            );
        }
        for template in ["placed", "paid"] {
            assert_eq!(
                counted(store, &format!("select count(*) as id from outbox where template = '{template}'")),
                orders
            );
        }
    }
}
