//! What a visitor with bad intentions tries besides words: other people's rows, other hosts, other sites, too much.

use crate::client::{Answer, raw};
use crate::goods::write;
use crate::test_store::{TestStore, on_both};
use crate::visitor::{Visitor, counted, coupon, mailed, open_shop, told};

/// Sends bytes of a form to a host of the sender's choice.
async fn sent_to(store: &TestStore, host: &str, path: &str, form: &str) -> Answer {
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nx-forwarded-host: {host}\r\nforwarded: host={host}\r\nconnection: close\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
        form.len()
    );
    raw(store, request.as_bytes()).await
}

/// Somebody with an account and an address.
async fn customer(store: &TestStore, name: &str, street: &str) -> Visitor {
    let email = format!("{name}@example.com");
    let mut visitor = Visitor::of(store);
    let account =
        [("do", "sign_up"), ("name", name), ("email", email.as_str()), ("password", "correct horse")];
    visitor.sent("/account/sign-up", &account).await;
    let address = [
        ("do", "add_address"),
        ("name", name),
        ("country", "DE"),
        ("line1", street),
        ("postcode", "10115"),
        ("city", "Berlin"),
    ];
    visitor.sent("/account", &address).await;
    visitor
}

on_both! {
    async fn mails_lead_to_the_stores_own_address_whatever_host_was_asked(store: TestStore) {
        open_shop(store);
        let form = "do=sign_up&name=Anna&email=anna%40example.com&password=correct+horse";
        assert_eq!(sent_to(store, "evil.example", "/account/sign-up", form).await.status, 303);
        let form = "do=ask_password&email=anna%40example.com";
        assert_eq!(sent_to(store, "evil.example:80", "/account/password", form).await.status, 200);
        for words in ["/account/confirm?token=", "/account/password?token="] {
            let mail = mailed(store, words).await;
            assert!(mail.contains(&format!("http://shop.example.com{words}")) && !mail.contains("evil"), "{mail}");
        }
    }

    async fn nobody_is_led_to_another_site(store: TestStore) {
        open_shop(store);
        let mut eve = Visitor::of(store);
        let places = [
            "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "https:evil.example", "https://evil.example",
            "HTTPS://evil.example", "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "%2f%2fevil.example", "/%0d%0alocation:x",
            "/\t/evil.example", " //evil.example", "\u{0}//evil.example", "/\r\nx: y", "evil.example", "@evil.example", "/@evil.example/..//x:80#@",
        ];
        for (at, place) in places.iter().enumerate() {
            // So many accounts one address makes, the rest signs in.
            let (kind, email) = if at < 5 { ("sign_up", format!("eve{at}@example.com")) } else { ("sign_in", "eve0@example.com".to_owned()) };
            let form = [("do", kind), ("name", "Eve"), ("email", email.as_str()), ("password", "correct horse"), ("next", place)];
            let path = if at < 5 { "/account/sign-up" } else { "/account" };
            let answer = eve.post(path, &form).await;
            assert_eq!(answer.status, 303, "{place:?}: {}", answer.text());
            let to = answer.header("location").unwrap();
            assert!(to == "/account" || to == "/%0d%0alocation:x" || !to.contains("evil"), "{place:?} leads to {to:?}");
            assert!(to.starts_with('/') && !to.starts_with("//") && !to.contains(['\\', '\t', '\r', '\n']), "{place:?} leads to {to:?}");
            eve.sent("/account", &[("do", "sign_out")]).await;
        }
        let page = eve.page("/account?next=//evil.example").await;
        assert!(!page.contains("evil.example"), "{page}");
        // An address that is written otherwise leads to where the page is, and to no host.
        for path in ["//Trail-Jacket", "//evil.example/Trail-Jacket", "/Trail-Jacket/", "//evil.example//", "/%2f%2fevil.example", "/\\evil.example", "/%5cevil.example"] {
            let answer = eve.get(path).await;
            let to = answer.header("location").unwrap_or("/trail-jacket");
            assert_eq!(to, "/trail-jacket", "{path}: {}", answer.status);
        }
    }

    async fn other_peoples_rows_are_as_if_they_were_not_there(store: TestStore) {
        let ways = open_shop(store);
        let mut anna = customer(store, "anna", "Hidden Lane 7").await;
        let mut eve = customer(store, "eve", "Main Street 1").await;
        let hers = counted(store, "select id from addresses where line1 = 'Hidden Lane 7'").to_string();
        eve.add(ways.shop.small, "1").await;
        for address in [hers.as_str(), "-1", "0", "1e3", "9223372036854775808", "x"] {
            let form = [("do", "contact"), ("address_id", address), ("country", "DE")];
            let page = eve.refused("/checkout", &form).await;
            assert!(!page.contains("Hidden Lane"), "{address}: {page}");
            eve.post("/account", &[("do", "remove_address"), ("address", address)]).await;
        }
        assert_eq!(counted(store, "select count(*) as id from addresses where deleted is null"), 2);
        assert!(!eve.post("/account", &[("do", "export")]).await.text().contains("Hidden Lane"));
        // A line of the own cart takes no odd quantity, and another's line none at all.
        let mine = counted(store, "select id from cart_lines");
        for quantity in ["-1", "4", "99999999999999999999", "1.5", "1e1", "0x1", "-9223372036854775808", "٣"] {
            eve.refused("/cart", &[("do", "set"), (&format!("quantity_{mine}"), quantity)]).await;
        }
        assert_eq!(counted(store, "select quantity as id from cart_lines"), 1);
        assert_eq!(anna.post("/cart", &[("do", "set"), (&format!("quantity_{mine}"), "2")]).await.status, 422);
        // The order of another, by its number, its page's word cut short, and its payment's.
        anna.add(ways.shop.small, "1").await;
        let summary = anna.check_out("anna@example.com", &ways).await;
        let bank = anna.place(&summary).await.header("location").unwrap().to_owned();
        let order = anna.sent(&bank, &[("do", "failed")]).await;
        let number = told(store, "select number as it from orders");
        for guess in [number.as_str(), &order["/order/".len()..order.len() - 1], &order["/order/".len()..].to_lowercase(), "00000000000000000000000000000000000000000000"] {
            for form in [&[("do", "cancel")][..], &[("do", "pay")], &[("do", "again")]] {
                let answer = eve.post(&format!("/order/{guess}"), form).await;
                assert_eq!(answer.status, 404, "{guess} {form:?}: {}", answer.text());
            }
        }
        for guess in ["1", &number, &bank[..bank.len() - 1]] {
            let path = if guess.starts_with('/') { guess.to_owned() } else { format!("/core/pay/test/page/{guess}") };
            assert_eq!(eve.post(&path, &[("do", "paid")]).await.status, 404, "{path}");
        }
        assert_eq!(told(store, "select pay as it from orders"), "kNone");
        assert!(!eve.page("/account").await.contains(&order));
        // Nor is a price what a form says, at whatever step.
        for (name, value) in [("total", "1"), ("price", "0"), ("amount", "-5"), ("discount", "100"), ("shipping_cost", "0"), ("customer_id", "1")] {
            let summary = eve.check_out("eve@example.com", &ways).await;
            let (cart, seen) = (crate::visitor::hidden(&summary, "cart"), crate::visitor::hidden(&summary, "seen"));
            let answer = eve.post("/checkout", &[("do", "place"), ("cart", &cart), ("seen", &seen), (name, value)]).await;
            assert_eq!(answer.status, 303, "{name}");
            let sql = "select count(*) as id from orders where total <> goods + shipping or total < 8990";
            assert_eq!(counted(store, sql), 0, "{name}");
            write(store, |tx| tx.run("update stock set on_hand = 50 where on_hand > 0", &[]).map(|_| ()));
            eve.add(ways.shop.small, "1").await;
        }
    }

    async fn a_coupon_that_belongs_to_something_else_takes_nothing_off(store: TestStore) {
        let ways = open_shop(store);
        write(store, |tx| {
            coupon(tx, "GONE", "900000", None)?;
            coupon(tx, "LATER", "900000", None)?;
            coupon(tx, "OFF", "900000", None)?;
            coupon(tx, "LAMPS", "900000", None)?;
            let on = |name: &str, set: &str| format!("update promotions set {set} where name = '{name}'");
            tx.run(&on("GONE", "valid_until = '2026-01-01T00:00:00Z'"), &[])?;
            tx.run(&on("LATER", "valid_from = '2030-01-01T00:00:00Z'"), &[])?;
            tx.run(&on("OFF", "enabled = false"), &[])?;
            let lamps = format!("conditions = '{{\"products\": [{}]}}'", ways.shop.lamp);
            tx.run(&on("LAMPS", &lamps), &[]).map(|_| ())
        });
        let mut eve = Visitor::of(store);
        eve.add(ways.shop.small, "1").await;
        for code in ["GONE", "LATER", "OFF", "", " ", "TEN TEN", "' or '1'='1", "%", "_EN", &"X".repeat(5000)] {
            let answer = eve.post("/cart", &[("do", "coupon"), ("code", code)]).await;
            assert!(answer.status == 422, "{code}: {} {:?}", answer.status, answer.header("location"));
        }
        // That of other goods stays in the cart and does nothing; one is not taken twice.
        eve.post("/cart", &[("do", "coupon"), ("code", "LAMPS")]).await;
        for _ in 0..3 {
            eve.post("/cart", &[("do", "coupon"), ("code", "ten")]).await;
        }
        let summary = eve.check_out("eve@example.com", &ways).await;
        eve.place(&summary).await;
        assert_eq!(counted(store, "select discount as id from orders"), 899);
    }

    async fn what_is_too_much_is_turned_away(store: TestStore) {
        open_shop(store);
        let path = "/contact";
        let large = format!("name=Eve&email=eve%40example.com&text={}", "x".repeat(3 << 20));
        let answer = sent_to(store, "shop.example.com", path, &large).await;
        assert_eq!(answer.status, 413, "{}", answer.text());
        let many = (0..600).map(|at| format!("f{at}=1")).collect::<Vec<_>>().join("&");
        assert_eq!(sent_to(store, "shop.example.com", path, &many).await.status, 400);
        let request = "POST /contact HTTP/1.1\r\nhost: shop.example.com\r\nconnection: close\r\n\
                       content-type: multipart/form-data; boundary=b\r\ncontent-length: 60\r\n\r\n\
                       --b\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--\r\n";
        assert_eq!(raw(store, request.as_bytes()).await.status, 415);
        let mut eve = Visitor::of(store);
        let odd = [("name[]", "Eve"), ("name[x][y]", "Eve"), ("__proto__", "1"), ("constructor", "1"), ("email", "eve@example.com"), ("text", "Hello you")];
        assert!([303, 422].contains(&eve.post(path, &odd).await.status));
        let long = format!("/search?q={}", "a".repeat(20_000));
        assert!([200, 400, 414, 431].contains(&eve.get(&long).await.status));
        assert_eq!(counted(store, "select count(*) as id from events where key = 'kUnitFailed'"), 0);
    }
}
