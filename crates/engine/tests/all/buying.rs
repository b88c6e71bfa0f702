//! Buying over HTTP without JavaScript: cart, coupon, checkout, payment, order page; and what must not work.

use crate::goods::write;
use crate::test_store::{TestStore, on_both};
use crate::visitor::{Visitor, counted, coupon, hidden, mailed, open_shop, told};

/// Whether what is promised is what reservations say.
fn assert_stock_agrees(store: &TestStore) {
    let wrong = counted(
        store,
        "select count(*) as id from stock s where s.reserved <> (select coalesce(sum(r.quantity), 0)
           from reservations r where r.variant_id = s.variant_id and r.location_id = s.location_id)",
    );
    assert_eq!(wrong, 0);
}

on_both! {
    async fn a_guest_buys_with_a_coupon_and_pays_by_the_test_provider(store: TestStore) {
        let ways = open_shop(store);
        let mut anna = Visitor::of(store);
        assert!(anna.page("/cart").await.contains("Your cart is empty"));
        assert!(anna.cookies.is_empty(), "who only looks gets no cookie");
        assert_eq!(anna.add(ways.shop.small, "2").await.header("location"), Some("/cart"));
        let cart = anna.page("/cart").await;
        for part in ["Trail jacket", "€89.90", "€179.80", "To the checkout"] {
            assert!(cart.contains(part), "{part}: {cart}");
        }
        anna.sent("/cart", &[("do", "coupon"), ("code", " ten ")]).await;
        let cart = anna.page("/cart").await;
        assert!(cart.contains("-€17.98") || cart.contains("−€17.98"), "{cart}");
        let summary = anna.check_out("anna@example.com", &ways).await;
        for part in ["Berlin", "€161.82", "€4.90", "€166.72", "€27.79", "Test payment"] {
            assert!(summary.contains(part), "{part}: {summary}");
        }
        let placed = anna.place(&summary).await;
        assert_eq!(placed.status, 303, "{}", placed.text());
        let bank = placed.header("location").unwrap().to_owned();
        assert!(bank.starts_with("/core/pay/test/"), "{bank}");
        assert_eq!(told(store, "select state as it from orders"), "kWait");
        assert_eq!(anna.page("/cart").await.matches("Your cart is empty").count(), 1);
        // The same form once more: the same order, the same payment.
        assert_eq!(anna.place(&summary).await.header("location"), Some(bank.as_str()));
        let page = anna.page(&bank).await;
        assert!(page.contains("€166.72") && page.contains("name=\"do\" value=\"paid\""), "{page}");
        let order = anna.sent(&bank, &[("do", "paid")]).await;
        let shown = anna.page(&order).await;
        for part in ["Order 1", "Placed", "paid", "€166.72", "Berlin", "Trail jacket"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(shown.contains("<meta name=\"robots\" content=\"noindex\">"));
        assert_eq!(anna.get(&order).await.header("cache-control"), Some("private, no-cache"));
        assert_eq!(counted(store, "select count(*) as id from orders where state = 'kNew' and pay = 'kPaid' and total = 16672"), 1);
        assert_eq!(counted(store, "select count(*) as id from coupons where used = 1"), 1);
        assert_eq!(counted(store, "select reserved as id from stock order by reserved desc limit 1"), 2);
        assert_stock_agrees(store);
        let mails = "select count(*) as id from outbox where address = 'anna@example.com'";
        assert_eq!(counted(store, mails), 2, "placed and paid");
        for event in ["kOrderNew", "kPaymentReceived"] {
            assert_eq!(counted(store, &format!("select count(*) as id from events where key = '{event}'")), 1);
        }
        // The bank tells again, and later something older: nothing is done twice.
        assert_eq!(anna.sent(&bank, &[("do", "failed")]).await, order);
        assert_eq!(counted(store, "select count(*) as id from payments where state = 'kPaid' and captured = 16672"), 1);
        assert_eq!(counted(store, mails), 2);
    }

    async fn what_a_form_says_of_prices_quantities_and_others_carts_counts_for_nothing(store: TestStore) {
        let ways = open_shop(store);
        let mut anna = Visitor::of(store);
        for quantity in ["-1", "0x10", "1.5", "1e3", "99999999999999999999", "9223372036854775807", "1000001", "abc", "-9223372036854775808"] {
            let answer = anna.add(ways.shop.small, quantity).await;
            assert_eq!(answer.status, 422, "{quantity}");
        }
        // Empty and nought are one, as a form without the field.
        for (variant, words) in [(ways.shop.large, "sold out"), (999_999, "not sold any more"), (-5, "not sold any more")] {
            let answer = anna.add(variant, "1").await;
            assert!(answer.status == 422 && answer.text().contains(words), "{variant}: {}", answer.text());
        }
        assert!(anna.add(ways.shop.small, "4").await.text().contains("only 3 left"));
        assert!(anna.cookies.is_empty() && store.count("carts") == 0, "nothing came of it");
        let tampered = [("do", "add"), ("variant", &ways.shop.small.to_string()), ("quantity", "1"), ("price", "1"), ("seen_price", "1"), ("total", "1")];
        anna.sent("/cart", &tampered).await;
        assert!(anna.page("/cart").await.contains("€89.90"));
        // Another visitor's cookie of a made-up word, and another's line.
        let mut eve = Visitor::of(store);
        eve.cookies.insert("cart".to_owned(), "made-up".to_owned());
        assert!(eve.page("/cart").await.contains("Your cart is empty"));
        let line = counted(store, "select id from cart_lines").to_string();
        assert_eq!(eve.post("/cart", &[("remove", &line)]).await.status, 422);
        eve.add(ways.shop.small, "1").await;
        assert_ne!(eve.cookies["cart"], "made-up", "a word that a visitor brings is nobody's");
        assert_eq!(eve.post("/cart", &[("remove", &line)]).await.status, 422);
        assert_eq!(eve.post("/cart", &[("do", "set"), (&format!("quantity_{line}"), "2")]).await.status, 422);
        assert_eq!(store.count("cart_lines"), 2);
        // A foreign coupon, one that is used up.
        assert!(eve.refused("/cart", &[("do", "coupon"), ("code", "NOPE' or 1=1 --")]).await.contains("no such code"));
        write(store, |tx| coupon(tx, "ONCE", "100000", Some(0)));
        assert!(eve.refused("/cart", &[("do", "coupon"), ("code", "once")]).await.contains("used up or over"));
        // A summary of another cart, one that was made up, and one that is old.
        let mine = anna.check_out("anna@example.com", &ways).await;
        let hers = eve.check_out("eve@example.com", &ways).await;
        let (cart, seen) = (hidden(&mine, "cart"), hidden(&mine, "seen"));
        assert!(eve.refused("/checkout", &[("do", "place"), ("cart", &cart), ("seen", &seen)]).await.contains("Something has changed"));
        assert!(eve.refused("/checkout", &[("do", "place"), ("cart", &cart), ("seen", "0")]).await.contains("Something has changed"));
        write(store, |tx| tx.run("update prices set amount = 9190, compare_at = null where amount = 8990", &[]));
        let asked = anna.place(&mine).await;
        assert!(asked.status == 422 && asked.text().contains("Something has changed") && asked.text().contains("€91.90"), "{}", asked.text());
        assert_eq!(store.count("orders"), 0);
        let summary = anna.page("/checkout").await;
        assert_eq!(anna.place(&summary).await.status, 303);
        assert_eq!(counted(store, "select total as id from orders"), 9190 + 490);
        let _ = hers;
        // An order is found by its word alone.
        for guess in ["1", "order:1", "cart:1", "", "%27", "..", &"x".repeat(5000)] {
            assert_eq!(eve.get(&format!("/order/{guess}")).await.status, 404, "{guess}");
        }
        assert_stock_agrees(store);
    }

    async fn what_changes_something_comes_by_a_form_of_this_store(store: TestStore) {
        let ways = open_shop(store);
        let mut anna = Visitor::of(store);
        anna.add(ways.shop.small, "1").await;
        let own = anna.clone();
        for header in ["origin: https://evil.example\r\n", "origin: null\r\n", "sec-fetch-site: cross-site\r\n", "sec-fetch-site: same-site\r\n"] {
            let mut forged = Visitor { headers: header.to_owned(), ..own.clone() };
            for path in ["/cart", "/checkout", "/account", "/core/pay/test/page/x"] {
                assert_eq!(forged.post(path, &[("do", "sign_out")]).await.status, 403, "{header} {path}");
            }
        }
        // A link does nothing, whatever it says.
        let path = format!("/cart?do=add&variant={}&quantity=1", ways.shop.small);
        assert_eq!(anna.get(&path).await.status, 200);
        assert_eq!(counted(store, "select quantity as id from cart_lines"), 1);
    }

    async fn an_account_signs_in_with_new_words_and_brings_its_cart(store: TestStore) {
        let ways = open_shop(store);
        let mut anna = Visitor::of(store);
        anna.cookies.insert("session".to_owned(), "fixed-by-eve".to_owned());
        let form = [("do", "sign_up"), ("name", "Anna <b>Blum"), ("email", "Anna@Example.com"), ("password", "correct horse")];
        assert!(anna.refused("/account/sign-up", &[("do", "sign_up"), ("email", "a@b.co"), ("password", "short")]).await.contains("at least 8"));
        assert_eq!(anna.sent("/account/sign-up", &form).await, "/account");
        assert_ne!(anna.cookies["session"], "fixed-by-eve");
        let first = anna.cookies["session"].clone();
        assert!(anna.page("/account").await.contains("Please confirm your address"));
        assert!(anna.refused("/account/sign-up", &[("do", "sign_up"), ("email", "anna@example.COM"), ("password", "correct horse")]).await.contains("already"));
        anna.sent("/account", &[("do", "sign_out")]).await;
        assert!(!anna.cookies.contains_key("session"));
        let mut old = Visitor::of(store);
        old.cookies.insert("session".to_owned(), first.clone());
        assert!(old.page("/account").await.contains("Forgot the password?"), "the word of a session that ended");
        // As a guest with a cart; then signed in with it.
        anna.add(ways.shop.small, "2").await;
        let guest = anna.cookies["cart"].clone();
        let wrong = anna.refused("/account", &[("do", "sign_in"), ("email", "anna@example.com"), ("password", "wrong horse")]).await;
        let nobody = anna.refused("/account", &[("do", "sign_in"), ("email", "nobody@example.com"), ("password", "wrong horse")]).await;
        assert!(wrong.contains("The address or the password is wrong") && nobody.contains("The address or the password is wrong"));
        let sign_in = |next: &'static str| [("do", "sign_in"), ("email", "anna@example.com"), ("password", "correct horse"), ("next", next)];
        for (next, goes) in [
            ("/checkout", "/checkout"), ("//evil.example", "/account"), ("https://evil.example", "/account"),
            ("/\\evil.example", "/account"), ("javascript:alert(1)", "/account"), ("/%0d%0ax:y", "/account"), ("\t//evil.example", "/account"),
        ] {
            assert_eq!(anna.sent("/account", &sign_in(next)).await, goes, "{next:?}");
        }
        assert_ne!(anna.cookies["session"], first);
        assert!(anna.page("/cart").await.contains("€179.80"));
        let mut eve = Visitor::of(store);
        eve.cookies.insert("cart".to_owned(), guest);
        assert!(eve.page("/cart").await.contains("Your cart is empty"), "the guest's word is worth nothing now");
        // A link of a mail: once, not for another host, and the guest's orders join.
        eve.headers = "x-forwarded-host: evil.example\r\n".to_owned();
        eve.post("/account/password", &[("do", "ask_password"), ("email", "anna@example.com")]).await;
        let told_same = eve.post("/account/password", &[("do", "ask_password"), ("email", "nobody@example.com")]).await;
        assert!(told_same.text().contains("the mail is on its way"));
        let mail = mailed(store, "/account/password?token=").await;
        let rest = mail.split("http://shop.example.com/account/password").nth(1).unwrap();
        let link: String = rest.chars().take_while(|letter| !letter.is_whitespace() && *letter != '"' && *letter != '<').collect();
        let link = format!("/account/password{link}");
        assert!(link.starts_with("/account/password?token=") && !mail.contains("evil"), "{mail}");
        let token = link.split('=').nth(1).unwrap().to_owned();
        let form = [("do", "set_password"), ("token", token.as_str()), ("password", "battery staple")];
        let mut other = Visitor::of(store);
        assert!(other.page(&link).await.contains(&token));
        assert_eq!(other.sent("/account/password", &form).await, "/account");
        assert!(other.refused("/account/password", &form).await.contains("This link is used or too old"));
        assert!(!other.page("/account").await.contains("Please confirm your address"));
        assert!(anna.page("/account").await.contains("Forgot the password?"), "other sessions end with the old password");
        assert_eq!(counted(store, "select count(*) as id from customer_tokens where kind = 'kPassword'"), 0);
        // The own data, and erasing it.
        let data = other.post("/account", &[("do", "export")]).await;
        assert!(data.header("content-disposition").unwrap().contains("my-data.json") && data.text().contains("Anna@Example.com"), "{}", data.text());
        other.refused("/account", &[("do", "erase"), ("password", "wrong")]).await;
        other.sent("/account", &[("do", "erase"), ("password", "battery staple")]).await;
        assert_eq!(counted(store, "select count(*) as id from customers where email <> '' or name <> ''"), 0);
        assert_eq!(store.count("customer_tokens"), 0);
        // Guessing gets slow: at the end it is refused whether it is right or not.
        let mut last = String::new();
        for _ in 0..12 {
            last = eve.refused("/account", &[("do", "sign_in"), ("email", "x@example.com"), ("password", "y")]).await;
        }
        assert!(last.contains("Too many attempts"), "{last}");
    }

    async fn no_field_of_a_checkout_does_anything_on_a_page(store: TestStore) {
        let ways = open_shop(store);
        let mut eve = Visitor::of(store);
        eve.add(ways.shop.small, "1").await;
        let evil = "\"><script>alert(1)</script>'{{ 7*7 }}{country}\u{202e}\u{2066}";
        let contact = [
            ("do", "contact"), ("email", "eve@example.com"), ("phone", evil), ("name", evil), ("company", evil), ("country", "DE"),
            ("line1", evil), ("line2", evil), ("postcode", evil), ("city", evil), ("region", evil),
        ];
        let wrong = eve.refused("/checkout", &[("do", "contact"), ("email", evil), ("name", evil), ("country", evil)]).await;
        assert_eq!(eve.sent("/checkout", &contact).await, "/checkout?step=methods");
        let methods = [("do", "methods"), ("shipping", ways.post.as_str()), ("payment", ways.cash.as_str()), ("comment", evil)];
        assert_eq!(eve.sent("/checkout", &methods).await, "/checkout?step=summary");
        let summary = eve.page("/checkout").await;
        let contact_page = eve.page("/checkout?step=contact").await;
        let methods_page = eve.page("/checkout?step=methods").await;
        let order = eve.place(&summary).await.header("location").unwrap().to_owned();
        let coupon = eve.refused("/cart", &[("do", "coupon"), ("code", evil)]).await;
        let order = eve.page(&order).await;
        for page in [&wrong, &summary, &contact_page, &methods_page, &order, &coupon] {
            for bad in ["<script>alert", "49{country}", "\u{202e}", "\u{2066}"] {
                assert!(!page.contains(bad), "{bad}: {page}");
            }
        }
        assert!(order.contains("&lt;script&gt;") && order.contains("{country}"), "{order}");
        assert!(order.contains("Cash on delivery"), "{order}");
        assert_eq!(told(store, "select state as it from orders"), "kNew", "cash needs no payment first");
    }
}
