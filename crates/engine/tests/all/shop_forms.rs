//! What visitors search for and write: misspelt words, suggestions, reviews, messages.

use serde_json::{Value, json};

use crate::client::{Answer, get, raw};
use crate::goods::{fill, lay_files, write};
use crate::test_store::{TestStore, on_both};
use crate::units::log;

async fn post(store: &TestStore, path: &str, form: &str) -> Answer {
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: shop.example.com\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: {}\r\n\r\n{form}",
        form.len()
    );
    raw(store, request.as_bytes()).await
}

/// The events of a key, with what they carry.
fn events(store: &TestStore, key: &str) -> Vec<Value> {
    let rows = write(store, |tx| {
        tx.rows("select data from events where key = :key order by id", &[("key", key.into())])
    });
    rows.iter().map(|row| serde_json::from_str(&row.get::<String>("data").unwrap()).unwrap()).collect()
}

/// Names and states of all reviews that nobody has looked at yet.
fn new_reviews(store: &TestStore) -> Vec<(String, i64, String)> {
    let rows = write(store, |tx| {
        tx.rows("select name, rating, text from reviews where state = 'kNew' order by id", &[])
    });
    rows.iter()
        .map(|row| (row.get("name").unwrap(), row.get("rating").unwrap(), row.get("text").unwrap()))
        .collect()
}

on_both! {
    async fn a_misspelt_word_finds_what_was_meant(store: TestStore) {
        store.settings(json!({"languages": ["ru"]})).await;
        lay_files(store);
        fill(store);
        write(store, |tx| db::reindex::all(tx, crate::test_store::NOON.parse().unwrap()));
        for (path, parts) in [
            ("/search?q=jacket", ["Trail jacket", "1 product<", "value=\"jacket\""]),
            ("/search?q=jakcet", ["Trail jacket", "Nothing was found for “jakcet”", "for “jacket”"]),
            ("/search?q=TJ-L", ["Trail jacket", "1 product<", "noindex"]),
            ("/search?q=lamps", ["href=\"/lamps\"", "Nothing was found", "<ul class=\"chips\""]),
            ("/search?q=nothingatall", ["Nothing was found for “nothingatall”", "Bestsellers", "Try fewer"]),
            ("/search", ["What are you looking for?", "Bestsellers", "<title>Search"]),
            ("/ru/search?q=%D0%BA%D1%83%D1%80%D1%82%D0%BA%D0%B0", ["Куртка «Тропа»", "1 товар<", "action=\"/ru/search\""]),
            ("/search?q=%3Cscript%3Ealert(1)%3C/script%3E", ["&lt;script&gt;alert(1)", "Nothing was found", "noindex"]),
        ] {
            let text = get(store, path, "").await.text();
            for part in parts {
                assert!(text.contains(part), "{path}: {part}: {text} {:?}", log(store));
            }
            assert!(!text.contains("<script>alert"), "{path}");
        }
        for path in ["/search?q=jacket&page=2", "/search?q=jacket&page=0", "/search?q=jacket&page=x"] {
            assert_eq!(get(store, path, "").await.status, 404, "{path}");
        }
        let suggested: Value = serde_json::from_str(&get(store, "/search/suggest?q=jakc", "").await.text()).unwrap();
        assert_eq!(suggested["meant"], Value::Null);
        let suggested: Value = serde_json::from_str(&get(store, "/search/suggest?q=jakcet", "").await.text()).unwrap();
        assert_eq!((&suggested["meant"], &suggested["items"][0]["url"]), (&json!("jacket"), &json!("/trail-jacket")));
        assert_eq!(get(store, "/search/suggest?q=j", "").await.text(), "{\"items\":[]}");
        assert_eq!(log(store), [] as [Value; 0]);
    }

    async fn a_review_waits_until_somebody_has_looked_at_it(store: TestStore) {
        lay_files(store);
        let shop = fill(store);
        let page = get(store, "/trail-jacket", "").await.text();
        assert!(page.contains("action=\"/trail-jacket\"") && page.contains("Write a review"), "{page}");
        let form = "do=review&rating=4&name=Ann&text=Warm+and+light+at+once.";
        let sent = post(store, "/trail-jacket", form).await;
        assert_eq!((sent.status, sent.header("location")), (303, Some("/trail-jacket?reviewed=1#reviews")), "{:?}", log(store));
        assert_eq!(new_reviews(store), [("Ann".to_owned(), 4, "Warm and light at once.".to_owned())]);
        assert_eq!(events(store, "kReviewNew").iter().map(|data| data["product"].clone()).collect::<Vec<_>>(), [shop.jacket]);
        let thanks = get(store, "/trail-jacket?reviewed=1", "").await.text();
        assert!(thanks.contains("Your review appears once") && !thanks.contains("Warm and light"), "{thanks}");
        for (form, words) in [
            ("do=review&rating=6&name=Ann&text=Warm+and+light+at+once.", "Choose one to five stars."),
            ("do=review&name=Ann&text=Warm+and+light+at+once.", "Choose one to five stars."),
            ("do=review&rating=4.5&name=Ann&text=Warm+and+light+at+once.", "Choose one to five stars."),
            ("do=review&rating=4&name=+&text=Warm+and+light+at+once.", "Enter a name"),
            ("do=review&rating=4&name=Ann&text=short", "Write 10 to"),
            ("do=review&rating=4&name[]=Ann&text=Warm+and+light+at+once.", "Enter a name"),
        ] {
            let wrong = post(store, "/trail-jacket", form).await;
            assert_eq!(wrong.status, 422, "{form}");
            assert!(wrong.text().contains(words) && wrong.text().contains("error-summary"), "{form}: {}", wrong.text());
        }
        // A program that fills in every field is told nothing.
        let trapped = post(store, "/trail-jacket", &format!("{form}&website=http://spam.example")).await;
        assert_eq!(trapped.status, 303);
        assert_eq!(new_reviews(store).len(), 1);
        assert_eq!(log(store), [] as [Value; 0]);
    }

    async fn so_many_reviews_wait_that_no_more_are_taken(store: TestStore) {
        lay_files(store);
        let shop = fill(store);
        write(store, |tx| {
            for at in 0..50 {
                let review = db::reviews::NewReview { product_id: shop.jacket, rating: 1, name: format!("N{at}"), text: "x".to_owned(), ..Default::default() };
                db::reviews::add(tx, &review, crate::test_store::NOON.parse().unwrap())?;
            }
            Ok(())
        });
        let full = post(store, "/trail-jacket", "do=review&rating=4&name=Ann&text=Warm+and+light+at+once.").await;
        assert!(full.status == 422 && full.text().contains("So many reviews wait"), "{} {}", full.status, full.text());
        let other = post(store, "/desk-lamp", "do=review&rating=4&name=Ann&text=Warm+and+light+at+once.").await;
        assert_eq!(other.status, 303);
        assert_eq!(new_reviews(store).len(), 51);
    }

    async fn a_message_becomes_an_event(store: TestStore) {
        lay_files(store);
        fill(store);
        assert!(get(store, "/contact", "").await.text().contains("<form class=\"form panel\" method=\"post\" action=\"/contact\">"));
        let form = "name=Ann&email=ann%40example.com&text=Where+is+my+parcel%3F";
        let sent = post(store, "/contact", form).await;
        assert_eq!((sent.status, sent.header("location")), (303, Some("/contact?sent=1")), "{:?}", log(store));
        let event = json!({"name": "Ann", "email": "ann@example.com", "text": "Where is my parcel?", "language": "en"});
        assert_eq!(events(store, "kMessageNew"), [event]);
        assert!(get(store, "/contact?sent=1", "").await.text().contains("Your message has arrived"));
        for (form, words) in [
            ("name=&email=ann%40example.com&text=Where+is+it", "Enter your name"),
            ("name=Ann&email=nobody&text=Where+is+it", "Enter an e-mail address"),
            ("name=Ann&email=a%40b.c%0d%0abcc:x%40y.z&text=Where+is+it", "Enter an e-mail address"),
            ("name=Ann&email=ann%40example.com&text=no", "Write 5 to"),
        ] {
            let wrong = post(store, "/contact", form).await;
            assert_eq!(wrong.status, 422, "{form}");
            assert!(wrong.text().contains(words), "{form}: {}", wrong.text());
        }
        assert_eq!(post(store, "/contact", &format!("{form}&website=x")).await.status, 303);
        assert_eq!(events(store, "kMessageNew").len(), 1);
        assert_eq!(log(store), [] as [Value; 0]);
    }

    async fn an_item_of_a_menu_bears_the_name_of_what_it_leads_to(store: TestStore) {
        store.settings(json!({"languages": ["ru"]})).await;
        lay_files(store);
        fill(store);
        write(store, |tx| {
            let menu = db::rows::insert(tx, "menus", &[("skey", "footer".into()), ("name", "Foot".into())])?;
            let outdoor = crate::goods::number(tx, "select id from categories where name = 'Outdoor'")?;
            let item: [(&str, db::Value); 4] = [
                ("menu_id", menu.into()), ("name", "".into()), ("entity", "categories".into()), ("elem_id", outdoor.into()),
            ];
            db::rows::insert(tx, "menu_items", &item)
        });
        for (path, link) in [("/contact", "<a href=\"/outdoor\">Outdoor</a>"), ("/ru/contact", "<a href=\"/ru/pohod\">Для похода</a>")] {
            let text = get(store, path, "").await.text();
            // Once among the departments, once in the owner's menu.
            let foot = text.split_once("<footer").unwrap().1;
            assert_eq!(foot.matches(link).count(), 2, "{path}: {foot}");
        }
    }
}
