//! The cache of units and pages: nothing old, nothing of another visitor, and hits where nothing has changed.

use std::collections::HashSet;
use std::fs;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use db::{listing, prices, rows, slugs, stock, texts};
use engine::{Engine, Running};
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Answer, Line, all, get};
use crate::goods::{self, Shop, fill, lay_files, number, write};
use crate::test_store::{NOON, TestClock, TestStore, on_both};
use crate::units::{log, put, put_unit};

/// What a node answers.
async fn page_of(node: &Running, path: &str) -> (u16, String) {
    let mut line = Line::to(("127.0.0.1", node.address().port())).await;
    let answer = line.send(format!("GET {path} HTTP/1.1\r\nhost: shop.example.com\r\n\r\n").as_bytes()).await;
    (answer.status, answer.text())
}

/// Hits, misses and stale ones among them of pages, or of units.
async fn counts(store: &TestStore, what: &str) -> [u64; 3] {
    let text = get(store, "/core/metrics", "").await.text();
    ["hit", "miss", "stale"].map(|outcome| {
        let start = format!("shopwright_cache_total{{what=\"{what}\",outcome=\"{outcome}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&start)).unwrap().parse().unwrap()
    })
}

/// The sample's files, in a store in which nothing changes by itself.
fn lay(store: &TestStore) {
    lay_files(store);
    store.stop_keeping_up();
}

/// Whether the next look at a page is one at a kept one.
async fn is_hit(store: &TestStore, path: &str, headers: &str) -> bool {
    let before = counts(store, "page").await[0];
    get(store, path, headers).await;
    counts(store, "page").await[0] == before + 1
}

/// Looks at a page until it is kept, and at nothing else.
async fn warm(store: &TestStore, path: &str) -> Answer {
    get(store, path, "").await;
    assert!(is_hit(store, path, "").await, "{path}: {:?}", log(store));
    get(store, path, "").await
}

/// A node on the same database that keeps nothing.
async fn without_cache(store: &TestStore, clock: &Arc<TestClock>) -> (Running, TempDir) {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("other");
    for part in ["units", "templates"] {
        copy(&store.root().join(part), &root.join(part));
    }
    fs::create_dir_all(root.join("core/log")).unwrap();
    let text = fs::read_to_string(store.root().join("config.json")).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["cache"] = json!(false);
    let database = config["database"].as_str().unwrap();
    if let Some(path) = database.strip_prefix("sqlite:") {
        config["database"] = format!("sqlite:{}", store.root().join(path).display()).into();
    }
    fs::write(root.join("config.json"), config.to_string()).unwrap();
    let running = Engine::start(root, store.node_options(clock)).await.unwrap();
    running.stop_keeping_up();
    (running, folder)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A number below `most`, the same ones in every run.
fn dice(state: &mut u64, most: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % most
}

const MOMENTS: [&str; 5] = [
    NOON,
    "2026-11-30T12:30:00Z",
    "2026-12-01T08:00:00Z",
    "2026-12-01T07:59:59.999999Z",
    "2026-12-05T00:00:00Z",
];

/// Changes something at random: by the functions that commands use, by statements of agents, by what cascades.
fn change(store: &TestStore, shop: &Shop, state: &mut u64) -> String {
    let now: Timestamp = NOON.parse().unwrap();
    let which = dice(state, 22);
    let some = dice(state, 1000);
    let text = format!("W{some}");
    let product = if some.is_multiple_of(2) { shop.jacket } else { shop.lamp };
    let variant = if some.is_multiple_of(2) { shop.small } else { shop.large };
    let sql = |sql: &str| {
        let sql = sql.to_owned();
        let params: Vec<(&str, db::Value)> =
            [("text", text.as_str().into()), ("id", product.into()), ("variant", variant.into())]
                .into_iter()
                .filter(|(name, _)| sql.contains(&format!(":{name}")))
                .collect();
        write(store, |tx| tx.run(&sql, &params));
        sql
    };
    match which {
        0 => sql("update products set name = :text where id = :id"),
        1 => sql("update categories set name = :text || id"),
        2 => sql("update reviews set text = :text"),
        3 => sql("update attribute_choices set name = :text || id"),
        4 => sql("update product_option_values set name = :text || id"),
        5 => sql("update prices set amount = amount + 1 where variant_id = :variant"),
        6 => sql("delete from attribute_values where product_id = :id"),
        7 => sql("delete from reviews where id = (select max(id) from reviews)"),
        8 => sql("update variants set product_id = :id where id = :variant"),
        9 => sql("update texts set value = :text where field = 'name'"),
        10 => sql("update products set shown_until = '2026-12-01T08:00:00.000000Z' where id = :id"),
        11 => sql("update products set shown_until = null where id = :id"),
        12 => sql(
            "update price_lists set valid_until = case when valid_until is null then '2026-12-02T00:00:00.000000Z' end",
        ),
        13 => sql(
            "update slugs set path = path || 'x', path_folded = path_folded || 'x' where elem_id = :id and entity = 'products'",
        ),
        14 => write(store, |tx| {
            slugs::set(tx, "products", product, "en", &text.to_lowercase(), now)?;
            Ok("slugs::set".to_owned())
        }),
        15 => write(store, |tx| {
            texts::set(tx, "products", product, "en", "seo_title", &text, now)?;
            Ok("texts::set".to_owned())
        }),
        16 => write(store, |tx| {
            goods::review(tx, product, &text, 3, &text)?;
            Ok("review".to_owned())
        }),
        17 => write(store, |tx| {
            let location_id = number(tx, "select id from locations where skey = 'kMain'")?;
            let receipt = stock::Move {
                variant_id: variant,
                location_id,
                quantity: 1,
                kind: "kReceipt".to_owned(),
                source: None,
                reason: String::new(),
                author_id: None,
            };
            stock::add_move(tx, &receipt, now)?;
            Ok("a receipt".to_owned())
        }),
        18 => write(store, |tx| {
            let list_id = number(tx, "select id from price_lists where skey = 'kMain'")?;
            let sale = prices::NewPrice {
                list_id,
                variant_id: variant,
                min_quantity: 1,
                amount: 100 + i64::try_from(some).unwrap(),
                compare_at: Some(9999),
                valid_from: Some("2026-12-01T08:00:00Z".parse().unwrap()),
                valid_until: Some("2026-12-04T00:00:00Z".parse().unwrap()),
            };
            tx.run(
                "delete from prices where variant_id = :id and valid_from is not null",
                &[("id", variant.into())],
            )?;
            prices::set(tx, &sale, None, now)?;
            Ok("a sale to come".to_owned())
        }),
        19 => write(store, |tx| {
            while listing::flush(tx, now)? > 0 {}
            listing::reindex_all(tx, now)?;
            listing::rebuild_counts(tx, None)?;
            Ok("lists made anew".to_owned())
        }),
        20 => write(store, |tx| {
            let file: [(&str, db::Value); 7] = [
                ("entity", "products".into()),
                ("elem_id", product.into()),
                ("real_name", "a.png".into()),
                ("stored_name", format!("{text}.png").into()),
                ("mime", "image/png".into()),
                ("bytes", 1.into()),
                ("sha256", "".into()),
            ];
            tx.run("delete from files", &[])?;
            rows::insert(tx, "files", &file)?;
            Ok("a picture".to_owned())
        }),
        _ => {
            let moment = MOMENTS[usize::try_from(some).unwrap() % MOMENTS.len()];
            store.clock.set_now(moment);
            format!("the clock at {moment}")
        }
    }
}

/// Three units: one that sums a table up by a statement, one that greets by cookie, and the home page around them.
fn put_units(store: &TestStore) {
    put_unit(
        store,
        "home",
        "export function main() { return shop.render('main.htm', {}); }",
        r#"{"description": "Home"}"#,
    );
    put(store, "templates/default/units/home/main.htm", "<p>{{ unit('sum') }}</p>{{ unit('list', n=2) }}");
    put_unit(
        store,
        "sum",
        "export function main() { return shop.value('select count(*) || coalesce(max(text), \\'\\') from reviews'); }",
        "",
    );
    put_unit(
        store,
        "list",
        "export function main({ n }) { return shop.products.list({ per: n }).items.map((one) => one.name + one.price?.text).join(); }",
        "",
    );
}

on_both! {
    async fn no_page_of_any_node_is_ever_older_than_the_last_commit(store: TestStore) {
        store.settings(json!({"languages": ["ru"]})).await;
        lay(store);
        let shop = fill(store);
        let node = store.node(&store.clock).await;
        node.stop_keeping_up();
        let (reference, _folder) = without_cache(store, &store.clock).await;
        let mut state = 20_261_202;
        let paths = [
            "/", "/outdoor", "/lamps", "/trail-jacket", "/desk-lamp", "/ru", "/ru/pohod", "/ru/kurtka-tropa",
            "/outdoor?f_colour[]=green", "/outdoor/jackets?sort=price", "/trail-jacket?v=2",
        ];
        let mut done = Vec::new();
        for round in 0..120 {
            done.push(change(store, &shop, &mut state));
            for _ in 0..2 {
                let path = paths[usize::try_from(dice(&mut state, paths.len() as u64)).unwrap()];
                let expected = page_of(&reference, path).await;
                let here = get(store, path, "").await;
                let here = (here.status, here.text());
                assert_eq!(here, expected, "{round}: {path} after {:?}", done.iter().rev().take(6).collect::<Vec<_>>());
                let there = page_of(&node, path).await;
                assert_eq!(there, expected, "{round}: {path} at the other node after {:?}", done.last());
            }
        }
        let [hits, misses, stale] = counts(store, "page").await;
        let [unit_hits, ..] = counts(store, "unit").await;
        assert!(hits > 0 && stale > 0 && unit_hits > 0, "nothing was tried: {hits}, {misses}, {stale}, {unit_hits}");
        let kinds: HashSet<&String> = done.iter().collect();
        assert!(kinds.len() > 15, "{kinds:?}");
    }

    async fn orders_of_other_products_leave_kept_pages_alone(store: TestStore) {
        lay(store);
        let shop = fill(store);
        let now: Timestamp = NOON.parse().unwrap();
        // What the goods themselves left to be made anew is no order's.
        write(store, |tx| {
            while listing::flush(tx, now)? > 0 {}
            Ok(())
        });
        warm(store, "/desk-lamp").await;
        let before = counts(store, "page").await;
        for _ in 0..30 {
            write(store, |tx| {
                let location_id = number(tx, "select id from locations where skey = 'kMain'")?;
                let receipt = stock::Move {
                    variant_id: shop.small,
                    location_id,
                    quantity: 1,
                    kind: "kReceipt".to_owned(),
                    source: None,
                    reason: String::new(),
                    author_id: None,
                };
                stock::add_move(tx, &receipt, now)?;
                listing::changed(tx, "products", shop.jacket, now)?;
                while listing::flush(tx, now)? > 0 {}
                Ok(())
            });
            for path in ["/desk-lamp", "/trail-jacket"] {
                for _ in 0..2 {
                    assert_eq!(get(store, path, "").await.status, 200);
                }
            }
        }
        let after = counts(store, "page").await;
        let stale = after[2] - before[2];
        // The page of what is bought is made anew once for each order (but the first time, when there was none).
        assert_eq!((after[0] - before[0], stale), (90, 29), "{before:?} {after:?}");
    }

    async fn a_page_is_one_computation_for_all_who_wait(store: TestStore) {
        lay(store);
        fill(store);
        let shared: &TestStore = store;
        let pages = all((0..12).map(|_| get(shared, "/trail-jacket", ""))).await;
        assert!(pages.iter().all(|page| page.status == 200 && page.body == pages[0].body));
        assert_eq!(counts(store, "page").await, [11, 1, 0]);
    }

    async fn a_unit_that_comes_later_has_its_address_at_once(store: TestStore) {
        lay(store);
        fill(store);
        for (path, unit) in [("/search?q=jacket", "search"), ("/cart", "cart"), ("/contact", "contact")] {
            let file = format!("units/{unit}.js");
            let code = fs::read_to_string(store.root().join(&file)).unwrap();
            let others = warm(store, "/trail-jacket").await.text();
            fs::remove_file(store.root().join(&file)).unwrap();
            for _ in 0..3 {
                assert_eq!(get(store, path, "").await.status, 404, "{path} without its unit");
            }
            put(store, &file, "export function main() { return 'new here'; }");
            for _ in 0..3 {
                let page = get(store, path, "").await;
                assert_eq!((page.status, page.text().as_str()), (200, "new here"), "{path}: {:?}", log(store));
            }
            put(store, &file, &code);
            let page = get(store, path, "").await;
            assert!(page.status == 200 && page.text() != "new here", "{path} with its first unit again");
            assert_eq!(get(store, "/trail-jacket", "").await.text(), others);
        }
    }

    async fn visitors_pages_do_not_mix(store: TestStore) {
        put_unit(store, "home", "export function main() { return 'Hello ' + (shop.cookies.name ?? 'you') + shop.unit('one'); }", "");
        put_unit(store, "one", "export function main() { return '!'; }", "");
        assert_eq!(warm(store, "/").await.text(), "Hello you!");
        for name in ["Mara", "Jon", "Mara"] {
            let page = get(store, "/", &format!("cookie: name={name}\r\n")).await;
            assert_eq!(page.text(), format!("Hello {name}!"));
            assert_eq!(page.header("cache-control"), Some("private, no-cache"));
        }
        let page = get(store, "/", "").await;
        assert_eq!((page.text().as_str(), page.header("cache-control")), ("Hello you!", Some("private, no-cache")));
    }

    async fn what_a_request_says_of_itself_changes_nothing(store: TestStore) {
        lay(store);
        fill(store);
        for path in ["/trail-jacket", "/outdoor"] {
            for headers in [
                "x-forwarded-host: evil.example\r\nx-forwarded-proto: https\r\nx-forwarded-for: 9.9.9.9\r\n",
                "accept-language: ru\r\nx-original-url: /desk-lamp\r\nforwarded: host=evil.example\r\n",
                "authorization: Bearer x\r\nrange: bytes=0-3\r\n",
            ] {
                let poisoned = get(store, path, headers).await;
                assert_eq!(poisoned.status, 200);
                let plain = warm(store, path).await;
                assert_eq!(poisoned.text(), plain.text());
                assert!(!plain.text().contains("evil"));
            }
            let mut line = Line::open(store, std::net::Ipv4Addr::LOCALHOST).await;
            let evil = line.send(format!("GET {path} HTTP/1.1\r\nhost: evil.example\r\n\r\n").as_bytes()).await;
            assert!(!evil.text().contains("evil"));
        }
    }

    async fn a_page_goes_out_as_the_visitor_takes_it(store: TestStore) {
        lay(store);
        fill(store);
        let plain = warm(store, "/trail-jacket").await;
        let tag = plain.header("etag").unwrap().to_owned();
        assert_eq!((plain.header("vary"), plain.header("x-frame-options")), (Some("accept-encoding"), Some("DENY")));
        let packed = get(store, "/trail-jacket", "accept-encoding: gzip\r\n").await;
        assert_eq!((packed.header("content-encoding"), packed.header("etag")), (Some("gzip"), Some(tag.as_str())));
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed.body.as_slice()), &mut text).unwrap();
        assert_eq!(text, plain.text());
        let known = get(store, "/trail-jacket", &format!("if-none-match: {tag}\r\n")).await;
        assert_eq!((known.status, known.body.len()), (304, 0));
        write(store, |tx| tx.run("update products set name = 'New name'", &[]));
        let changed = get(store, "/trail-jacket", &format!("if-none-match: {tag}\r\n")).await;
        assert!(changed.status == 200 && changed.text().contains("New name"));
    }

    async fn what_must_happen_each_time_is_not_kept(store: TestStore) {
        put_unit(store, "home", "export function main() { return shop.unit('part'); }", "");
        let part = |code: &str, manifest: &str| put_unit(store, "part", &format!("export function main() {{ {code} }}"), manifest);
        for (code, manifest) in [
            ("shop.log('info', 'seen'); return '1';", ""),
            ("shop.event('kVisit', {}); return '1';", ""),
            ("shop.cookie('a', 'b'); return '1';", ""),
            ("return String(Math.random());", ""),
            ("return String(Date.now());", ""),
            ("return shop.value('select current_timestamp');", ""),
            ("return shop.value('select count(*) from journal');", ""),
            ("return '1';", r#"{"cache": {"on": false}}"#),
            ("return shop.unit('nowhere');", ""),
            ("shop.redirect('/x'); return '1';", ""),
            ("shop.status(404); return '1';", ""),
            ("shop.header('cache-control', 'no-store'); return '1';", ""),
        ] {
            part(code, manifest);
            for _ in 0..2 {
                assert!(!is_hit(store, "/", "").await, "{code}");
            }
        }
        for (code, manifest) in [
            ("return '1';", ""),
            ("shop.header('x-robots-tag', 'noindex'); return shop.request.path;", ""),
            ("return shop.value('select count(*) from products');", ""),
        ] {
            part(code, manifest);
            warm(store, "/").await;
        }
        part("shop.header('x-robots-tag', 'noindex'); return '1';", "");
        assert_eq!(warm(store, "/").await.header("x-robots-tag"), Some("noindex"));
        part("return '1';", r#"{"cache": {"seconds": 60}}"#);
        warm(store, "/").await;
        store.clock.set_now("2026-11-30T12:00:59Z");
        assert!(is_hit(store, "/", "").await);
        store.clock.set_now("2026-11-30T12:01:00Z");
        assert!(!is_hit(store, "/", "").await);
    }

    async fn statements_depend_on_the_tables_they_name(store: TestStore) {
        lay(store);
        put_units(store);
        fill(store);
        let first = warm(store, "/").await.text();
        write(store, |tx| tx.run("update customer_groups set name = 'x'", &[]));
        assert!(is_hit(store, "/", "").await);
        write(store, |tx| tx.run("update reviews set text = 'Zzz'", &[]));
        let next = get(store, "/", "").await.text();
        assert!(next != first && next.contains("Zzz"), "{next}");
        // Files count too: a template, a unit, and a manifest that was not there.
        warm(store, "/").await;
        put(store, "templates/default/units/home/main.htm", "<b>{{ unit('sum') }}</b>");
        assert!(get(store, "/", "").await.text().starts_with("<b>"));
        warm(store, "/").await;
        put(store, "units/sum.js", "export function main() { return 'other'; }");
        assert_eq!(get(store, "/", "").await.text(), "<b>other</b>");
        warm(store, "/").await;
        put(store, "units/home.json", r#"{"cache": {"on": false}}"#);
        assert!(!is_hit(store, "/", "").await && !is_hit(store, "/", "").await);
    }

    async fn the_debugger_tells_hits_and_what_made_them_stale(store: TestStore) {
        store.settings(json!({"debug_code": "Open-1"})).await;
        lay(store);
        put_units(store);
        fill(store);
        let report = async |store: &TestStore| -> Value {
            let answer = get(store, "/", "x-debug-code: Open-1\r\n").await;
            serde_json::from_str::<Value>(&answer.text()).unwrap()["report"].clone()
        };
        let unit = |report: &Value, name: &str| {
            report["units"].as_array().unwrap().iter().find(|unit| unit["unit"] == name).unwrap().clone()
        };
        report(store).await;
        let hit = unit(&report(store).await, "sum");
        assert_eq!((&hit["hit"], &hit["stale"], &hit["depends"][0]), (&json!(true), &Value::Null, &json!("reviews")));
        write(store, |tx| tx.run("update reviews set text = 'y'", &[]));
        let stale = unit(&report(store).await, "sum");
        assert_eq!((&stale["hit"], &stale["stale"]), (&json!(false), &json!("reviews")));
    }

    async fn made_up_fields_push_nothing_out(store: TestStore) {
        store.settings(json!({"cache_mb": 1})).await;
        put_unit(store, "home", "export function main() { return shop.request.path + 'x'.repeat(6000); }", "");
        warm(store, "/").await;
        for number in 0..400 {
            assert_eq!(get(store, &format!("/?x={number}"), "").await.status, 200);
        }
        assert!(is_hit(store, "/", "").await);
        let text = get(store, "/core/metrics", "").await.text();
        let bytes: u64 = text.lines().find_map(|line| line.strip_prefix("shopwright_cache_bytes ")).unwrap().parse().unwrap();
        assert!(bytes <= 1 << 20, "{bytes}");
        // A page that does not read its fields is one page, whatever they are.
        put_unit(store, "home", "export function main() { return 'x'; }", "");
        warm(store, "/").await;
        assert!(is_hit(store, "/?y=1", "").await);
    }
}

/// Carries bytes to a server, until it is cut.
struct Wire {
    port: u16,
    is_cut: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Wire {
    fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (is_cut, streams) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (cut, kept) = (Arc::clone(&is_cut), Arc::clone(&streams));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if cut.load(Ordering::SeqCst) {
                    continue;
                }
                let server = TcpStream::connect(&server).unwrap();
                kept.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                for (mut from, mut to) in
                    [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
                {
                    std::thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        Self { port, is_cut, streams }
    }

    fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_lost_its_line_shows_nothing_old() {
    let Some(mut store) = TestStore::on(crate::test_store::Base::Postgres).await else { return };
    let text = fs::read_to_string(store.root().join("config.json")).unwrap();
    let config: Value = serde_json::from_str(&text).unwrap();
    let database = config["database"].as_str().unwrap().to_owned();
    let server = database.split_once('@').unwrap().1.split(['/', '?']).next().unwrap().to_owned();
    let wire = Wire::to(server.clone());
    let through = database.replace(&server, &format!("127.0.0.1:{}", wire.port));
    store.settings(json!({"database": through})).await;
    lay(&store);
    fill(&store);
    warm(&store, "/desk-lamp").await;
    wire.cut();
    write(&store, |tx| tx.run("update products set name = 'Changed meanwhile'", &[]));
    let lost = get(&store, "/desk-lamp", "").await;
    assert!(lost.status >= 500, "{}", lost.status);
    wire.mend();
    let mut page = get(&store, "/desk-lamp", "").await;
    while page.status != 200 {
        page = get(&store, "/desk-lamp", "").await;
    }
    assert!(page.text().contains("Changed meanwhile"), "{}", page.text());
    warm(&store, "/desk-lamp").await;
}
