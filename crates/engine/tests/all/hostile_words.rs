//! Whatever anybody writes into any column with words does nothing: on no page, in no mail, in no structured data.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use db::schema::{self, Words};
use db::{listing, rows, slugs, texts};
use engine::settings::Settings;
use engine::shopping::staff::{AnswerReturn, Note, Pieces, Ship, Staff};
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use crate::goods::{number, write};
use crate::test_store::{NOON, TestStore, on_both};
use crate::units::log;
use crate::visitor::{Visitor, Ways, counted, open_shop};

/// Ends elements, attributes, scripts, comments and headers; is a template; turns the direction of text.
const EVIL: &str = "</title></textarea></script><script>alert(1)</script><img src=x onerror=alert(2)>\"' onfocus=alert(3) x='-->\
                    {{ 7*7 }}{% raw %}${7*7}\r\nBcc: evil@example.com\r\n\u{202e}\u{2066}\u{200f}\u{f8ff}\u{2028}";
/// What must be nowhere in HTML; `<script>` of our own has a type.
const BAD: [&str; 8] =
    ["<script>", "<img src=x", "alert(2)>", "{{ 7*7 }}${49}", "\u{202e}", "\u{2066}", "\u{200f}", "\u{f8ff}"];
/// Columns that are no words for visitors although people write them: addresses, logins, keys of programs, JSON.
const OTHERWISE: [&str; 12] = [
    "slugs.path",
    "menu_items.url",
    "brands.site",
    "users.login",
    "customers.email",
    "customers.email_folded",
    "orders.email",
    "orders.email_folded",
    "carts.email",
    "carts.address",
    "carts.billing_address",
    "outbox.address",
];

/// Writes the evil into every row of every column with words. Which columns took it.
fn poison(store: &TestStore) -> BTreeSet<String> {
    let mut taken = BTreeSet::new();
    for table in schema::tables() {
        for column in table.columns().filter(|column| column.words != Words::None) {
            let name = format!("{}.{}", table.name, column.name);
            if OTHERWISE.contains(&name.as_str()) {
                continue;
            }
            // Where it has to be unique, with the row's number behind it.
            let is_set = ["", " || id"].iter().any(|number| {
                let sql = format!("update {} set {} = :evil{number}", table.name, column.name);
                store.db.write(|tx| tx.run(&sql, &[("evil", EVIL.into())])).is_ok()
            });
            if is_set {
                taken.insert(name);
            }
        }
    }
    let address = json!({"name": EVIL, "company": EVIL, "country": "DE", "region": EVIL, "city": EVIL, "postcode": EVIL, "line1": EVIL, "line2": EVIL});
    write(store, |tx| {
        let address = address.to_string();
        tx.run("update carts set address = :it, billing_address = :it", &[("it", address.into())])?;
        tx.run("update menu_items set url = 'javascript:alert(1)' where entity is null", &[])?;
        tx.run("update brands set site = 'javascript:alert(1)'", &[])?;
        listing::reindex_all(tx, NOON.parse().unwrap())
    });
    taken
}

/// A brand, a text page, a menu, a way to fetch goods, a second language, a picture: what the small shop lacks.
fn complete(store: &TestStore, ways: &Ways) {
    let now: Timestamp = NOON.parse().unwrap();
    write(store, |tx| {
        let brand = rows::insert(tx, "brands", &[("name", "B".into()), ("name_folded", "b".into())])?;
        slugs::set(tx, "brands", brand, "en", "brand/b", now)?;
        tx.run("update products set brand_id = :brand", &[("brand", brand.into())])?;
        let about = rows::insert(
            tx,
            "pages",
            &[("skey", "delivery".into()), ("name", "D".into()), ("text", "<p>T</p>".into())],
        )?;
        slugs::set(tx, "pages", about, "en", "delivery", now)?;
        let menu = rows::insert(tx, "menus", &[("skey", "footer".into()), ("name", "Foot".into())])?;
        let item: [(&str, db::Value); 4] = [
            ("menu_id", menu.into()),
            ("name", "".into()),
            ("entity", "pages".into()),
            ("elem_id", about.into()),
        ];
        rows::insert(tx, "menu_items", &item)?;
        let typed: [(&str, db::Value); 3] =
            [("menu_id", menu.into()), ("name", "Typed".into()), ("url", "/x".into())];
        rows::insert(tx, "menu_items", &typed)?;
        let fetch: [(&str, db::Value); 3] =
            [("skey", "fetch".into()), ("name", "Fetch".into()), ("pickup", true.into())];
        let fetch = rows::insert(tx, "shipping_methods", &fetch)?;
        let rate: [(&str, db::Value); 4] = [
            ("method_id", fetch.into()),
            ("currency", "EUR".into()),
            ("basis", "kFlat".into()),
            ("amount", 0.into()),
        ];
        rows::insert(tx, "shipping_rates", &rate)?;
        tx.run("update locations set pickup = true", &[])?;
        let outdoor = number(tx, "select id from categories where name = 'Outdoor'")?;
        for (entity, id) in
            [("products", ways.shop.jacket), ("categories", outdoor), ("brands", brand), ("pages", about)]
        {
            for language in ["en", "ru"] {
                for field in ["name", "text", "short", "seo_title", "seo_description"] {
                    texts::set(tx, entity, id, language, field, "x", now)?;
                }
            }
            let file: [(&str, db::Value); 8] = [
                ("entity", entity.into()),
                ("elem_id", id.into()),
                ("real_name", "a.png".into()),
                ("stored_name", format!("{entity}.png").into()),
                ("mime", "image/png".into()),
                ("bytes", 1.into()),
                ("sha256", "".into()),
                ("alt", "x".into()),
            ];
            rows::insert(tx, "files", &file)?;
        }
        tx.run("update stock set on_hand = 50", &[])?;
        tx.run("update variants set mpn = 'm' || id", &[])?;
        Ok(())
    });
}

/// The parts of a letter: its head in lines, then each body as it is read, HTML or not.
fn opened(letter: &str) -> (String, Vec<(bool, String)>) {
    let (head, rest) = letter.split_once("\r\n\r\n").unwrap();
    let boundary = head.split_once("boundary=\"").unwrap().1.split('"').next().unwrap();
    let mark = format!("--{boundary}");
    let parts = rest.split(&mark).filter(|part| part.contains("\r\n\r\n"));
    let bodies = parts.map(|part| {
        let (head, body) = part.split_once("\r\n\r\n").unwrap();
        let bytes = if head.contains("base64") {
            STANDARD.decode(body.split_whitespace().collect::<String>()).unwrap()
        } else if head.contains("quoted-printable") {
            unquoted(body)
        } else {
            body.as_bytes().to_vec()
        };
        (head.contains("text/html"), String::from_utf8(bytes).unwrap())
    });
    (head.to_owned(), bodies.collect())
}

fn unquoted(text: &str) -> Vec<u8> {
    let joined = text.replace("=\r\n", "");
    let mut out = Vec::new();
    let mut rest = joined.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'=', [high, low, tail @ ..]) => {
                let digits = String::from_utf8(vec![*high, *low]).unwrap();
                out.push(u8::from_str_radix(&digits, 16).unwrap());
                rest = tail;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

fn staff<T>(store: &TestStore, work: impl FnOnce(&Staff<'_>) -> T) -> T {
    let settings = Settings::read(store.root()).unwrap();
    let user = store.id("irina");
    store.db.with(|db| work(&Staff::new(db, &settings, Some(user), NOON.parse().unwrap())))
}

/// An element's name and its attributes, as a browser reads them. What stands in scripts is no element.
fn elements(html: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        rest = after;
        if !rest.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            continue;
        }
        let end = rest.find(|letter: char| letter.is_whitespace() || "/>".contains(letter)).unwrap();
        let name = rest[..end].to_lowercase();
        rest = &rest[end..];
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
            if let Some(after) = rest.strip_prefix('>') {
                rest = after;
                break;
            }
            let end = rest.find(|letter: char| letter.is_whitespace() || "=/>".contains(letter)).unwrap();
            let attribute = rest[..end].to_lowercase();
            rest = rest[end..].trim_start();
            let mut value = "";
            if let Some(after) = rest.strip_prefix('=') {
                let after = after.trim_start();
                (value, rest) = match after.chars().next() {
                    Some(quote @ ('"' | '\'')) => after[1..].split_once(quote).unwrap(),
                    _ => after.split_at(
                        after.find(|letter: char| letter.is_whitespace() || letter == '>').unwrap(),
                    ),
                };
            }
            attributes.push((attribute, value.to_lowercase()));
        }
        if name == "script" {
            rest = rest.split_once("</script>").unwrap().1;
        }
        found.push((name, attributes));
    }
    found
}

fn assert_inert(what: &str, html: &str) {
    for (name, attributes) in elements(html) {
        assert!(
            !["iframe", "object", "embed", "base", "frame", "template", "applet"].contains(&name.as_str()),
            "{what}: <{name}>"
        );
        let of = |wanted: &str| {
            attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
        };
        if name == "script" {
            let own =
                of("type") == Some("module") && of("src").is_some_and(|src| src.starts_with("/statics/"));
            assert!(own || of("type") == Some("application/ld+json"), "{what}: {attributes:?}");
        }
        for (attribute, value) in &attributes {
            assert!(
                !attribute.starts_with("on") && attribute != "srcdoc" && attribute != "http-equiv",
                "{what}: <{name} {attribute}>"
            );
            let is_address = ["href", "src", "action", "formaction", "poster", "data-suggest"]
                .contains(&attribute.as_str());
            let leads_on = ["/", "#", "?", "http://", "https://", "mailto:"]
                .iter()
                .any(|start| value.starts_with(start));
            assert!(
                !is_address || (leads_on && !value.starts_with("//")),
                "{what}: <{name} {attribute}={value:?}>"
            );
        }
    }
    for bad in BAD {
        let at = html.find(bad).map(|at| {
            let from = html[..at].char_indices().rev().nth(80).map_or(0, |(at, _)| at);
            html[from..].chars().take(240).collect::<String>()
        });
        assert!(at.is_none(), "{what}: {bad:?} in {at:?}");
    }
    for data in html.split("<script type=\"application/ld+json\">").skip(1) {
        let data: Json = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
        assert!(data["@type"].is_string(), "{what}: {data}");
    }
}

/// Sees a page whole and inert.
async fn seen(store: &TestStore, visitor: &mut Visitor, path: &str) -> String {
    let answer = visitor.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    let text = answer.text();
    assert!(text.contains("</html>"), "{path}: {text}");
    assert_inert(path, &text);
    assert_eq!(log(store), [] as [Json; 0], "{path}");
    text
}

/// All letters, once the outbox is empty.
async fn letters(store: &TestStore) -> Vec<(String, String)> {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let mut ticks = tokio::time::interval(std::time::Duration::from_millis(50));
    while counted(store, "select count(*) as id from outbox where state = 'kNew'") > 0 {
        ticks.tick().await;
        assert!(std::time::Instant::now() < end, "mails wait");
    }
    let files = std::fs::read_dir(store.root().join("core/mail")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files.map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap())).collect()
}

on_both! {
    async fn nothing_that_anybody_wrote_does_anything(store: TestStore) {
        store.settings(json!({"languages": ["ru"], "name": EVIL})).await;
        let ways = open_shop(store);
        complete(store, &ways);
        // A customer with an order that was sent and comes back, a kept address, and a cart in the checkout.
        let mut anna = Visitor::of(store);
        let account = [("do", "sign_up"), ("name", EVIL), ("email", "anna@example.com"), ("password", "correct horse")];
        anna.sent("/account/sign-up", &account).await;
        let address = [("do", "add_address"), ("name", "A"), ("country", "DE"), ("line1", "S 1"), ("postcode", "10115"), ("city", "B")];
        anna.sent("/account", &address).await;
        poison(store);
        anna.add(ways.shop.small, "2").await;
        let summary = anna.check_out("anna@example.com", &ways).await;
        let bank = anna.place(&summary).await.header("location").unwrap().to_owned();
        seen(store, &mut anna, &bank).await;
        let order = anna.sent(&bank, &[("do", "paid")]).await;
        let (id, line) = (counted(store, "select id from orders"), counted(store, "select id from order_lines"));
        poison(store);
        staff(store, |staff| {
            staff.ship(Ship { order: id, lines: &[Pieces { line, pieces: 1 }], carrier: EVIL, tracking: EVIL }).unwrap();
            staff.note(Note { order: id, text: EVIL, for_customer: true }).unwrap();
        });
        anna.sent(&order, &[("do", "return"), (&format!("quantity_{line}"), "1"), ("reason", EVIL)]).await;
        let asked = counted(store, "select id from returns");
        staff(store, |staff| staff.answer_return(AnswerReturn { id: asked, agreed: true, text: EVIL }).unwrap());
        anna.post("/account/password", &[("do", "ask_password"), ("email", "anna@example.com")]).await;
        anna.add(ways.shop.small, "1").await;
        anna.sent("/cart", &[("do", "coupon"), ("code", "TEN")]).await;
        anna.check_out("anna@example.com", &ways).await;
        let taken = poison(store);
        for column in [
            "products.name", "products.text", "brands.name", "pages.text", "menu_items.name", "categories.text", "texts.value", "files.alt",
            "reviews.text", "reviews.answer", "attribute_choices.name", "product_option_values.name", "variants.sku", "promotions.name",
            "coupons.code", "shipping_methods.text", "payment_methods.text", "locations.address", "countries.name", "orders.comment",
            "order_lines.name", "order_adjustments.name", "order_addresses.line1", "order_history.text", "shipments.tracking", "returns.answer",
            "customers.name", "addresses.line1", "tax_rates.name",
        ] {
            assert!(taken.contains(column), "{column} was not written: {taken:?}");
        }
        let mut eve = Visitor::of(store);
        for path in [
            "/", "/ru", "/outdoor", "/ru/pohod", "/outdoor/jackets", "/trail-jacket", "/ru/kurtka-tropa", "/brand/b", "/delivery",
            "/contact", "/account", "/account/sign-up", "/account/password", "/search?q=%3Cscript%3E", "/search?q=alert", "/cart",
        ] {
            seen(store, &mut eve, path).await;
        }
        let query = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
        for path in [format!("/outdoor?f_colour[]={query}&sort={query}"), format!("/trail-jacket?v={query}"), format!("/account?next={query}"), format!("/account/confirm?token={query}")] {
            seen(store, &mut eve, &path).await;
        }
        for path in ["/cart", "/checkout?step=contact", "/checkout?step=methods", "/checkout?step=summary", "/account", &order] {
            let page = seen(store, &mut anna, path).await;
            assert!(page.contains("&lt;script&gt;"), "{path} shows what was written: {page}");
        }
        let suggested = eve.get("/search/suggest?q=alert").await;
        assert!(suggested.header("content-type").unwrap().starts_with("application/json"));
        let robots = eve.get("/robots.txt").await.text() + &eve.get("/sitemap.xml").await.text();
        assert!(!robots.contains("<script"), "{robots}");
        let letters = letters(store).await;
        let kinds: BTreeSet<&str> = letters.iter().map(|(name, _)| name.rsplit('-').next().unwrap()).collect();
        for kind in ["confirm.eml", "placed.eml", "paid.eml", "sent.eml", "password.eml"] {
            assert!(kinds.contains(kind), "{kind}: {kinds:?}");
        }
        for (name, letter) in &letters {
            let (head, bodies) = opened(letter);
            let names: Vec<&str> = head.lines().filter(|line| !line.starts_with([' ', '\t']))
                .map(|line| line.split(':').next().unwrap()).collect();
            let known = ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type", "Auto-Submitted", "Content-Transfer-Encoding", "X-Auto-Response-Suppress"];
            assert!(names.iter().all(|name| known.contains(name)), "{name}: {head}");
            assert!(head.contains("To: anna@example.com\r\n"), "{name}: {head}");
            assert_eq!(bodies.iter().filter(|(is_html, _)| *is_html).count(), 1, "{name}: {letter}");
            for (is_html, body) in &bodies {
                if *is_html {
                    assert_inert(name, body);
                } else {
                    assert!(!body.contains(['\u{202e}', '\u{2066}', '\u{f8ff}']) && !body.contains("${49}"), "{name}: {body}");
                }
            }
        }
    }
}
