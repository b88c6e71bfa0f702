//! Every page of the sample shop that the sitemap names, in both languages, as a search engine walks it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use testkit::{PATIENCE, Response, get, wait_for};

use crate::setup::store;

/// What stands between all pairs of these.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    text.split(start).skip(1).map(|rest| rest.split(end).next().unwrap()).collect()
}

fn page(url: &str) -> String {
    let answer = get(url).unwrap();
    assert_eq!(answer.status, 200, "{url}: {}", answer.text());
    answer.text()
}

/// A text that is there and says something.
fn said<'a>(data: &'a Value, field: &str) -> &'a str {
    let text = data[field].as_str().unwrap_or_default();
    assert!(!text.trim().is_empty(), "no {field}: {data}");
    text
}

/// What results for products ask of an offer.
fn is_offer(offer: &Value, site: &str) {
    assert_eq!(said(offer, "@type"), "Offer");
    let price = said(offer, "price");
    assert!(
        price.parse::<f64>().unwrap() > 0.0
            && price.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'),
        "{offer}"
    );
    assert!(said(offer, "priceCurrency").bytes().all(|byte| byte.is_ascii_uppercase()), "{offer}");
    let stock = said(offer, "availability").strip_prefix("https://schema.org/").unwrap();
    assert!(["InStock", "OutOfStock", "BackOrder", "PreOrder", "SoldOut"].contains(&stock), "{offer}");
    assert!(said(offer, "url").starts_with(site), "{offer}");
}

/// What they ask of a product: name, picture, offer; stars only where there are reviews, and reviews with an author.
fn is_product(data: &Value, site: &str, url: &str) {
    assert_eq!(data["@context"], "https://schema.org");
    said(data, "name");
    assert_eq!(said(data, "url"), url);
    let images = data["image"].as_array().unwrap_or_else(|| panic!("no picture: {data}"));
    assert!(
        !images.is_empty() && images.iter().all(|image| image.as_str().unwrap().starts_with(site)),
        "{data}"
    );
    match said(data, "@type") {
        "Product" => is_offer(&data["offers"], site),
        "ProductGroup" => {
            said(data, "productGroupID");
            let variants = data["hasVariant"].as_array().unwrap();
            assert!(variants.len() > 1, "{data}");
            for variant in variants {
                said(variant, "name");
                is_offer(&variant["offers"], site);
            }
        }
        other => panic!("{other}"),
    }
    let reviews = data["review"].as_array().map_or(0, Vec::len);
    match data.get("aggregateRating") {
        Some(rating) => {
            let stars: f64 = said(rating, "ratingValue").parse().unwrap();
            assert!((1.0..=5.0).contains(&stars), "{rating}");
            assert!(
                rating["reviewCount"].as_u64().unwrap() >= reviews as u64
                    && rating["reviewCount"] != json!(0),
                "{rating}"
            );
        }
        None => assert_eq!(reviews, 0, "{data}"),
    }
    for review in data["review"].as_array().into_iter().flatten() {
        said(&review["author"], "name");
        assert!((1..=5).contains(&review["reviewRating"]["ratingValue"].as_i64().unwrap()), "{review}");
    }
}

/// The structured data of a page; each is whole, and the way to the page ends with it.
fn structured(text: &str, url: &str) -> Vec<Value> {
    let parts = between(text, "<script type=\"application/ld+json\">", "</script>");
    let parts: Vec<Value> = parts.into_iter().map(|part| serde_json::from_str(part).unwrap()).collect();
    for crumbs in parts.iter().filter(|data| data["@type"] == "BreadcrumbList") {
        let steps = crumbs["itemListElement"].as_array().unwrap();
        for (step, at) in steps.iter().zip(1..) {
            assert_eq!(step["position"], json!(at), "{crumbs}");
            said(step, "name");
        }
        assert_eq!(steps.last().unwrap()["item"], url);
    }
    parts
}

fn is_hidden(answer: &Response) -> bool {
    answer.text().contains("<meta name=\"robots\" content=\"noindex\">")
}

#[test]
fn every_page_of_the_sitemap_says_what_search_engines_ask_for() {
    let store = store();
    store.config(|config| drop(config.insert("languages".to_owned(), json!(["ru"])))).unwrap();
    let trying = store.start("irina").unwrap();
    let site = trying.url().trim_end_matches('/').to_owned();
    // A store that is being tried gets its address when it has a port; the engine sees that soon.
    let own = format!("<link rel=\"canonical\" href=\"{site}/\">");
    wait_for("the store's address", PATIENCE, || page(&format!("{site}/")).contains(&own).then_some(()))
        .unwrap();
    let mut all = BTreeSet::new();
    for part in between(&page(&format!("{site}/sitemap.xml")), "<loc>", "</loc>") {
        all.extend(between(&page(part), "<loc>", "</loc>").into_iter().map(str::to_owned));
    }
    assert!(all.iter().all(|url| url.starts_with(&site)), "{all:?}");
    let mut languages: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut products = BTreeMap::from([("en", 0), ("ru", 0)]);
    for url in &all {
        let answer = get(url).unwrap();
        let text = answer.text();
        assert_eq!(answer.status, 200, "{url}");
        assert!(!is_hidden(&answer), "{url} is in the sitemap and hidden");
        assert_eq!(between(&text, "<link rel=\"canonical\" href=\"", "\""), [url.as_str()], "{url}");
        assert_eq!(text.matches("<h1").count(), 1, "{url}");
        assert!(!between(&text, "<title>", "</title>")[0].trim().is_empty(), "{url}");
        let language =
            if url == &format!("{site}/ru") || url.starts_with(&format!("{site}/ru/")) { "ru" } else { "en" };
        assert!(text.contains(&format!("<html lang=\"{language}\">")), "{url}");
        let pairs =
            between(&text, "hreflang=\"", "\">").into_iter().filter_map(|pair| pair.split_once("\" href=\""));
        languages.insert(url.clone(), pairs.map(|(code, url)| (code.to_owned(), url.to_owned())).collect());
        for data in structured(&text, url) {
            if data["@type"].as_str().unwrap().starts_with("Product") {
                is_product(&data, &site, url);
                *products.get_mut(language).unwrap() += 1;
            }
        }
    }
    let shown =
        store.cell("select count(*) from products where state = 'kShown' and deleted is null").unwrap();
    let shown: i32 = shown.parse().unwrap();
    assert!(shown > 150, "{shown}");
    assert_eq!(products, BTreeMap::from([("en", shown), ("ru", shown)]));
    // Each page names itself and the others, and these name it back.
    for (url, pairs) in &languages {
        assert!(pairs.len() >= 2, "{url} is in one language only: {pairs:?}");
        assert!(pairs.iter().any(|(code, own)| code != "x-default" && own == url), "{url}: {pairs:?}");
        for (code, other) in pairs {
            assert_eq!(languages.get(other), Some(pairs), "{url} names {other} for {code}");
        }
    }
    for path in [
        "/cart",
        "/account",
        "/account/sign-up",
        "/account/password",
        "/search",
        "/search?q=tea",
        "/ru/cart",
        "/ru/account",
        "/ru/search",
        "/tea?sort=price",
    ] {
        let answer = get(&format!("{site}{path}")).unwrap();
        assert!(answer.status == 200 && is_hidden(&answer), "{path}: {}", answer.status);
        assert!(!all.contains(&format!("{site}{path}")), "{path}");
    }
}
