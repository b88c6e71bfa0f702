//! A customer who erases themselves is in no table any more, and what the books need stays.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use db::{Row, Value, journal, orders};
use jiff::Timestamp;
use serde_json::json;

use crate::goods::write;
use crate::test_store::{NOON, TestStore, on_both};
use crate::visitor::{Visitor, Ways, counted, mailed, open_shop};

/// What names the shopper, as the forms below say it. Cases do not matter.
const NAMING: [&str; 7] =
    ["anna", "blum", "street 1", "+49 30 1", "hidden lane", "berlin", "leave it at the neighbour"];

/// Where she is named: table, column and the text.
fn naming(tables: &BTreeMap<String, Vec<Row>>) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for (table, rows) in tables {
        for row in rows {
            for (column, value) in row.columns().iter().zip(row.values()) {
                let text = match value {
                    Value::Text(text) => text.to_lowercase(),
                    Value::Bytes(bytes) => String::from_utf8_lossy(bytes).to_lowercase(),
                    _ => continue,
                };
                if NAMING.iter().any(|word| text.contains(word)) {
                    found.push((table.clone(), column.clone(), text));
                }
            }
        }
    }
    found
}

/// An order of a guest, paid.
async fn ordered(buyer: &mut Visitor, email: &str, ways: &Ways) -> String {
    buyer.add(ways.shop.small, "1").await;
    buyer.sent("/cart", &[("do", "coupon"), ("code", "TEN")]).await;
    buyer.check_out(email, ways).await;
    let methods = [
        ("do", "methods"),
        ("shipping", ways.post.as_str()),
        ("payment", ways.test.as_str()),
        ("comment", "Leave it at the neighbour"),
    ];
    buyer.sent("/checkout", &methods).await;
    let summary = buyer.page("/checkout").await;
    let bank = buyer.place(&summary).await.header("location").unwrap().to_owned();
    buyer.sent(&bank, &[("do", "paid")]).await
}

/// Waits until every mail has left, so that what is kept of sent ones is looked at.
async fn all_sent(store: &TestStore) {
    let end = Instant::now() + Duration::from_secs(60);
    let mut ticks = tokio::time::interval(Duration::from_millis(50));
    while counted(store, "select count(*) as id from outbox where state <> 'kSent'") > 0 {
        ticks.tick().await;
        assert!(Instant::now() < end, "mails wait");
    }
}

/// Sums, taxes and countries of all orders.
fn books(store: &TestStore) -> Vec<Row> {
    write(store, |tx| {
        tx.rows(
            "select o.id, o.number, o.total, o.tax, o.paid, o.placed, a.kind, a.country,
               (select cast(sum(t.tax) as bigint) from order_tax_lines t where t.order_id = o.id) as taxes,
               (select cast(sum(l.total) as bigint) from order_lines l where l.order_id = o.id) as lines,
               (select cast(sum(p.captured) as bigint) from payments p where p.order_id = o.id) as captured,
               (select cast(sum(u.n) as bigint) from promotion_uses u where u.order_id = o.id) as uses
             from orders o left join order_addresses a on a.order_id = o.id order by o.id, a.id",
            &[],
        )
    })
}

/// A return with its reasons, a note of the staff, a failed mail, and what an agent once changed of her.
fn more_traces(store: &TestStore) {
    let now: Timestamp = NOON.parse().unwrap();
    let (order, line) = (
        counted(store, "select min(id) as id from orders"),
        counted(store, "select min(id) as id from order_lines"),
    );
    write(store, |tx| {
        orders::ship(tx, order, &[(line, 1)], "Post", "P1", None, now).unwrap();
        orders::note(tx, order, "Anna called", false, None, now)?;
        let customer = crate::goods::number(tx, "select id from customers where email_folded like 'anna%'")?;
        tx.run("update payment_events set data = '{\"payer\": \"Anna Blum\"}'", &[])?;
        tx.run("update payments set error = 'no account of Anna Blum'", &[])?;
        let user = crate::goods::number(tx, "select min(id) as id from users")?;
        journal::by(tx, journal::Entry::new(now, user, "AGENT_ENGINE_DB_EXECUTE"));
        // So long that the journal keeps it beside.
        let values = [("name", "Anna Blum ".repeat(10_000).into()), ("id", customer.into())];
        tx.run("update customers set name = :name where id = :id", &values)
    });
}

on_both! {
    async fn who_erases_themselves_is_in_no_table_any_more(store: TestStore) {
        let ways = open_shop(store);
        write(store, |tx| tx.run("update stock set on_hand = 50 where on_hand > 0", &[]));
        // As a guest; with an account under the same address; and a cart that was left in another browser.
        let mut anna = Visitor::of(store);
        let order = ordered(&mut anna, "Anna@Example.com", &ways).await;
        let mut left = Visitor::of(store);
        left.add(ways.shop.small, "1").await;
        left.check_out("anna@example.com", &ways).await;
        let account = [("do", "sign_up"), ("name", "Anna Blum"), ("email", "anna@Example.com"), ("password", "correct horse")];
        anna.sent("/account/sign-up", &account).await;
        let mail = mailed(store, "/account/confirm?token=").await;
        let token: String = mail.split("/account/confirm?token=").nth(1).unwrap()
            .chars().take_while(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter)).collect();
        anna.sent("/account/confirm", &[("do", "confirm"), ("token", &token)]).await;
        let address = [
            ("do", "add_address"), ("name", "Anna Blum"), ("country", "DE"), ("line1", "Hidden Lane 2"), ("postcode", "10115"), ("city", "Berlin"),
        ];
        anna.sent("/account", &address).await;
        anna.sent("/account", &[("do", "save"), ("name", "Anna Blum"), ("phone", "+49 30 1")]).await;
        // A row that somebody removed before is in the journal still.
        anna.sent("/account", &address).await;
        let twice = "delete from addresses where id = (select max(id) from addresses where line1 = 'Hidden Lane 2')";
        assert_eq!(write(store, |tx| tx.run(twice, &[])), 1);
        more_traces(store);
        let field = format!("quantity_{}", counted(store, "select min(id) as id from order_lines"));
        anna.sent(&order, &[("do", "return"), (&field, "1"), ("reason", "Too small, call +49 30 1")]).await;
        anna.sent("/contact", &[("name", "Anna Blum"), ("email", "ANNA@example.com"), ("text", "Where is my parcel?")]).await;
        all_sent(store).await;
        let (named, before) = (naming(&store.dump()), books(store));
        for table in ["outbox", "promotion_uses", "returns", "carts", "orders", "order_addresses", "order_history", "events", "customers", "addresses", "journal_changes", "journal_values", "payment_events", "payments"] {
            assert!(named.iter().any(|(there, ..)| there == table), "{table} names her before: {named:?}");
        }
        anna.sent("/account", &[("do", "erase"), ("password", "correct horse")]).await;
        assert_eq!(naming(&store.dump()), []);
        assert_eq!(books(store), before, "sums, taxes and countries stay");
        assert!(!anna.page(&order).await.contains("Blum"), "nor does the order's page");
        assert_eq!(counted(store, "select count(*) as id from outbox where address <> ''"), 0);
    }

    async fn a_review_of_nobody_is_shown_and_not_told_to_search_engines(store: TestStore) {
        open_shop(store);
        write(store, |tx| tx.run("update reviews set name = '' where name = 'Mara'", &[]).map(|_| ()));
        let page = Visitor::of(store).page("/trail-jacket").await;
        assert!(page.contains("<strong>A customer</strong>") && page.contains("Kept me dry."), "{page}");
        let data = page.split("application/ld+json\">").nth(1).unwrap().split("</script>").next().unwrap();
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        let authors: Vec<_> = data["review"].as_array().unwrap().iter().map(|one| one["author"]["name"].clone()).collect();
        assert_eq!((authors, &data["aggregateRating"]["reviewCount"]), (vec![json!("Jon")], &json!(2)));
    }

    async fn who_proved_no_address_erases_nothing_of_whom_it_belongs_to(store: TestStore) {
        let ways = open_shop(store);
        let mut anna = Visitor::of(store);
        let order = ordered(&mut anna, "anna@example.com", &ways).await;
        let mut eve = Visitor::of(store);
        let account = [("do", "sign_up"), ("name", "Eve"), ("email", "anna@example.com"), ("password", "correct horse")];
        eve.sent("/account/sign-up", &account).await;
        all_sent(store).await;
        let mails = "select count(*) as id from outbox where address = 'anna@example.com'";
        assert_eq!(counted(store, mails), 3);
        eve.sent("/account", &[("do", "erase"), ("password", "correct horse")]).await;
        assert!(anna.page(&order).await.contains("Street 1"), "a guest's order is nobody else's");
        assert_eq!(counted(store, mails), 2, "only the mail about the account is Eve's");
        let uses = "select count(*) as id from promotion_uses where customer_key = 'anna@example.com'";
        assert_eq!(counted(store, uses), 1);
    }
}
