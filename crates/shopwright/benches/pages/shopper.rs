//! A shopper who buys: cart, address, ways to send and pay, the order.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::client::{Answer, Line};

/// What a shopper needs to know of the store.
#[derive(Clone)]
pub struct Ways {
    pub shipping: i64,
    pub payment: i64,
}

/// A shopper without JavaScript.
pub struct Shopper<'a> {
    line: &'a mut Line,
    cookies: BTreeMap<String, String>,
}

/// How long each step of a purchase took.
pub struct Purchase {
    pub add: Duration,
    pub cart: Duration,
    pub contact: Duration,
    pub summary: Duration,
    pub place: Duration,
}

impl<'a> Shopper<'a> {
    pub fn new(line: &'a mut Line) -> Self {
        Self { line, cookies: BTreeMap::new() }
    }

    async fn ask(&mut self, path: &str, form: Option<&str>, status: u16) -> (Duration, Answer) {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let asked = Instant::now();
        let answer = self.line.visit(path, &cookies.join("; "), form).await;
        let took = asked.elapsed();
        assert_eq!(answer.status, status, "{path} {form:?}: {}", answer.text());
        for cookie in answer.header("set-cookie") {
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        (took, answer)
    }

    /// Puts a variant into the cart.
    pub async fn add(&mut self, variant: i64) -> Duration {
        self.ask("/cart", Some(&format!("do=add&variant={variant}&quantity=1")), 303).await.0
    }

    /// A page of one's own.
    pub async fn page(&mut self, path: &str) -> (Duration, String) {
        let (took, answer) = self.ask(path, None, 200).await;
        (took, answer.text())
    }

    /// Buys a variant.
    pub async fn buy(&mut self, variant: i64, ways: &Ways) -> Purchase {
        let add = self.add(variant).await;
        let (cart, _) = self.page("/cart").await;
        let contact = "do=contact&email=anna%40example.com&phone=%2B370600&name=Anna&country=LT\
                       &line1=Street+1&postcode=01100&city=Vilnius";
        let (contact, _) = self.ask("/checkout", Some(contact), 303).await;
        let methods = format!("do=methods&shipping={}&payment={}", ways.shipping, ways.payment);
        self.ask("/checkout", Some(&methods), 303).await;
        let (summary, page) = self.page("/checkout?step=summary").await;
        let place = format!("do=place&cart={}&seen={}", hidden(&page, "cart"), hidden(&page, "seen"));
        let (place, _) = self.ask("/checkout", Some(&place), 303).await;
        Purchase { add, cart, contact, summary, place }
    }
}

/// The value of a hidden field of a page.
fn hidden(page: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
    rest.split('"').next().unwrap().to_owned()
}
