//! Pages made of units and templates, by real workers: what shows, what does not, and who is told.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Answer, get};
use crate::test_store::{TestStore, on_both};

/// Writes a file below the root.
pub(crate) fn put(store: &TestStore, path: &str, text: &str) {
    let path = store.root().join(path);
    fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
    fs::write(path, text).unwrap();
}

/// A unit with its manifest.
pub(crate) fn put_unit(store: &TestStore, name: &str, code: &str, manifest: &str) {
    put(store, &format!("units/{name}.js"), code);
    put(store, &format!("units/{name}.json"), manifest);
}

/// The home page, without what every page has.
pub(crate) async fn home(store: &TestStore) -> (u16, String) {
    let answer = get(store, "/", "").await;
    (answer.status, answer.text())
}

/// The log of units, line by line.
pub(crate) fn log(store: &TestStore) -> Vec<Value> {
    let text = fs::read_to_string(store.root().join("core/log/units.log")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What the events of failed units carry.
pub(crate) fn crashes(store: &TestStore) -> Vec<Value> {
    let rows =
        store.db.read(|tx| tx.rows("select data from events where key = 'kUnitCrashed' order by id", &[]));
    rows.unwrap()
        .iter()
        .map(|row| serde_json::from_str(&row.get::<String>("data").unwrap()).unwrap())
        .collect()
}

const HELLO: &str =
    "export function main() { return shop.render('main.htm', { name: shop.config('name') }); }";

on_both! {
    async fn a_page_is_made_of_units_and_templates(store: TestStore) {
        put_unit(store, "home", HELLO, "");
        put(store, "templates/default/units/home/main.htm", "<h1>{{ name }}</h1>{{ unit('menu', id=5) }}");
        put_unit(
            store,
            "menu",
            "import { twice } from 'units/inc_math.js';
             export function main({ id }) { return shop.render('main.htm', { n: twice(id) }); }",
            r#"{"includes": ["inc_math"]}"#,
        );
        put(store, "units/inc_math.js", "export const twice = (n) => n * 2;");
        put(store, "templates/default/units/menu/main.htm", "<i>{{ n }} {{ unit('date') }}</i>");
        put_unit(store, "date", "export function main() { return shop.date('2026-12-01', 'day'); }", "");
        assert_eq!(home(store).await, (200, "<h1>Flowers &amp; Co</h1><i>10 1 December 2026</i>".to_owned()));

        // What is edited is seen at once: a template, a unit, a library.
        put(store, "templates/default/units/menu/main.htm", "<b>{{ n }}</b>");
        assert!(home(store).await.1.ends_with("<b>10</b>"));
        put(store, "units/inc_math.js", "export const twice = (n) => n * 20;");
        assert!(home(store).await.1.ends_with("<b>100</b>"));
        assert_eq!(log(store), [] as [Value; 0]);
    }

    async fn a_broken_unit_is_left_out_and_named_in_log_and_event(store: TestStore) {
        put_unit(store, "home", HELLO, "");
        put(store, "templates/default/units/home/main.htm", "<h1>{{ name }}</h1>{{ unit('menu') }}{{ unit('nix') }}<p>end</p>");
        put_unit(store, "menu", "export function main() {\n  const none = null;\n  return none.secret_name;\n}", "");
        for _ in 0..2 {
            assert_eq!(home(store).await, (200, "<h1>Flowers &amp; Co</h1><p>end</p>".to_owned()));
        }
        let lines = log(store);
        assert_eq!(lines.len(), 4, "{lines:?}");
        let told = lines[0]["error"].as_str().unwrap();
        assert!(told.starts_with("Module Runtime Exception: menu:3:"), "{told}");
        assert_eq!((&lines[1]["error"], &lines[1]["page"]), (&json!("Unit not found: nix"), &json!("/")));
        // The same failure raises one event, however many visitors meet it.
        let events = crashes(store);
        assert_eq!(events.len(), 2, "{events:?}");
        assert_eq!((&events[0]["unit"], &events[0]["line"]), (&json!("menu"), &json!(3)));
        assert!(events[0]["column"].as_u64().unwrap() > 0, "{events:?}");
    }

    async fn a_broken_template_is_named_with_its_line(store: TestStore) {
        put_unit(store, "home", HELLO, "");
        put(store, "templates/default/units/home/main.htm", "a{{ unit('menu') }}z");
        put_unit(store, "menu", "export function main() {\n  return shop.render('main.htm');\n}", "");
        put(store, "templates/default/units/menu/main.htm", "one\ntwo {{ 1|nix }}");
        assert_eq!(home(store).await, (200, "az".to_owned()));
        let told = log(store)[0]["error"].as_str().unwrap().to_owned();
        assert!(told.starts_with("Module Runtime Exception: menu:2:"), "{told}");
        assert!(told.contains("templates/default/units/menu/main.htm:2: "), "{told}");
    }

    async fn a_broken_entry_unit_shows_a_page_that_tells_nothing(store: TestStore) {
        put_unit(store, "home", "export function main() { throw new Error('inside'); }", "");
        let (status, page) = home(store).await;
        assert_eq!(status, 500);
        assert!(page.contains("This page does not work just now"), "{page}");
        assert!(!page.contains("inside") && !page.contains("Module"), "{page}");
        put_unit(store, "home", "export function main( {", "");
        assert_eq!(home(store).await.0, 500);
        let told = log(store).pop().unwrap()["error"].as_str().unwrap().to_owned();
        assert!(told.starts_with("Syntax error: units/home.js:1:"), "{told}");
    }

    async fn every_page_has_the_headers_that_protect_visitors(store: TestStore) {
        put_unit(store, "home", "export function main() {
            shop.header('x-robots-tag', 'noindex');
            shop.cookie('seen', '1', { days: 2 });
            shop.status(410);
            return '<p>hi';
        }", "");
        let answer = get(store, "/", "").await;
        assert_eq!(answer.status, 410);
        assert!(answer.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-robots-tag"), Some("noindex"));
        assert_eq!(answer.header("set-cookie"), Some("seen=1; Path=/; HttpOnly; SameSite=Lax; Max-Age=172800"));
        assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
        // A unit cannot take them away, set another's cookie or lead elsewhere.
        for call in [
            "shop.header('content-security-policy', 'x')",
            "shop.header('set-cookie', 'a=b')",
            "shop.header('link', 'a\\r\\nset-cookie: b=c')",
            "shop.header('content-type', 'text/javascript')",
            "shop.cookie('a;b', 'c')",
            "shop.cookie('a', 'b; Domain=example.com')",
            "shop.cookie('__Host-a', 'b')",
            "shop.redirect('https://evil.example/')",
            "shop.redirect('//evil.example/')",
            "shop.redirect('/\\\\evil.example/')",
            "shop.status(999)",
        ] {
            let code = format!("export function main() {{ try {{ {call} }} catch (e) {{ return e.code }} return 'done' }}");
            put_unit(store, "home", &code, "");
            assert_eq!(home(store).await, (200, "ARGUMENT".to_owned()), "{call}");
        }
        put_unit(store, "home", "export function main() { shop.redirect('/cart', 303) }", "");
        let answer = get(store, "/", "").await;
        assert_eq!((answer.status, answer.header("location")), (303, Some("/cart")));
    }

    async fn data_is_read_and_never_written(store: TestStore) {
        for (code, shows) in [
            ("return shop.value('select count(*) from users')", "3"),
            ("return shop.one('select login from users where login = :l', { l: 'oleg' }).login", "oleg"),
            ("return shop.one('select login from users where 1 = 0') === null ? 'none' : 'some'", "none"),
            ("return shop.select('select login from users order by id').map((row) => row.login).join(' ')", "admin irina oleg"),
            ("try { shop.select('delete from users') } catch (e) { return e.code }", "SQL"),
            ("try { shop.select('select password_hash from users') } catch (e) { return e.code }", "SQL"),
            ("try { shop.select('select * from tickets') } catch (e) { return e.code }", "SQL"),
            ("try { shop.nix() } catch (e) { return 'no call' }", "no call"),
        ] {
            put_unit(store, "home", &format!("export function main() {{ {code} }}"), "");
            assert_eq!(home(store).await, (200, shows.to_owned()), "{code}");
        }
        assert_eq!(store.count("users"), 3);
    }

    async fn an_event_is_raised_only_by_an_answer_that_stands(store: TestStore) {
        let before = store.count("events");
        let code = "export function main() { shop.event('kSchedule', { n: 1 }, { user: USER }); END }";
        let code = code.replace("USER", &store.id("irina").to_string());
        put_unit(store, "home", &code.replace("END", "throw new Error('no')"), "");
        assert_eq!(home(store).await.0, 500);
        assert_eq!(store.count("events"), before + 1, "only the crash");
        put_unit(store, "home", &code.replace("END", "return 'ok'"), "");
        assert_eq!(home(store).await.0, 200);
        let row = store.db.read(|tx| tx.row("select data, to_user from events where key = 'kSchedule'", &[]));
        let row = row.unwrap().unwrap();
        assert_eq!(row.get::<String>("data").unwrap(), r#"{"n":1}"#);
        assert_eq!(row.get::<Option<i64>>("to_user").unwrap(), Some(store.id("irina")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_leads_out_of_units_and_templates() {
    let store = &TestStore::on(crate::test_store::Base::Sqlite).await.unwrap();
    put(store, "core/evil.js", "export const x = 1;");
    put(store, "templates/default/units/home/main.htm", "{% include name %}");
    for path in [
        "../core/evil.js",
        "units/../core/evil.js",
        "core/evil.js",
        "/etc/passwd",
        "units/a/b.js",
        "fs",
        "./evil.js",
        "units/nix.js",
    ] {
        put_unit(
            store,
            "home",
            &format!("import * as x from '{path}';\nexport function main() {{ return 'out' }}"),
            "",
        );
        let (status, page) = home(store).await;
        assert_eq!(status, 500, "{path}: {page}");
        let told = log(store).pop().unwrap()["error"].as_str().unwrap().to_owned();
        assert!(
            told.starts_with("Module not found! [") || told.starts_with("Syntax error: "),
            "{path}: {told}"
        );
    }
    for path in [
        "../../../config.json",
        "/etc/passwd",
        "..\\..\\x.htm",
        "home/../../../x.htm",
        "config.json",
        "",
        ".htm",
    ] {
        let path = serde_json::to_string(path).unwrap();
        for call in [format!("shop.render({path})"), format!("shop.render('main.htm', {{ name: {path} }})")] {
            put_unit(
                store,
                "home",
                &format!(
                    "export function main() {{ try {{ return {call} }} catch (e) {{ return e.code }} }}"
                ),
                "",
            );
            assert_eq!(home(store).await, (200, "TEMPLATE".to_owned()), "{call}");
        }
        put_unit(
            store,
            "home",
            &format!("export function main() {{ return 'a' + shop.unit({path}) + 'z' }}"),
            "",
        );
        assert_eq!(home(store).await, (200, "az".to_owned()), "{path}");
    }
    for path in [
        "/statics/../config.json",
        "/statics/%2e%2e/config.json",
        "/statics/..%2f..%2f..%2fconfig.json",
        "/config.json",
        "/core/store.db",
        "/units/home.js",
        "/statics/.hidden.css",
    ] {
        let answer: Answer = get(store, path, "").await;
        assert_eq!(answer.status, 404, "{path}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(
            store.root().join("config.json"),
            store.root().join("templates/default/statics/link.json"),
        )
        .unwrap();
        assert_eq!(get(store, "/statics/link.json", "").await.status, 404);
    }
    put(store, "templates/default/statics/main.css", "a{}");
    let answer = get(store, "/statics/main.css", "").await;
    assert_eq!(
        (answer.status, answer.header("content-type"), answer.text().as_str()),
        (200, Some("text/css; charset=utf-8"), "a{}")
    );
    let tag = answer.header("etag").unwrap().to_owned();
    assert_eq!(get(store, "/statics/main.css", &format!("if-none-match: {tag}\r\n")).await.status, 304);
    let mark = tag.trim_matches('"');
    for path in [format!("/statics/main.css?v={mark}"), format!("/statics/main.{mark}.css")] {
        let marked = get(store, &path, "").await;
        assert!(marked.header("cache-control").unwrap().contains("immutable"), "{path}");
        assert_eq!(marked.text(), "a{}", "{path}");
    }
    let former = get(store, "/statics/main.0123456789ab.css", "").await;
    assert_eq!((former.status, former.header("cache-control")), (200, Some("no-cache")));
    assert_eq!(get(store, "/statics/main.0123.css", "").await.status, 404);
    let long = "a { color: red }\n".repeat(200);
    put(store, "templates/default/statics/long.css", &long);
    let packed = get(store, "/statics/long.css", "accept-encoding: gzip, br\r\n").await;
    assert_eq!(
        (packed.header("content-encoding"), packed.header("vary")),
        (Some("gzip"), Some("Accept-Encoding"))
    );
    assert!(packed.body.len() < long.len() / 5);
    assert_eq!(get(store, "/statics/long.css", "").await.text(), long);
}
