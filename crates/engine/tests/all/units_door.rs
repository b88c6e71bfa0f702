//! `/core/unit/<name>`: web modules of a person, the agent's units, forms of pages, and the debugger's report.

use serde_json::{Value, json};

use crate::client::{Answer, get, raw, ticket};
use crate::test_store::{TestStore, on_both};
use crate::units::{put, put_unit};

/// Sends a form.
async fn post(store: &TestStore, path: &str, headers: &str, form: &str) -> Answer {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: shop.example.com\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: {}\r\n{headers}\r\n{form}",
        form.len()
    );
    raw(store, head.as_bytes()).await
}

async fn said(store: &TestStore, path: &str, headers: &str, form: &str) -> (u16, String) {
    let answer = post(store, path, headers, form).await;
    (answer.status, answer.text().trim_end().to_owned())
}

const ECHO: &str =
    "export function main(vars) { return JSON.stringify(vars) + (shop.user ? shop.user.login : 'nobody') }
export function save({ post }) { return { saved: post.name } }";

on_both! {
    async fn the_agents_units_run_for_signed_in_people_only(store: TestStore) {
        put_unit(store, "agent_report", ECHO, r#"{"entry_point": true}"#);
        put_unit(store, "agent_closed", ECHO, "{}");
        let denied = (403, "ACCESS_DENIED: units of the agent are for signed-in people".to_owned());
        assert_eq!(said(store, "/core/unit/agent_report", "", "a=1").await, denied);
        assert_eq!(said(store, "/core/unit/agent_nix", "", "").await, denied, "who may not call learns nothing");
        let unfit = said(store, "/core/unit/agent_report", "authorization: Bearer nonsense\r\n", "").await;
        assert_eq!(unfit, (403, "ACCESS_DENIED: sign in anew".to_owned()));

        let proof = format!("authorization: Bearer {}\r\n", ticket(store, "irina").await);
        let answer = said(store, "/core/unit/agent_report", &proof, "a=1&b%5B%5D=2&b%5B%5D=3&c=").await;
        assert_eq!(answer, (200, r#"{"post":{"a":"1","b":["2","3"],"c":""}}irina"#.to_owned()));
        let missing = said(store, "/core/unit/agent_nix", &proof, "").await;
        assert_eq!(missing, (404, "NO_MODULE: there is no units/agent_nix".to_owned()));
        let closed = said(store, "/core/unit/agent_closed", &proof, "").await;
        assert_eq!(closed, (403, "NO_ENTRY_POINT: set entry_point = 1 for unit agent_closed".to_owned()));
        assert_eq!(said(store, "/core/unit/..%2Fagent_report", &proof, "").await.0, 404);
    }

    async fn a_person_is_told_what_failed_and_a_visitor_is_not(store: TestStore) {
        put_unit(store, "cart", "export function main() {\n  return shop.unit('deep');\n}\nexport function save() { return { ok: true } }", r#"{"entry_point": true}"#);
        put_unit(store, "deep", "export function main() {\n\n  undefined_name();\n}", "");
        let proof = format!("authorization: Bearer {}\r\n", ticket(store, "irina").await);
        let (status, words) = said(store, "/core/unit/cart", &proof, "").await;
        assert_eq!(status, 500);
        assert!(words.starts_with("Module Runtime Exception: deep:3:"), "{words}");
        assert!(words.contains("from cart:2:"), "{words}");
        let (status, words) = said(store, "/core/unit/cart", &proof, "func=nix").await;
        assert_eq!((status, words.as_str()), (500, "Function not found! [cart\\nix]"));
        // A visitor's page goes on without it, a visitor's failed call says only that it failed.
        assert_eq!(said(store, "/core/unit/cart", "", "").await, (200, String::new()));
        let (status, words) = said(store, "/core/unit/cart", "", "func=nix").await;
        assert_eq!((status, words.as_str()), (500, "This did not work. Please try again later."));
        assert_eq!(said(store, "/core/unit/cart", "", "func=save").await, (200, r#"{"ok":true}"#.to_owned()));
    }

    async fn forms_of_other_sites_are_turned_away(store: TestStore) {
        put_unit(store, "cart", ECHO, r#"{"entry_point": true}"#);
        for (headers, status) in [
            ("", 200),
            ("origin: http://shop.example.com\r\n", 200),
            ("sec-fetch-site: same-origin\r\n", 200),
            ("origin: http://evil.example\r\n", 403),
            ("origin: null\r\n", 403),
            ("sec-fetch-site: cross-site\r\n", 403),
            ("origin: http://shop.example.com.evil.example\r\n", 403),
        ] {
            assert_eq!(said(store, "/core/unit/cart", headers, "a=1").await.0, status, "{headers}");
        }
        let huge = format!("a={}", "x".repeat(3 << 20));
        assert_eq!(said(store, "/core/unit/cart", "", &huge).await.0, 413);
        let many = (0..600).map(|n| format!("a{n}=1")).collect::<Vec<_>>().join("&");
        assert_eq!(said(store, "/core/unit/cart", "", &many).await.0, 400);
    }

    async fn only_units_that_load_later_are_read(store: TestStore) {
        put_unit(store, "later", ECHO, r#"{"lazy_load": true}"#);
        put_unit(store, "form", ECHO, r#"{"entry_point": true}"#);
        put_unit(store, "inner", ECHO, "{}");
        assert_eq!(get(store, "/core/unit/later?id=5", "").await.text(), r#"{"id":"5","post":{}}nobody"#);
        assert_eq!(get(store, "/core/unit/form", "").await.status, 403);
        assert_eq!(said(store, "/core/unit/inner", "", "").await.0, 403);
    }

    async fn the_debugger_sees_what_a_page_is_made_of(store: TestStore) {
        store.settings(json!({"debug_code": "look-here"})).await;
        put_unit(store, "home", "export function main() {
            shop.value('select 1');
            shop.debug({ a: 1 });
            return 'a' + shop.unit('menu') + shop.unit('broken');
        }", "");
        put_unit(store, "menu", "export function main() { return shop.t('key') }", r#"{"cache": {"on": false}}"#);
        put_unit(store, "broken", "export function main() { throw new Error('inside') }", "");
        put(store, "templates/default/units/menu/words.en.json", r#"{"key": "word"}"#);
        let answer = get(store, "/", "x-debug-code: look-here\r\n").await;
        let whole: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!((&whole["status"], &whole["body"]), (&json!(200), &json!("aword")));
        let report = &whole["report"];
        assert_eq!((&report["sql_count"], &report["template"], &report["lang"]), (&json!(1), &json!("default"), &json!("en")));
        assert_eq!(report["debug"], json!([{"unit": "home", "value": {"a": 1}}]));
        let units: Vec<_> = report["units"].as_array().unwrap().iter().map(|row| (row["unit"].as_str().unwrap(), row["queries"].clone(), row["cache_on"].clone())).collect();
        assert_eq!(units, [("home", json!(1), json!(true)), ("menu", Value::Null, json!(false)), ("broken", Value::Null, json!(true))]);
        assert!(report["units"][2]["error"].as_str().unwrap().contains("inside"), "{report}");
        for code in ["", "look", "look-herE"] {
            let answer = get(store, "/", &format!("x-debug-code: {code}\r\n")).await;
            assert_eq!(answer.text(), "aword", "{code}");
        }
    }
}
