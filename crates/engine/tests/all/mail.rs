//! Mails of units, over the outbox to a real mail server or into files: what is sent once, again, or given up.

use std::fs;
use std::time::{Duration, Instant};

use db::Value as DbValue;
use db::outbox::{self, NewMail};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::client::get;
use crate::kill;
use crate::smtp::{Does, Smtp};
use crate::test_store::{Base, NOON, TestStore, on_both};
use crate::units::{home, log, put, put_unit};

/// A row of the outbox: state, attempts, error, next try, data.
type Row = (String, i64, String, String, String);

fn rows(store: &TestStore) -> Vec<Row> {
    let sql = "select state, attempts, error, next_try, data from outbox order by id";
    let rows = store.db.read(|tx| tx.rows(sql, &[])).unwrap();
    let text = |row: &db::Row, name: &str| row.get::<String>(name).unwrap();
    rows.iter()
        .map(|row| {
            let attempts = row.get("attempts").unwrap();
            (text(row, "state"), attempts, text(row, "error"), text(row, "next_try"), text(row, "data"))
        })
        .collect()
}

/// The outbox, once its rows are as wanted.
async fn rows_when(store: &TestStore, is_wanted: impl Fn(&[Row]) -> bool) -> Vec<Row> {
    let end = Instant::now() + Duration::from_secs(60);
    let mut ticks = tokio::time::interval(Duration::from_millis(50));
    loop {
        ticks.tick().await;
        let rows = rows(store);
        if is_wanted(&rows) {
            return rows;
        }
        assert!(Instant::now() < end, "{rows:?}");
    }
}

fn put_mail(store: &TestStore) {
    put(store, "templates/default/mails/hello/subject.txt", "Hello {{ name }}, from {{ shop.name }}");
    put(store, "templates/default/mails/hello/body.txt", "Dear {{ name }}\n.\n{{ code }}\n");
    put(store, "templates/default/mails/hello/body.htm", "<p>Dear {{ name }}</p>");
}

fn add(store: &TestStore, key: &str) {
    let data = json!({"name": "Ira", "code": "one-time-word"});
    let mail = NewMail { key, template: "hello", address: "ira@example.com", language: "en", data: &data };
    assert!(store.db.write(|tx| outbox::add(tx, &mail, NOON.parse().unwrap())).unwrap());
}

fn server(smtp: &Smtp) -> Value {
    json!({"mail": {
        "server": "127.0.0.1", "port": smtp.port, "security": "none", "login": "shop", "password": "hush-hush",
        "from": "Flowers & Söhne <shop@example.com>",
    }})
}

fn failed(store: &TestStore) -> Vec<Value> {
    let sql = "select data from events where key = 'kMailFailed' order by id";
    let rows = store.db.read(|tx| tx.rows(sql, &[])).unwrap();
    rows.iter().map(|row| serde_json::from_str(&row.get::<String>("data").unwrap()).unwrap()).collect()
}

on_both! {
    async fn a_unit_sends_a_mail_once_its_answer_stands(store: TestStore) {
        let smtp = Smtp::start(&[]);
        store.settings(server(&smtp)).await;
        put_mail(store);
        put_unit(store, "home", "export function main() {
            const data = { name: 'Ира\\r\\nBcc: evil@example.com', code: '<b>7</b>' };
            shop.mail('ira@почта.рф', 'hello', data, { key: 'visit' });
            shop.mail('IRA@xn--80a1acny.xn--p1ai', 'hello', data, { key: 'visit' });
            return shop.request.query.fail ? nix() : 'ok';
        }", r#"{"cache": {"on": false}}"#);
        assert_eq!(get(store, "/?fail=1", "").await.status, 500);
        assert_eq!(rows(store), []);
        assert_eq!(home(store).await, (200, "ok".to_owned()));
        assert_eq!(home(store).await, (200, "ok".to_owned()));

        let told = smtp.wait(1).remove(0);
        let sent = rows_when(store, |rows| rows[0].0 == "kSent").await;
        assert_eq!((sent.len(), sent[0].1, sent[0].4.as_str()), (1, 1, "{}"));
        assert_eq!(told.to, ["<ira@xn--80a1acny.xn--p1ai>"]);
        assert_eq!(told.header("To"), "ira@xn--80a1acny.xn--p1ai");
        assert_eq!((told.header("Bcc"), told.header("Cc")), (String::new(), String::new()));
        assert!(told.header("From").ends_with("<shop@example.com>"), "{}", told.text);
        assert!(told.header("Message-ID").ends_with("@example.com>"), "{}", told.text);
        assert!(told.text.contains("multipart/alternative") && told.text.contains("text/html"), "{}", told.text);
        assert!(told.auth.starts_with("AUTH PLAIN"), "{}", told.auth);
        assert_eq!(smtp.told().len(), 1);
    }

    async fn what_is_no_mail_is_refused_in_words(store: TestStore) {
        put_mail(store);
        for (call, words) in [
            ("'a@b, c@d', 'hello'", "`to` is one address"),
            ("'a@example.com\\nBcc: b@example.com', 'hello'", "`to` is one address"),
            ("'a@example.com', 'nix'", "there is no mail `nix`"),
            ("'a@example.com', '../mails/hello'", "there is no mail"),
            ("'a@example.com', 'hello', 'text'", "`data` is an object"),
            ("'a@example.com', 'hello', { x: 'x'.repeat(70000) }", "`data` is at most"),
            ("'a@example.com', 'hello', {}, { key: '' }", "`key` is a text"),
            ("1, 'hello'", "`to` is a text"),
        ] {
            let code = format!("export function main() {{ try {{ shop.mail({call}); }} catch (e) {{ return e.code + ' ' + e.message; }} }}");
            put_unit(store, "home", &code, r#"{"cache": {"on": false}}"#);
            let page = home(store).await.1;
            assert!(page.starts_with("ARGUMENT ") && page.contains(words), "{call}: {page}");
        }
        put_unit(store, "home", "export function main() {
            for (let i = 0; i < 21; i++) shop.mail('a@example.com', 'hello');
        }", "");
        assert_eq!(home(store).await.0, 500);
        assert!(log(store).pop().unwrap()["error"].as_str().unwrap().contains("over the limit: mails"));
        assert_eq!(rows(store), []);
    }

    async fn without_a_server_mails_are_files(store: TestStore) {
        put_mail(store);
        add(store, "one");
        rows_when(store, |rows| rows[0].0 == "kSent").await;
        let names: Vec<_> = fs::read_dir(store.root().join("core/mail")).unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert!(names.len() == 1 && names[0].ends_with("-hello.eml"), "{names:?}");
        let file = store.root().join("core/mail").join(&names[0]);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("Subject: Hello Ira, from Flowers & Co\r\n"), "{text}");
        let from = text.lines().find(|line| line.starts_with("From: ")).unwrap();
        // The name in Base64, since `&` may not stand there by itself.
        assert_eq!(from, "From: =?utf-8?b?Rmxvd2VycyAmIENv?= <shop@shop.example.com>");
        assert!(text.contains("Date: Mon, 30 Nov 2026 12:00:00 +0000\r\n"), "{text}");
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(file).unwrap().permissions()) & 0o777, 0o600);
    }

    async fn a_server_that_fails_is_tried_again_and_the_mail_keeps_its_number(store: TestStore) {
        let plan = [
            Does::Greets("421 come back later"), Does::Refuses("450 mailbox busy"), Does::HangsUp,
            Does::RefusesMail("451 disk full"), Does::Refuses("535 who are you, hush-hush?"),
        ];
        let smtp = Smtp::start(&plan);
        store.settings(server(&smtp)).await;
        put_mail(store);
        add(store, "one");
        let mut now: Timestamp = NOON.parse().unwrap();
        for attempt in 1..=5 {
            let tried = rows_when(store, |rows| rows[0].1 == attempt && !rows[0].2.is_empty()).await;
            let (state, _, error, next_try, _) = tried[0].clone();
            let next_try: Timestamp = next_try.parse().unwrap();
            assert_eq!(state, "kNew", "{error}");
            assert!(next_try > now && !error.contains("hush-hush"), "{error}");
            store.db.write(|tx| tx.run("update outbox set error = ''", &[])).unwrap();
            now = next_try;
            store.clock.set_now(&now.to_string());
        }
        rows_when(store, |rows| rows[0].0 == "kSent").await;
        let told = smtp.wait(2);
        assert_eq!(told.len(), 2);
        assert_eq!(told[0].header("Message-ID"), told[1].header("Message-ID"));
        assert!(told[1].text.contains("\r\n.\r\n"), "a lone dot is part of the text: {}", told[1].text);
        assert_eq!(failed(store), [] as [Value; 0]);
    }

    async fn what_is_never_taken_is_given_up_with_an_event(store: TestStore) {
        let smtp = Smtp::start(&[Does::Refuses("550 no such mailbox")]);
        store.settings(server(&smtp)).await;
        put_mail(store);
        add(store, "one");
        let rows = rows_when(store, |rows| rows[0].0 == "kFailed").await;
        assert!(rows[0].1 == 1 && rows[0].2.contains("no such mailbox"), "{rows:?}");
        let events = failed(store);
        assert_eq!((events.len(), &events[0]["template"], &events[0]["attempts"]), (1, &json!("hello"), &json!(1)));
        // A mail that cannot be made rests, since its template may be mended, and is given up at last.
        put(store, "templates/default/mails/hello/body.txt", "{{ 1|nix }}");
        add(store, "two");
        let mut now: Timestamp = NOON.parse().unwrap();
        for attempt in 1..=8 {
            let tried = rows_when(store, |rows| rows[1].1 == attempt && rows[1].2.contains("body.txt:1: ")).await;
            store.db.write(|tx| tx.run("update outbox set error = '' where state = 'kNew'", &[])).unwrap();
            now = now.max(tried[1].3.parse().unwrap());
            store.clock.set_now(&now.to_string());
        }
        let rows = rows_when(store, |rows| rows[1].0 == "kFailed").await;
        assert_eq!((rows[1].1, failed(store).len()), (9, 2));
        assert!(smtp.told().is_empty());
    }

    async fn two_nodes_send_each_mail_once(store: TestStore) {
        let smtp = Smtp::start(&[]);
        store.settings(server(&smtp)).await;
        put_mail(store);
        let other = store.node(&store.clock).await;
        for number in 0..30 {
            add(store, &number.to_string());
        }
        rows_when(store, |rows| rows.iter().all(|row| row.0 == "kSent")).await;
        other.stop().await;
        let mut ids: Vec<_> = smtp.told().iter().map(|told| told.header("Message-ID")).collect();
        ids.sort();
        assert_eq!(ids.len(), 30);
        ids.dedup();
        assert_eq!(ids.len(), 30);
    }
}

/// A killed engine may send a mail twice, never not at all, and both have the same number.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_between_sending_and_saying_so_loses_nothing() {
    let mut store = TestStore::on(Base::Sqlite).await.unwrap();
    let smtp = Smtp::start(&[Does::Swallows]);
    store.stop().await;
    store.write_settings(server(&smtp));
    put_mail(&store);
    add(&store, "one");
    let (mut child, _) = kill::start(&store);
    smtp.wait(1);
    child.kill().unwrap();
    child.wait().unwrap();
    let held = rows(&store);
    assert_eq!((held[0].0.as_str(), held[0].1), ("kNew", 1));
    let until: Timestamp = held[0].3.parse().unwrap();
    assert!(until > Timestamp::now(), "nobody else takes it yet");
    let past: DbValue = NOON.into();
    store.db.write(|tx| tx.run("update outbox set next_try = :past", &[("past", past)])).unwrap();
    let (mut child, _) = kill::start(&store);
    let told = smtp.wait(2);
    rows_when(&store, |rows| rows[0].0 == "kSent").await;
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(told[0].header("Message-ID"), told[1].header("Message-ID"));
    assert_eq!(
        told[0].text.replace(&boundary(&told[0].text), ""),
        told[1].text.replace(&boundary(&told[1].text), "")
    );
}

fn boundary(text: &str) -> String {
    text.split_once("boundary=\"").unwrap().1.split('"').next().unwrap().to_owned()
}
