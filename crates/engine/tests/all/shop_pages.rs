//! The sample store's own pages, made of its units and templates: what they show, to people and to search engines.

use serde_json::{Value, json};

use db::{files, listing, products, rows, slugs, texts};

use crate::client::{Answer, get};
use crate::goods::{fill, lay_files, number, write};
use crate::test_store::{NOON, TestStore, on_both};
use crate::units::{log, put_unit};

async fn page(store: &TestStore, path: &str) -> String {
    let answer = get(store, path, "").await;
    assert_eq!(answer.status, 200, "{path}: {}\n{:?}", answer.text(), log(store));
    let text = answer.text();
    assert_eq!(log(store), [] as [Value; 0], "{path}");
    text
}

fn status_and_place(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.header("location"))
}

/// The structured data of a page.
fn structured(page: &str) -> Vec<Value> {
    let parts = page.split("<script type=\"application/ld+json\">").skip(1);
    parts.map(|part| serde_json::from_str(part.split("</script>").next().unwrap()).unwrap()).collect()
}

/// Gives a row a picture, of which nothing but its row is there.
fn add_picture(store: &TestStore, entity: &str, elem_id: i64, alt: &str) {
    let new = files::NewElementFile {
        entity: entity.to_owned(),
        elem_id,
        kind_key: "kImage".to_owned(),
        position: 0,
        real_name: "a.webp".to_owned(),
        stored_name: format!("{entity}/{alt}.webp"),
        mime: "image/webp".to_owned(),
        bytes: 9,
        sha256: "0".repeat(64),
        width: Some(960),
        height: Some(640),
        alt: alt.to_owned(),
    };
    write(store, |tx| files::add(tx, &new, NOON.parse().unwrap()));
}

on_both! {
    async fn the_home_page_leads_to_departments_and_products(store: TestStore) {
        lay_files(store);
        fill(store);
        let home = page(store, "/").await;
        for part in [
            "<html lang=\"en\">",
            "<title>Flowers &amp; Co</title>",
            "<link rel=\"canonical\" href=\"http://shop.example.com/\">",
            "href=\"/outdoor\"",
            "href=\"/trail-jacket\"",
            "Desk lamp",
        ] {
            assert!(home.contains(part), "{part}: {home}");
        }
    }

    async fn departments_have_their_picture_or_that_of_what_sells_most_of_them(store: TestStore) {
        let code = "export function main() {
            const list = shop.products.list({ sort: 'popular', per: 1, total: false });
            const counted = shop.products.list({ sort: 'popular', per: 1 });
            const shots = shop.categories.tree({ depth: 1, pictures: true })
                .map((one) => one.name + '=' + (one.image?.alt ?? '-'));
            return [list.total, list.pages, list.items.length, counted.total, counted.pages, ...shots].join(' ');
        }";
        put_unit(store, "home", code, "{}");
        let shop = fill(store);
        assert_eq!(page(store, "/").await, "  1 2 2 Outdoor=- Lamps=-");
        add_picture(store, "products", shop.jacket, "worn");
        assert_eq!(page(store, "/").await, "  1 2 2 Outdoor=worn Lamps=-");
        let lamps = write(store, |tx| number(tx, "select id from categories where name = 'Lamps'"));
        add_picture(store, "categories", lamps, "lit");
        assert_eq!(page(store, "/").await, "  1 2 2 Outdoor=worn Lamps=lit");
        let tree = "export const main = () => Object.keys(shop.categories.tree({ depth: 1 })[0]).join();";
        put_unit(store, "home", tree, "{}");
        assert_eq!(page(store, "/").await, "id,name,url,children");
    }

    async fn a_category_lists_sorts_and_narrows(store: TestStore) {
        lay_files(store);
        fill(store);
        let all = page(store, "/outdoor").await;
        assert!(all.contains("Trail jacket") && !all.contains(">Desk lamp<"), "{all}");
        assert!(all.contains("1 product<"), "{all}");
        let narrowed = page(store, "/outdoor?f_colour%5B%5D=green&sort=price").await;
        assert!(narrowed.contains("Trail jacket") && narrowed.contains("value=\"green\" checked"), "{narrowed}");
        assert!(narrowed.contains("<meta name=\"robots\" content=\"noindex\">"), "{narrowed}");
        let none = page(store, "/outdoor?f_colour%5B%5D=red").await;
        assert!(!none.contains("class=\"card\"") && none.contains("Nothing matches all of that"), "{none}");
        for path in ["/outdoor?page=2", "/outdoor?page=0", "/outdoor?page=x", "/outdoor?page=51"] {
            assert_eq!(get(store, path, "").await.status, 404, "{path}");
        }
        let _ = log(store);
    }

    async fn a_product_shows_what_can_be_bought(store: TestStore) {
        lay_files(store);
        let shop = fill(store);
        let first = page(store, "/trail-jacket").await;
        for part in ["€89.90", "€99.90", "Only 3 left", "TJ-S", "<b>dry</b>", "Kept me dry.", "Colour", "Green", "Outdoor"] {
            assert!(first.contains(part), "{part}: {first}");
        }
        let other = page(store, &format!("/trail-jacket?v={}", shop.large)).await;
        assert!(other.contains("€94.90") && other.contains("Sold out") && other.contains("TJ-L"), "{other}");
        assert!(first.contains(&format!("href=\"/trail-jacket?v={}\"", shop.large)), "{first}");
        assert!(page(store, "/desk-lamp").await.contains("<p>Warm light.</p>\n<p>Oak foot.</p>"));
        let _ = shop.small;
    }

    async fn search_engines_read_what_people_read(store: TestStore) {
        lay_files(store);
        fill(store);
        let product = structured(&page(store, "/trail-jacket").await).remove(0);
        assert_eq!((&product["@type"], &product["name"]), (&json!("ProductGroup"), &json!("Trail jacket")));
        assert_eq!(product["aggregateRating"]["ratingValue"], "4.5");
        let variant = &product["hasVariant"][0];
        assert_eq!((&variant["sku"], &variant["gtin"]), (&json!("TJ-S"), &json!("4006381333931")));
        let offer = &variant["offers"];
        assert_eq!((&offer["price"], &offer["priceCurrency"]), (&json!("89.90"), &json!("EUR")));
        assert_eq!(offer["availability"], "https://schema.org/InStock");
        let lamp = structured(&page(store, "/desk-lamp").await);
        assert_eq!((&lamp[0]["@type"], &lamp[0]["offers"]["price"]), (&json!("Product"), &json!("45.00")));
        assert_eq!(lamp[0].get("aggregateRating"), None);
        assert_eq!(lamp[1]["itemListElement"][0]["item"], "http://shop.example.com/lamps");
        assert!(!format!("{product}{lamp:?}").contains("null"), "{product}");
    }

    async fn pages_of_another_language_begin_with_it(store: TestStore) {
        store.settings(json!({"languages": ["ru"]})).await;
        lay_files(store);
        fill(store);
        let jacket = page(store, "/ru/kurtka-tropa").await;
        for part in [
            "<html lang=\"ru\">",
            "Куртка «Тропа»",
            "89,90\u{a0}€",
            "Для похода",
            "hreflang=\"en\" href=\"http://shop.example.com/trail-jacket\"",
            "hreflang=\"ru\" href=\"http://shop.example.com/ru/kurtka-tropa\"",
        ] {
            assert!(jacket.contains(part), "{part}: {jacket}");
        }
        assert!(page(store, "/ru").await.contains("Чаще всего покупают"));
        assert!(page(store, "/ru/pohod").await.contains("1 товар<"));
        assert_eq!(get(store, "/kurtka-tropa", "").await.status, 404);
    }

    async fn a_moved_page_leads_on_and_a_removed_one_is_gone(store: TestStore) {
        lay_files(store);
        let shop = fill(store);
        let now = NOON.parse().unwrap();
        write(store, |tx| slugs::set(tx, "products", shop.jacket, "en", "b", now));
        write(store, |tx| slugs::set(tx, "products", shop.jacket, "en", "c", now));
        for path in ["/trail-jacket", "/b", "/Trail-Jacket"] {
            assert_eq!(status_and_place(&get(store, path, "").await), (301, Some("/c")), "{path}");
        }
        page(store, "/c").await;
        write(store, |tx| products::remove(tx, shop.lamp, now));
        let gone = get(store, "/desk-lamp", "").await;
        assert_eq!(gone.status, 410);
        assert!(gone.text().contains("This page does not exist"), "{}", gone.text());
        let missing = get(store, "/nothing", "").await;
        assert_eq!(missing.status, 404);
        assert!(missing.text().contains("What others look at"), "{}", missing.text());
        // A hidden product has no page, whatever its address says.
        write(store, |tx| rows::update(tx, "products", shop.jacket, None, &[("state", "kArchive".into())], now));
        assert_eq!(get(store, "/c", "").await.status, 404);
    }

    async fn no_text_of_anybody_does_anything_on_a_page(store: TestStore) {
        store.settings(json!({"languages": ["ru"]})).await;
        lay_files(store);
        let shop = fill(store);
        let evil = "</title></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{ 7*7 }}{% raw %}\u{202e}\u{2066}\u{200f}\u{f8ff}${1}";
        let now = NOON.parse().unwrap();
        write(store, |tx| {
            for (table, column) in [
                ("products", "name"), ("products", "text"), ("categories", "name"), ("categories", "text"),
                ("attributes", "name"), ("attribute_choices", "name"), ("product_options", "name"),
                ("reviews", "name"), ("reviews", "text"), ("reviews", "answer"),
            ] {
                tx.run(&format!("update {table} set {column} = :evil"), &[("evil", evil.into())])?;
            }
            tx.run("update product_option_values set name = :evil || id", &[("evil", evil.into())])?;
            tx.run("update variants set sku = :evil || id, sku_folded = :evil || id, gtin = :evil, mpn = :evil", &[("evil", evil.into())])?;
            let brand: [(&str, db::Value); 2] = [("name", evil.into()), ("name_folded", evil.into())];
            let brand = rows::insert(tx, "brands", &brand)?;
            tx.run("update products set brand_id = :brand", &[("brand", brand.into())])?;
            for field in ["seo_title", "seo_description"] {
                texts::set(tx, "products", shop.jacket, "en", field, evil, now)?;
            }
            let file: [(&str, db::Value); 8] = [
                ("entity", "products".into()), ("elem_id", shop.jacket.into()), ("real_name", evil.into()),
                ("stored_name", "x\"onload=y.png".into()), ("mime", "image/png".into()), ("bytes", 1.into()),
                ("sha256", "".into()), ("alt", evil.into()),
            ];
            rows::insert(tx, "files", &file)?;
            listing::reindex_all(tx, now)
        });
        for path in ["/", "/outdoor", "/trail-jacket", "/ru", "/ru/kurtka-tropa", "/nothing", "/outdoor?f_colour[]=<script>alert(1)</script>&sort=\"><script>alert(1)</script>", "/trail-jacket?v=\"><script>alert(1)</script>"] {
            let path = path.replace('<', "%3C").replace('>', "%3E").replace('"', "%22");
            let text = get(store, &path, "").await.text();
            assert!(text.contains("<!doctype html>"), "{path}: {text}");
            for bad in ["<script>", "<img src=x", "onerror=alert(2)>", "{{ 7*7 }}\u{202e}", "\u{202e}", "\u{2066}", "\u{200f}", "\u{f8ff}", "x\"onload"] {
                let at = text.find(bad).map(|at| text[at.saturating_sub(80)..].chars().take(200).collect::<String>());
                assert!(at.is_none(), "{path}: {bad}: {at:?}");
            }
            assert!(!text.contains("49{%"), "{path}: a template in data was run");
            for data in structured(&text) {
                assert!(data.is_object(), "{path}");
            }
            assert_eq!(log(store), [] as [Value; 0], "{path}");
        }
    }
}
