//! A shopper with a browser that knows cookies and forms and no JavaScript, and a shop where they can buy.

use std::collections::BTreeMap;

use db::{DbError, Tx, Value, rows};
use shop::text::folded;

use crate::client::{Answer, Line};
use crate::goods::{Shop, fill, lay_files, number, write};
use crate::test_store::TestStore;

/// A shopper.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) port: u16,
    pub(crate) cookies: BTreeMap<String, String>,
    pub(crate) headers: String,
}

/// A text as it stands in a form.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

impl Visitor {
    pub(crate) fn of(store: &TestStore) -> Self {
        Self::at(store.port())
    }

    pub(crate) fn at(port: u16) -> Self {
        Self { port, cookies: BTreeMap::new(), headers: String::new() }
    }

    async fn ask(&mut self, method: &str, path: &str, form: Option<String>) -> Answer {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: shop.example.com\r\nconnection: close\r\n{}",
            self.headers
        );
        if !cookies.is_empty() {
            head.push_str(&format!("cookie: {}\r\n", cookies.join("; ")));
        }
        let body = form.unwrap_or_default();
        if method == "POST" {
            head.push_str(&format!(
                "content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n",
                body.len()
            ));
        }
        let mut line = Line::to(("127.0.0.1", self.port)).await;
        let answer = line.send(format!("{head}\r\n{body}").as_bytes()).await;
        for (name, value) in &answer.headers {
            if name == "set-cookie" {
                self.keep(value);
            }
        }
        answer
    }

    fn keep(&mut self, cookie: &str) {
        let (pair, rules) = cookie.split_once(';').unwrap();
        let (name, value) = pair.split_once('=').unwrap();
        assert!(
            rules.contains("HttpOnly") && rules.contains("SameSite=Lax") && rules.contains("Path=/"),
            "{cookie}"
        );
        if value.is_empty() {
            self.cookies.remove(name);
        } else {
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.ask("GET", path, None).await
    }

    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        self.ask("POST", path, Some(form.join("&"))).await
    }

    /// A page that is there.
    pub(crate) async fn page(&mut self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {:?} {}", answer.header("location"), answer.text());
        answer.text()
    }

    /// Sends a form that is taken; where it leads.
    pub(crate) async fn sent(&mut self, path: &str, fields: &[(&str, &str)]) -> String {
        let answer = self.post(path, fields).await;
        assert_eq!(answer.status, 303, "{path} {fields:?}: {}", answer.text());
        answer.header("location").unwrap().to_owned()
    }

    /// Sends a form that is not taken; the page that says why.
    pub(crate) async fn refused(&mut self, path: &str, fields: &[(&str, &str)]) -> String {
        let answer = self.post(path, fields).await;
        assert_eq!(
            answer.status,
            422,
            "{path} {fields:?}: {:?} {}",
            answer.header("location"),
            answer.text()
        );
        answer.text()
    }

    pub(crate) async fn add(&mut self, variant: i64, quantity: &str) -> Answer {
        self.post("/cart", &[("do", "add"), ("variant", &variant.to_string()), ("quantity", quantity)]).await
    }

    /// From a filled cart to the summary.
    pub(crate) async fn check_out(&mut self, email: &str, store: &Ways) -> String {
        let contact = [
            ("do", "contact"),
            ("email", email),
            ("phone", "+49 30 1"),
            ("name", "Anna Blum"),
            ("country", "DE"),
            ("line1", "Street 1"),
            ("postcode", "10115"),
            ("city", "Berlin"),
        ];
        assert_eq!(self.sent("/checkout", &contact).await, "/checkout?step=methods");
        let methods =
            [("do", "methods"), ("shipping", store.post.as_str()), ("payment", store.test.as_str())];
        assert_eq!(self.sent("/checkout", &methods).await, "/checkout?step=summary");
        self.page("/checkout").await
    }

    /// Confirms a summary.
    pub(crate) async fn place(&mut self, summary: &str) -> Answer {
        let (cart, seen) = (hidden(summary, "cart"), hidden(summary, "seen"));
        self.post("/checkout", &[("do", "place"), ("cart", &cart), ("seen", &seen)]).await
    }
}

/// The value of a hidden field of a page.
pub(crate) fn hidden(page: &str, name: &str) -> String {
    let begin = format!("name=\"{name}\" value=\"");
    let rest = page.split_once(&begin).unwrap_or_else(|| panic!("no field {name}: {page}")).1;
    rest.split('"').next().unwrap().to_owned()
}

/// How things are sent and paid in the shop.
pub(crate) struct Ways {
    pub(crate) shop: Shop,
    pub(crate) post: String,
    pub(crate) cash: String,
    pub(crate) test: String,
}

/// A shop where one can buy: goods, taxes, ways to send and to pay, a coupon.
pub(crate) fn open_shop(store: &TestStore) -> Ways {
    lay_files(store);
    let shop = fill(store);
    write(store, |tx| {
        let zone = rows::insert(tx, "zones", &[("skey", "eu".into()), ("name", "EU".into())])?;
        rows::insert(tx, "zone_places", &[("zone_id", zone.into()), ("country", "DE".into())])?;
        let class = number(tx, "select id from tax_classes where skey = 'kStandard'")?;
        let rate: [(&str, Value); 4] = [
            ("zone_id", zone.into()),
            ("tax_class_id", class.into()),
            ("name", "VAT".into()),
            ("rate_ppm", 200_000.into()),
        ];
        rows::insert(tx, "tax_rates", &rate)?;
        let post = rows::insert(tx, "shipping_methods", &[("skey", "post".into()), ("name", "Post".into())])?;
        let cost: [(&str, Value); 5] = [
            ("method_id", post.into()),
            ("currency", "EUR".into()),
            ("basis", "kFlat".into()),
            ("amount", 490.into()),
            ("free_from", 20_000.into()),
        ];
        rows::insert(tx, "shipping_rates", &cost)?;
        way_to_pay(tx, "transfer", "Bank transfer", 0)?;
        let cash = way_to_pay(tx, "cash", "Cash on delivery", 250)?;
        let test = way_to_pay(tx, "test", "Test payment", 0)?;
        coupon(tx, "TEN", "100000", None)?;
        let text = |id: i64| id.to_string();
        Ok(Ways { shop, post: text(post), cash: text(cash), test: text(test) })
    })
}

fn way_to_pay(tx: &mut Tx, provider: &str, name: &str, fee: i64) -> Result<i64, DbError> {
    let values: [(&str, Value); 4] = [
        ("skey", provider.into()),
        ("name", name.into()),
        ("provider", provider.into()),
        ("fee", fee.into()),
    ];
    rows::insert(tx, "payment_methods", &values)
}

/// A coupon that takes so many millionths off, so many times.
pub(crate) fn coupon(tx: &mut Tx, code: &str, rate: &str, limit: Option<i64>) -> Result<i64, DbError> {
    let promotion: [(&str, Value); 4] = [
        ("name", code.into()),
        ("action", "kPercent".into()),
        ("value", rate.into()),
        ("coupon_only", true.into()),
    ];
    let promotion = rows::insert(tx, "promotions", &promotion)?;
    let values: [(&str, Value); 4] = [
        ("promotion_id", promotion.into()),
        ("code", code.into()),
        ("code_folded", folded(code).into()),
        ("usage_limit", limit.into()),
    ];
    rows::insert(tx, "coupons", &values)
}

/// What a statement's first row says, as text.
pub(crate) fn told(store: &TestStore, sql: &str) -> String {
    let row = store.db.read(|tx| tx.row(sql, &[])).unwrap();
    row.map_or_else(String::new, |row| row.get::<String>("it").unwrap())
}

/// The number that a statement finds.
pub(crate) fn counted(store: &TestStore, sql: &str) -> i64 {
    store.db.read(|tx| number(tx, sql)).unwrap()
}

/// The mail that holds these words, as it was laid into the store's folder of mails.
pub(crate) async fn mailed(store: &TestStore, words: &str) -> String {
    let started = std::time::Instant::now();
    loop {
        let folder = std::fs::read_dir(store.root().join("core/mail"));
        let files = folder
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|file| std::fs::read_to_string(file.path()).ok());
        for letter in files {
            // Long lines are broken by `=`, and `=` itself is written as `=3D`.
            let plain = letter.replace("=\r\n", "").replace("=3D", "=");
            if plain.contains(words) {
                return plain;
            }
        }
        assert!(started.elapsed().as_secs() < 60, "no mail says {words}");
        tokio::task::yield_now().await;
    }
}
