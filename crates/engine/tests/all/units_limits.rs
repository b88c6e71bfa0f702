//! Units that take too much: each is stopped within its limit, and the page, other pages and the engine go on.

use crate::client::get;
use crate::test_store::{Base, TestStore};
use crate::units::{crashes, home, log, put, put_unit};

/// A page with one unit inside, which is limited to a short time.
async fn page_with(store: &TestStore, code: &str) -> String {
    put_unit(store, "home", "export function main() { return 'a' + shop.unit('evil') + 'z' }", "");
    put_unit(store, "evil", code, r#"{"limits": {"ms": 1500}}"#);
    let (status, page) = home(store).await;
    assert_eq!(status, 200, "{code}: {page}");
    page
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_takes_too_much_is_left_out_of_the_page() {
    let store = &TestStore::on(Base::Sqlite).await.unwrap();
    for (code, why) in [
        ("export function main() {\n  for (;;) {}\n}", "over the limit: time"),
        ("export function main() {\n  /(a+)+$/.test('a'.repeat(60) + 'b');\n}", "over the limit: time"),
        (
            "export function main() {\n  const a = [];\n  for (;;) a.push('x'.repeat(1 << 20) + a.length);\n}",
            "over the limit: memory",
        ),
        ("export function main() {\n  return main();\n}", "Maximum call stack size exceeded"),
        ("export async function main() {\n  await new Promise(() => {});\n}", "never settles"),
        ("export function main() {\n  return shop.unit('evil');\n}", "deep"),
        ("export function main() {\n  for (;;) shop.select('select 1');\n}", "over the limit: queries"),
        ("export function main() {\n  return 'x'.repeat(20 << 20);\n}", "over the limit: "),
        ("export function main() {\n  return shop.render('loop.htm');\n}", "too many steps"),
    ] {
        put(
            store,
            "templates/default/units/evil/loop.htm",
            "{% for a in range(9999) %}{% for b in range(9999) %}{{ b }}{% endfor %}{% endfor %}",
        );
        let page = page_with(store, code).await;
        assert_eq!(page, "az", "{code}");
        let told = log(store)
            .iter()
            .map(|line| line["error"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>();
        let told =
            told.iter().rev().find(|told| told.contains(why)).unwrap_or_else(|| panic!("{code}: {told:?}"));
        assert!(told.starts_with("Module Runtime Exception: evil:"), "{told}");
    }
    assert!(!crashes(store).is_empty());
    put_unit(store, "evil", "export function main() { return 'well' }", "");
    assert_eq!(home(store).await.1, "awellz");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_pages_are_served_while_units_run_wild() {
    let store = &TestStore::on(Base::Sqlite).await.unwrap();
    let wild_ends = r#"{"limits": {"ms": 2000}}"#;
    put_unit(store, "home", "export function main() { return 'home' }", "");
    put_unit(store, "not_found", "export function main() { for (;;) {} }", wild_ends);
    let wild = async {
        let pages: Vec<_> = crate::client::all((0..2).map(|_| get(store, "/wild", ""))).await;
        pages.iter().map(|page| page.status).collect::<Vec<_>>()
    };
    let calm = async {
        for _ in 0..20 {
            assert_eq!(home(store).await, (200, "home".to_owned()));
        }
    };
    let (wild, ()) = tokio::join!(wild, calm);
    assert_eq!(wild, [404, 404]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_of_a_manifest_are_never_above_the_stores() {
    let store = &TestStore::on(Base::Sqlite).await.unwrap();
    let manifest = r#"{"limits": {"ms": 600000, "memory_mb": 100000, "queries": 1000000}}"#;
    put_unit(store, "home", "export function main() {\n  for (;;) shop.value('select 1');\n}", manifest);
    assert_eq!(home(store).await.0, 500);
    let told = log(store).pop().unwrap()["error"].as_str().unwrap().to_owned();
    assert!(told.contains("over the limit: queries") || told.contains("over the limit: time"), "{told}");
    put_unit(
        store,
        "home",
        "export function main() { const a = []; for (;;) a.push('x'.repeat(1 << 20) + a.length) }",
        manifest,
    );
    assert_eq!(home(store).await.0, 500);
    let told = log(store).pop().unwrap()["error"].as_str().unwrap().to_owned();
    assert!(told.contains("over the limit: memory"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_known_only_where_it_is_granted_and_never_shown() {
    let store = &mut TestStore::on(Base::Sqlite).await.unwrap();
    store
        .settings(serde_json::json!({
            "secrets": {"pay": "s3cr3t-value", "other": "oth3r-value"},
            "grants": {"granted": {"secrets": ["pay"]}},
        }))
        .await;
    put_unit(
        store,
        "home",
        "export function main() { return 'a' + shop.unit('granted') + shop.unit('plain') }",
        "",
    );
    put_unit(
        store,
        "granted",
        "export function main() {\n  const k = shop.secret('pay');\n  shop.log('info', 'key ' + k);\n  return k.length + ':' + k;\n}",
        "",
    );
    put_unit(
        store,
        "plain",
        "export function main() {\n  try { shop.secret('pay') } catch (e) { return e.code }\n  return 'leaked';\n}",
        "",
    );
    assert_eq!(home(store).await, (200, "a12:[secret]NOT_GRANTED".to_owned()));
    put_unit(store, "granted", "export function main() { throw new Error(shop.secret('pay')) }", "");
    assert_eq!(home(store).await.1, "aNOT_GRANTED");
    put_unit(store, "granted", "export function main() { return shop.secret('other') }", "");
    assert_eq!(home(store).await.1, "aNOT_GRANTED");
    let text = format!("{:?}{:?}", log(store), crashes(store));
    assert!(!text.contains("s3cr3t") && !text.contains("oth3r") && text.contains("key [secret]"), "{text}");
    for key in ["secrets", "database", "debug_code", "ip_list", "grants"] {
        put_unit(
            store,
            "home",
            &format!(
                "export function main() {{ try {{ return String(shop.config('{key}')) }} catch (e) {{ return e.code }} }}"
            ),
            "",
        );
        assert_eq!(home(store).await.1, "NOT_GRANTED", "{key}");
    }
}

/// Bytes of this process in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_page_is_served_during_each_attack_and_the_engine_stays_small() {
    let store = &TestStore::on(Base::Sqlite).await.unwrap();
    put_unit(store, "home", "export function main() { return 'home' }", "");
    home(store).await;
    let before = resident();
    for code in [
        "export function main() { for (;;) {} }",
        "export function main() { return main() }",
        "export function main() { return new ArrayBuffer(1 << 30).byteLength + 'x'.repeat(1 << 30) }",
        "export function main() { const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(7)) }",
        "export function main() { return /(a+)+$/.test('a'.repeat(60) + 'b') }",
        "export function main() { for (let n = 0; n < 1e7; n++) shop.value('select 1') }",
        "export async function main() { await new Promise(() => {}) }",
    ] {
        put_unit(store, "not_found", code, r#"{"limits": {"ms": 1500}}"#);
        let attack = async { crate::client::all((0..2).map(|_| get(store, "/wild", ""))).await };
        let calm = async {
            for _ in 0..5 {
                assert_eq!(home(store).await, (200, "home".to_owned()), "{code}");
            }
        };
        let (attacked, ()) = tokio::join!(attack, calm);
        for page in attacked {
            // Of what went wrong the visitor is told nothing.
            assert_eq!(page.status, 404, "{code}");
            let text = page.text();
            assert!(!text.contains("Exception") && !text.contains("limit"), "{text}");
        }
    }
    // Other tests of this process are in it too; one attack alone wants a gigabyte.
    assert!(resident() < before + (512 << 20), "{before} then {}", resident());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_unit_bends_is_bent_for_nobody_else() {
    let store = &TestStore::on(Base::Sqlite).await.unwrap();
    put_unit(
        store,
        "home",
        "export function main() { return shop.unit('evil') + '|' + shop.unit('good') }",
        "",
    );
    let good = "export function main() {
        return String({}.bent) + [1, 2].map(one => one + 1) + shop.value('select 7') + typeof shop.unit }";
    put_unit(store, "good", good, "");
    for evil in [
        "Object.prototype.bent = 'yes'; Array.prototype.map = () => ['bent'];",
        "try { shop.value = () => 9 } catch {} try { delete shop.unit } catch {}",
        "try { Object.defineProperty(globalThis, 'shop', { value: {} }) } catch {} try { globalThis.shop = 1 } catch {}",
        "try { shop.__proto__.value = () => 9 } catch {} try { Object.setPrototypeOf(shop, { bent: 1 }) } catch {}",
        "try { shop.select.constructor('return this')().bent = 1 } catch {}
         try { Function.prototype.call = () => 9; Function.prototype.apply = () => 9 } catch {}",
        "try { shop.request.bent = 1; Object.getPrototypeOf(shop.request).bent = 1 } catch {}",
        "JSON.stringify = () => '\"bent\"'; JSON.parse = () => ({}); Promise.prototype.then = null;",
    ] {
        put_unit(store, "evil", &format!("export function main() {{ {evil} return 'done' }}"), "");
        assert_eq!(home(store).await.1, "done|undefined2,37function", "{evil}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_outside_units_is_imported() {
    let store = &TestStore::on(Base::Sqlite).await.unwrap();
    put(store, "core/own.js", "export const x = 'secret'");
    put(store, "units/sub/own.js", "export const x = 'secret'");
    for path in [
        "core/own.js",
        "../core/own.js",
        "units/../core/own.js",
        "units/sub/own.js",
        "./sub/own.js",
        "/etc/hostname",
        "file:///etc/hostname",
        "https://example.com/x.js",
        "config.json",
        "units/home.json",
        "std",
        "os",
    ] {
        let code =
            format!("import * as x from '{path}'; export function main() {{ return JSON.stringify(x) }}");
        let page = page_with(store, &code).await;
        assert_eq!(page, "az", "{path}");
        let told = log(store).pop().unwrap()["error"].as_str().unwrap().to_owned();
        assert!(told.contains("Module not found!"), "{path}: {told}");
        let code = format!(
            "export async function main() {{ try {{ return JSON.stringify(await import('{path}')) }} catch {{ return '-' }} }}"
        );
        let page = page_with(store, &code).await;
        assert!(page == "a-z" || page == "az", "{path}: {page}");
    }
}

/// The visitor of a page whose worker was killed is told that it does not work, and the next page is whole.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_is_killed_from_outside_is_replaced() {
    use crate::client::Line;
    let mut store = TestStore::on(Base::Sqlite).await.unwrap();
    store.stop().await;
    put_unit(&store, "home", "export function main() { return 'a' + shop.unit('evil') + 'z' }", "");
    put_unit(&store, "evil", "export function main() { for (;;) {} }", r#"{"limits": {"ms": 60000}}"#);
    let (mut engine, port) = crate::kill::start(&store);
    let ask = b"GET / HTTP/1.1\r\nhost: shop.example.com\r\n\r\n";
    let mut line = Line::to(("127.0.0.1", port)).await;
    line.write(ask).await;
    let killing = {
        let engine = engine.id();
        tokio::task::spawn_blocking(move || {
            // Until one works hard: the loop is running in it.
            let started = std::time::Instant::now();
            let busy = loop {
                assert!(started.elapsed().as_secs() < 60, "no worker works");
                if let Some(pid) = children(engine).into_iter().find(|pid| processor_ticks(*pid) > 20) {
                    break pid;
                }
                std::thread::yield_now();
            };
            assert!(
                std::process::Command::new("kill")
                    .args(["-9", &busy.to_string()])
                    .status()
                    .unwrap()
                    .success()
            );
        })
    };
    let page = line.answer().await;
    killing.await.unwrap();
    // The units of a page share a worker.
    assert_eq!(page.status, 500);
    assert!(page.text().contains("does not work just now"), "{}", page.text());
    let told = log(&store).pop().unwrap()["error"].as_str().unwrap().to_owned();
    assert!(told.contains("its worker was lost"), "{told}");
    // All of them, while nothing runs; the next page finds new ones.
    let all = children(engine.id());
    for pid in &all {
        assert!(
            std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success()
        );
    }
    let is_dead = |pid: &u32| stat(*pid).is_none_or(|stat| stat[0] == "Z");
    let started = std::time::Instant::now();
    while !all.iter().all(is_dead) {
        assert!(started.elapsed().as_secs() < 60, "a worker outlives its kill");
        std::thread::yield_now();
    }
    put_unit(&store, "evil", "export function main() { return 'well' }", "");
    let mut line = Line::to(("127.0.0.1", port)).await;
    let page = line.send(ask).await.text();
    assert!(page.contains("awellz"), "{page} {:?}", log(&store));
    engine.kill().unwrap();
    engine.wait().unwrap();
}

/// Processes that this one started.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| stat(*pid).is_some_and(|stat| stat.get(1) == Some(&parent.to_string()))).collect()
}

/// How long a process has had the processor, in hundredths of a second.
#[cfg(target_os = "linux")]
fn processor_ticks(pid: u32) -> u64 {
    stat(pid).and_then(|stat| stat.get(11)?.parse().ok()).unwrap_or(0)
}

/// What the system says of a process, from its state on.
#[cfg(target_os = "linux")]
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}
