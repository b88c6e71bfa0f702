//! What search engines read: the sitemap and its pages, robots.txt, brands, marks of pages, places behind numbered pages.

use std::collections::BTreeSet;

use db::{listing, rows, slugs, texts};
use serde_json::{Value, json};

use crate::client::get;
use crate::goods::{category, fill, lay_files, number, product, variant, write};
use crate::test_store::{NOON, TestStore, on_both};
use crate::units::log;

async fn page(store: &TestStore, path: &str) -> String {
    let answer = get(store, path, "").await;
    assert_eq!(answer.status, 200, "{path}: {}\n{:?}", answer.text(), log(store));
    answer.text()
}

/// What stands between all pairs of these.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    text.split(start).skip(1).map(|rest| rest.split(end).next().unwrap()).collect()
}

fn structured(page: &str) -> Vec<Value> {
    let parts = between(page, "<script type=\"application/ld+json\">", "</script>");
    parts.into_iter().map(|part| serde_json::from_str(part).unwrap()).collect()
}

/// All addresses of the sitemap, as paths.
async fn mapped(store: &TestStore) -> BTreeSet<String> {
    let index = page(store, "/sitemap.xml").await;
    let mut all = BTreeSet::new();
    for part in between(&index, "<loc>http://shop.example.com", "</loc>") {
        let text = page(store, part).await;
        let paths = between(&text, "<loc>http://shop.example.com", "</loc>");
        assert!(paths.len() <= 50_000 && text.len() < 50_000_000);
        all.extend(paths.into_iter().map(str::to_owned));
    }
    all
}

/// Gives the jacket a brand with a page.
fn brand(store: &TestStore, jacket: i64) -> i64 {
    let now = NOON.parse().unwrap();
    write(store, |tx| {
        let values = [
            ("name", "North & Co".into()),
            ("name_folded", "north & co".into()),
            ("text", "<p>Since 1901.</p>".into()),
        ];
        let id = rows::insert(tx, "brands", &values)?;
        slugs::set(tx, "brands", id, "en", "brand/north-co", now)?;
        rows::update(tx, "products", jacket, None, &[("brand_id", id.into())], now)?;
        listing::reindex_all(tx, now)?;
        listing::rebuild_counts(tx, None)?;
        Ok(id)
    })
}

/// What rich results of products ask for.
fn is_product_result(data: &Value) {
    let offer = |offer: &Value| {
        let price = offer["price"].as_str().unwrap();
        assert!(price.parse::<f64>().unwrap() > 0.0 && !price.contains(','), "{offer}");
        assert_eq!(offer["priceCurrency"].as_str().unwrap().len(), 3);
        assert!(offer["availability"].as_str().unwrap().starts_with("https://schema.org/"));
        assert!(offer["url"].as_str().unwrap().starts_with("http://shop.example.com/"));
    };
    assert_eq!(data["@context"], "https://schema.org");
    assert!(!data["name"].as_str().unwrap().is_empty());
    match data["@type"].as_str().unwrap() {
        "Product" => offer(&data["offers"]),
        "ProductGroup" => {
            assert!(data["productGroupID"].is_string());
            let variants = data["hasVariant"].as_array().unwrap();
            assert!(variants.len() > 1);
            for variant in variants {
                assert!(!variant["name"].as_str().unwrap().is_empty());
                offer(&variant["offers"]);
            }
        }
        other => panic!("{other}"),
    }
    if let Some(rating) = data.get("aggregateRating") {
        let value: f64 = rating["ratingValue"].as_str().unwrap().parse().unwrap();
        assert!((1.0..=5.0).contains(&value) && rating["reviewCount"].as_i64().unwrap() > 0);
    }
}

on_both! {
    async fn the_sitemap_tells_of_every_page_there_is_and_of_no_other(store: TestStore) {
        store.settings(json!({"languages": ["ru"]})).await;
        lay_files(store);
        let shop = fill(store);
        brand(store, shop.jacket);
        let now = NOON.parse().unwrap();
        write(store, |tx| {
            // Hidden with what lies above it, not listed, in a language that is not spoken, and with odd letters.
            let hidden = category(tx, "Hidden", None, "hidden")?;
            category(tx, "Below", Some(hidden), "hidden/below")?;
            rows::update(tx, "categories", hidden, None, &[("state", "kHidden".into())], now)?;
            let lamps = number(tx, "select id from categories where name = 'Lamps'")?;
            let quiet = product(tx, "Quiet", "", lamps, "quiet")?;
            rows::update(tx, "products", quiet, None, &[("state", "kUnlisted".into())], now)?;
            slugs::set(tx, "products", shop.lamp, "de", "lampe", now)?;
            slugs::set(tx, "products", shop.lamp, "ru", "лампа & ко", now)
        });
        let paths = mapped(store).await;
        let wanted = [
            "/", "/ru", "/outdoor", "/outdoor/jackets", "/lamps", "/ru/pohod", "/ru/pohod/kurtki", "/trail-jacket",
            "/ru/kurtka-tropa", "/desk-lamp", "/ru/%D0%BB%D0%B0%D0%BC%D0%BF%D0%B0%20%26%20%D0%BA%D0%BE", "/brand/north-co",
        ];
        assert_eq!(paths, wanted.into_iter().map(str::to_owned).collect());
        for path in &paths {
            let shown = page(store, path).await;
            assert!(!shown.contains("content=\"noindex\""), "{path}");
            let canonical = between(&shown, "<link rel=\"canonical\" href=\"", "\"");
            assert_eq!(canonical, [format!("http://shop.example.com{path}")], "{path}");
            for data in structured(&shown).iter().filter(|data| data["@type"].as_str().unwrap().starts_with("Product")) {
                is_product_result(data);
            }
        }
        assert!(page(store, "/sitemap/0.xml").await.contains("<lastmod>2026-11-30T12:00:00Z</lastmod>"));
        for path in ["/sitemap/7.xml", "/sitemap/x.xml", "/sitemap/-1.xml", "/sitemap/0", "/sitemap/99999999999.xml"] {
            assert_eq!(get(store, path, "").await.status, 404, "{path}");
        }
        // A renamed page is in the sitemap under its new address, and the old one leads there.
        write(store, |tx| slugs::set(tx, "products", shop.lamp, "en", "oak-lamp", now));
        std::fs::remove_dir_all(store.root().join("core/cache/sitemap")).unwrap();
        let paths = mapped(store).await;
        assert!(paths.contains("/oak-lamp") && !paths.contains("/desk-lamp"));
        let moved = get(store, "/desk-lamp", "").await;
        assert_eq!((moved.status, moved.header("location")), (301, Some("/oak-lamp")));
    }

    async fn robots_are_told_where_to_look(store: TestStore) {
        let made = page(store, "/robots.txt").await;
        assert!(made.contains("Disallow: /*cart\n") && made.ends_with("Sitemap: http://shop.example.com/sitemap.xml\n"), "{made}");
        std::fs::write(store.root().join("robots.txt"), "User-agent: *\nDisallow: /\n").unwrap();
        assert_eq!(page(store, "/robots.txt").await, "User-agent: *\nDisallow: /\n");
    }

    async fn a_brand_has_a_page_like_a_category(store: TestStore) {
        lay_files(store);
        let shop = fill(store);
        let id = brand(store, shop.jacket);
        let shown = page(store, "/brand/north-co").await;
        for part in ["<h1>North &amp; Co</h1>", "Since 1901.", "Trail jacket", "1 product<"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("Desk lamp</span>") && !shown.contains("name=\"f_brand[]\""), "{shown}");
        assert!(structured(&shown).iter().any(|data| data["@type"] == "Brand" && data["name"] == "North & Co"));
        assert!(page(store, "/trail-jacket").await.contains("href=\"/brand/north-co\""));
        write(store, |tx| rows::remove(tx, "brands", id, NOON.parse().unwrap()));
        assert_eq!(get(store, "/brand/north-co", "").await.status, 404);
    }

    async fn pages_carry_what_networks_and_other_languages_ask_for(store: TestStore) {
        store.settings(json!({"languages": ["ru"]})).await;
        lay_files(store);
        let shop = fill(store);
        let now = NOON.parse().unwrap();
        write(store, |tx| texts::set(tx, "products", shop.jacket, "en", "seo_description", "Dry \"<all>\" day", now));
        let shown = page(store, "/trail-jacket").await;
        for part in [
            "<meta property=\"og:type\" content=\"product\">",
            "<meta property=\"og:title\" content=\"Trail jacket · Flowers &amp; Co\">",
            "<meta property=\"og:url\" content=\"http://shop.example.com/trail-jacket\">",
            "<meta property=\"og:description\" content=\"Dry &quot;&lt;all&gt;&quot; day\">",
            "<meta name=\"twitter:card\"",
            "hreflang=\"x-default\" href=\"http://shop.example.com/trail-jacket\"",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let home = structured(&page(store, "/").await);
        let kinds: Vec<&str> = home.iter().map(|data| data["@type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["Organization", "WebSite"]);
        let category = structured(&page(store, "/outdoor/jackets").await);
        assert_eq!(category[0]["itemListElement"][1]["item"], "http://shop.example.com/outdoor/jackets");
        assert_eq!(category[1]["itemListElement"][0]["url"], "http://shop.example.com/trail-jacket");
    }

    async fn behind_the_last_page_with_a_number_the_list_goes_on(store: TestStore) {
        lay_files(store);
        write(store, |tx| {
            let many = category(tx, "Many", None, "many")?;
            // Two more than fifty pages of 24 hold.
            for at in 0..1202 {
                let id = product(tx, &format!("Thing {at}"), "", many, &format!("thing-{at}"))?;
                variant(tx, id, (&format!("T-{at}"), ""), (1000 + at % 3, None), 0)?;
            }
            let now = NOON.parse().unwrap();
            listing::reindex_all(tx, now)?;
            listing::rebuild_counts(tx, None)
        });
        for sort in ["", "&sort=name"] {
            let last = page(store, &format!("/many?page=50{sort}")).await;
            let next = between(&last, "<link rel=\"next\" href=\"", "\"")[0].replace("&amp;", "&");
            assert!(next.contains("after="), "{next}");
            let behind = page(store, &next).await;
            assert_eq!(between(&behind, "<li class=\"card\">", "</li>").len(), 2, "{behind}");
            assert!(!behind.contains("rel=\"next\""), "{behind}");
            if sort.is_empty() {
                let canonical = between(&behind, "<link rel=\"canonical\" href=\"", "\"");
                assert_eq!(canonical, [format!("http://shop.example.com{next}")]);
            }
        }
        for wrong in ["/many?page=51", "/many?after=1", "/many?after=x.y", "/many?after=1.zzz"] {
            let status = get(store, wrong, "").await.status;
            assert!(status == 404, "{wrong}: {status}");
        }
    }
}
