//! What shoppers may wish besides: an invoice to another address, fetching the goods, giving them back, a bank that is
//! another site.

use db::orders;
use jiff::Timestamp;

use crate::goods::write;
use crate::test_store::{TestStore, on_both};
use crate::visitor::{Visitor, counted, mailed, open_shop, told};

const CONTACT: [(&str, &str); 7] = [
    ("do", "contact"),
    ("email", "anna@example.com"),
    ("name", "Anna Blum"),
    ("country", "DE"),
    ("line1", "Street 1"),
    ("postcode", "10115"),
    ("city", "Berlin"),
];

/// The policy that a page goes out under.
async fn policy(visitor: &mut Visitor, path: &str) -> String {
    visitor.get(path).await.header("content-security-policy").unwrap().to_owned()
}

/// A way to fetch goods, with a second place to do so; their numbers.
fn pickup(store: &TestStore) -> (i64, i64) {
    write(store, |tx| {
        let fetch: [(&str, db::Value); 3] =
            [("skey", "fetch".into()), ("name", "Fetch it".into()), ("pickup", true.into())];
        let pickup = db::rows::insert(tx, "shipping_methods", &fetch)?;
        let rate: [(&str, db::Value); 4] = [
            ("method_id", pickup.into()),
            ("currency", "EUR".into()),
            ("basis", "kFlat".into()),
            ("amount", 0.into()),
        ];
        db::rows::insert(tx, "shipping_rates", &rate)?;
        let place: [(&str, db::Value); 5] = [
            ("skey", "north".into()),
            ("name", "North shop".into()),
            ("position", 9.into()),
            ("address", "North 7".into()),
            ("pickup", true.into()),
        ];
        Ok((pickup, db::rows::insert(tx, "locations", &place)?))
    })
}

on_both! {
    async fn an_invoice_goes_to_an_address_of_its_own(store: TestStore) {
        let ways = open_shop(store);
        let mut anna = Visitor::of(store);
        anna.add(ways.shop.small, "1").await;
        let mut form = CONTACT.to_vec();
        form.extend([("invoice_name", "Blum & Sons"), ("invoice_city", "Graz"), ("invoice_country", "AT"), ("invoice_tax_number", "ATU1")]);
        let wrong = anna.refused("/checkout", &form).await;
        assert!(wrong.contains("#f-invoice_line1") && wrong.contains("value=\"Blum &amp; Sons\""), "{wrong}");
        assert!(!wrong.contains("#f-line1") && wrong.contains("value=\"Berlin\""), "nothing typed is lost: {wrong}");
        form.extend([("invoice_line1", "Ring 2"), ("invoice_postcode", "8010")]);
        anna.sent("/checkout", &form).await;
        let again = anna.page("/checkout?step=contact").await;
        assert!(again.contains("value=\"Ring 2\"") && again.contains("value=\"ATU1\""), "{again}");
        let methods = [("do", "methods"), ("shipping", ways.post.as_str()), ("payment", ways.cash.as_str())];
        anna.sent("/checkout", &methods).await;
        let summary = anna.page("/checkout").await;
        assert!(summary.contains("Blum &amp; Sons") && summary.contains("Street 1"), "{summary}");
        let order = anna.place(&summary).await.header("location").unwrap().to_owned();
        let page = anna.page(&order).await;
        assert!(page.contains("Ring 2") && page.contains("ATU1") && page.contains("Berlin"), "{page}");
        assert_eq!(told(store, "select country as it from order_addresses where kind = 'kBilling'"), "AT");
        // The next cart begins without it; who empties the fields has none.
        anna.add(ways.shop.small, "1").await;
        anna.sent("/checkout", &form).await;
        anna.sent("/checkout", &CONTACT).await;
        assert!(!anna.page("/checkout?step=contact").await.contains("Ring 2"));
    }

    async fn goods_are_fetched_where_the_shopper_says(store: TestStore) {
        let ways = open_shop(store);
        let (pickup, second) = pickup(store);
        let (pickup, place) = (pickup.to_string(), second.to_string());
        let mut anna = Visitor::of(store);
        anna.add(ways.shop.small, "1").await;
        anna.sent("/checkout", &CONTACT).await;
        let form = [("do", "methods"), ("shipping", pickup.as_str()), ("payment", ways.cash.as_str()), ("comment", "by bike")];
        let asked = anna.refused("/checkout", &form).await;
        assert!(asked.contains("#f-place") && asked.contains("North 7") && asked.contains("by bike"), "{asked}");
        for wrong in ["0", "999999", "x"] {
            let mut form = form.to_vec();
            form.push(("place", wrong));
            anna.refused("/checkout", &form).await;
        }
        let mut form = form.to_vec();
        form.push(("place", &place));
        anna.sent("/checkout", &form).await;
        let summary = anna.page("/checkout").await;
        assert!(summary.contains("North shop, North 7"), "{summary}");
        let order = anna.place(&summary).await.header("location").unwrap().to_owned();
        assert!(anna.page(&order).await.contains("North shop"));
        assert_eq!(counted(store, "select location_id as id from orders"), second);
    }

    async fn who_comes_for_the_goods_is_asked_for_no_address(store: TestStore) {
        let ways = open_shop(store);
        let mut anna = Visitor::of(store);
        anna.add(ways.shop.small, "1").await;
        assert!(!anna.page("/checkout").await.contains("value=\"fetch\""), "nothing can be fetched here");
        let fetch = [("do", "contact"), ("address_id", "fetch"), ("email", "anna@example.com"), ("name", "Anna Blum")];
        let told_so = anna.refused("/checkout", &fetch).await;
        assert!(told_so.contains("#f-country"), "without a way to fetch there has to be an address: {told_so}");
        let (pickup, place) = pickup(store);
        write(store, |tx| {
            tx.run("update payment_methods set text = '<p>Pay <b>in coins</b> &amp; notes:</p><ul><li>here</li></ul>' where provider = 'cash'", &[])?;
            tx.run("update locations set country = 'DE'", &[]).map(|_| ())
        });
        let form = anna.page("/checkout").await;
        assert!(form.contains("value=\"fetch\"") && !form.contains("name=\"line1\" type=\"text\" value=\"\" maxlength=\"200\" autocomplete=\"address-line1\" required"), "{form}");
        let nobody = anna.refused("/checkout", &[("do", "contact"), ("address_id", "fetch"), ("email", "anna@example.com"), ("name", " ")]).await;
        assert!(nobody.contains("#f-name") && !nobody.contains("#f-line1"), "{nobody}");
        assert_eq!(anna.sent("/checkout", &fetch).await, "/checkout?step=methods");
        let methods = anna.page("/checkout").await;
        assert!(methods.contains("Fetch it") && !methods.contains(">Post<"), "nothing is sent without an address: {methods}");
        let (pickup, place) = (pickup.to_string(), place.to_string());
        let mut form = vec![("do", "methods"), ("shipping", ways.post.as_str()), ("payment", ways.cash.as_str()), ("place", place.as_str())];
        anna.refused("/checkout", &form).await;
        form[1].1 = pickup.as_str();
        assert_eq!(anna.sent("/checkout", &form).await, "/checkout?step=summary");
        let summary = anna.page("/checkout").await;
        assert!(summary.contains("Anna Blum") && summary.contains("North shop, North 7"), "{summary}");
        assert!(anna.page("/checkout?step=contact").await.contains("value=\"fetch\" checked"));
        let order = anna.place(&summary).await.header("location").unwrap().to_owned();
        assert!(anna.page(&order).await.contains("North shop"));
        assert_eq!(told(store, "select name || '|' || country || '|' || line1 || city as it from order_addresses"), "Anna Blum|DE|");
        assert!(counted(store, "select tax as id from orders") > 0, "taxes are those of where the goods lie");
        let mail = mailed(store, "Pay in coins & notes:").await;
        assert!(mail.contains("\r\n- here") && !mail.contains("Pay <b>in coins</b> &amp; notes:</p><ul><li>here</li></ul>\r\n\r\n1 x"), "{mail}");
        // Who wanted to fetch what cannot be fetched any more is asked where it goes.
        anna.add(ways.shop.small, "1").await;
        anna.sent("/checkout", &fetch).await;
        write(store, |tx| tx.run("update shipping_methods set enabled = false where pickup", &[]).map(|_| ()));
        assert!(anna.page("/checkout").await.contains("name=\"do\" value=\"contact\""));
        anna.sent("/checkout", &CONTACT).await;
        assert!(anna.page("/checkout").await.contains("Post"));
    }

    async fn goods_that_were_sent_can_be_given_back_once(store: TestStore) {
        let ways = open_shop(store);
        let mut anna = Visitor::of(store);
        anna.add(ways.shop.small, "2").await;
        let summary = anna.check_out("anna@example.com", &ways).await;
        let bank = anna.place(&summary).await.header("location").unwrap().to_owned();
        let order = anna.sent(&bank, &[("do", "paid")]).await;
        let line = counted(store, "select id from order_lines");
        let field = format!("quantity_{line}");
        let ask = |quantity: &'static str| [("do", "return"), (field.as_str(), quantity), ("reason", "too small")];
        assert!(!anna.page(&order).await.contains(&field));
        assert!(anna.refused(&order, &ask("1")).await.contains("cannot be done now"), "nothing was sent yet");
        let id = counted(store, "select id from orders");
        write(store, |tx| {
            orders::ship(tx, id, &[(line, 2)], "Post", "P1", None, Timestamp::now()).unwrap();
            Ok(())
        });
        assert!(anna.page(&order).await.contains(&field));
        for (quantity, words) in [("0", "how many of something"), ("3", "only 2 left"), ("-1", "only 2 left"), ("x", "no such thing")] {
            let told = anna.refused(&order, &ask(quantity)).await;
            assert!(told.contains(words) && told.contains("too small"), "{quantity}: {told}");
        }
        assert_eq!(counted(store, "select count(*) as id from returns"), 0, "what was refused leaves nothing");
        assert_eq!(anna.sent(&order, &ask("1")).await, order);
        let page = anna.page(&order).await;
        assert!(page.contains("You asked to give goods back") && !page.contains(&field), "{page}");
        assert!(anna.refused(&order, &ask("1")).await.contains("cannot be done now"), "one question at a time");
        assert_eq!(told(store, "select text as it from returns where state = 'kAsked'"), "too small");
        assert_eq!(counted(store, "select count(*) as id from events where key = 'kMessageNew'"), 1);
    }

    async fn only_pages_that_lead_to_a_bank_of_another_site_may_send_forms_there(store: TestStore) {
        let ways = open_shop(store);
        let mut anna = Visitor::of(store);
        anna.add(ways.shop.small, "1").await;
        let summary = anna.check_out("anna@example.com", &ways).await;
        assert!(policy(&mut anna, "/checkout").await.contains("form-action 'self';"), "no other site is needed");
        let set = |text: &'static str| {
            write(store, |tx| tx.run("update payment_methods set settings = :text where provider = 'test'", &[("text", text.into())]).map(|_| ()));
        };
        set("{\"site\": \"https://*; script-src *\"}");
        assert!(policy(&mut anna, "/checkout").await.contains("form-action 'self';"), "what is no site widens nothing");
        set("{\"site\": \"https://Pay.example.com/there\"}");
        assert!(policy(&mut anna, "/checkout").await.contains("form-action 'self' https://pay.example.com;"));
        for other in ["/", "/cart", "/account"] {
            assert!(policy(&mut anna, other).await.contains("form-action 'self';"), "{other}");
        }
        let bank = anna.place(&summary).await.header("location").unwrap().to_owned();
        let path = bank.strip_prefix("https://pay.example.com").unwrap().to_owned();
        let order = anna.sent(&path, &[("do", "failed")]).await;
        assert!(policy(&mut anna, &order).await.contains("https://pay.example.com"));
        assert!(anna.sent(&order, &[("do", "pay")]).await.starts_with("https://pay.example.com/core/pay/test/page/"));
        write(store, |tx| tx.run("update payment_methods set enabled = false where provider = 'test'", &[]).map(|_| ()));
        assert!(policy(&mut anna, &order).await.contains("form-action 'self';"), "it is not offered any more");
    }
}
