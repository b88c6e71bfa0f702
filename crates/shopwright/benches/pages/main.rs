//! What pages cost, beside a bare axum server: `cargo bench -p shopwright --bench pages`.
//!
//! Starts the real engine on a store of many products and drives it over
//! loopback as visitors do. Prints the tables of `docs/performance.md`. What is
//! measured is chosen by variables of the environment:
//!
//! * `BENCH_PARTS`: of `pages`, `buying`, `weight`, `facets`, `hits`, `memory`; all by default.
//! * `BENCH_PRODUCTS` (100000), `BENCH_ROUNDS` (3), `BENCH_TIMES` a round (200), `BENCH_SECONDS` (3),
//!   `BENCH_CLIENTS` (8), `BENCH_VIEWS` (100000), `BENCH_ORDERS` (30).
//! * `BENCH_STORES`: a folder where stores lie that an earlier run made; else they are made anew.
//! * `BENCH_DATABASE_URL`: an empty PostgreSQL database instead of SQLite, for the large store.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a program for developers, which may stop at the first thing that is wrong"
)]

mod client;
mod server;
mod shopper;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::{Line, Times};
use server::Store;
use shopper::{Shopper, Ways};

/// How much is measured.
struct Plan {
    parts: Option<String>,
    rounds: usize,
    times: usize,
    time: Duration,
    clients: usize,
    views: usize,
    orders: usize,
    products: usize,
}

impl Plan {
    fn read() -> Self {
        let number = |name: &str, usual| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
        Self {
            parts: std::env::var("BENCH_PARTS").ok(),
            rounds: number("BENCH_ROUNDS", 3),
            times: number("BENCH_TIMES", 200),
            time: Duration::from_secs(number("BENCH_SECONDS", 3) as u64),
            clients: number("BENCH_CLIENTS", 8),
            views: number("BENCH_VIEWS", 100_000),
            orders: number("BENCH_ORDERS", 30),
            products: number("BENCH_PRODUCTS", 100_000),
        }
    }

    /// Clients, rounds, and the time of each.
    fn load(&self) -> (usize, usize, Duration) {
        (self.clients, self.rounds, self.time)
    }

    fn has(&self, part: &str) -> bool {
        self.parts.as_deref().is_none_or(|parts| parts.split(',').any(|one| one == part))
    }
}

/// A page of the store that is measured.
struct Page {
    name: String,
    path: String,
    /// A product that it shows.
    product: i64,
}

fn main() {
    if std::env::args().any(|word| word == "hello") {
        return server::serve_hello();
    }
    measure();
}

#[tokio::main(worker_threads = 2)]
async fn measure() {
    let plan = Plan::read();
    let folder = tempfile::tempdir().unwrap();
    let stores = std::env::var_os("BENCH_STORES").map_or(folder.path().to_owned(), PathBuf::from);
    let url = std::env::var("BENCH_DATABASE_URL").ok();
    let root = stores.join(if url.is_some() { "postgres" } else { "sqlite" });
    if let Some(took) = server::make(&root, plan.products, url.as_deref()) {
        let size = std::fs::metadata(root.join("core/store.db")).map_or(0, |file| file.len() >> 20);
        println!(
            "store seed, {} products: {:.0} s; {size} MB as a file\n",
            plan.products,
            took.as_secs_f64()
        );
    }
    let store = Store::start(&root).await;
    let (engine, workers, count) = store.memory();
    println!("just started: engine {engine:.0} MB, {count} workers {workers:.0} MB\n");
    let pages = pages(&store).await;
    store.keep_pages(true).await;
    if plan.has("weight") {
        weights(&store, &pages).await;
    }
    if plan.has("pages") {
        units_and_pages(&plan, &store, &pages).await;
    }
    if plan.has("buying") {
        buying(&plan, &store).await;
    }
    if plan.has("hits") {
        hits(&plan, &store).await;
    }
    if plan.has("facets") {
        facets(&plan, &store, &stores.join("small")).await;
    }
    if plan.has("memory") {
        memory(&plan, &store).await;
    }
}

fn number(row: &db::Row) -> i64 {
    row.get("it").unwrap()
}

fn text(row: &db::Row) -> String {
    row.get("it").unwrap()
}

async fn slugs(store: &Store, entity: &str, rest: &str) -> Vec<String> {
    let sql = format!(
        "select path as it from slugs where entity = '{entity}' and state = 'kCurrent' and language = 'en'
           and elem_id in (select id from {entity} where state = 'kShown' and deleted is null) {rest}"
    );
    let paths = store.column(sql, text).await;
    paths.into_iter().map(|path| format!("/{}", path.trim_start_matches('/'))).collect()
}

async fn product_at(store: &Store, path: &str) -> i64 {
    let path = path.trim_start_matches('/');
    let sql = format!(
        "select elem_id as it from slugs where entity = 'products' and trim(path, '/') = '{path}' and state = 'kCurrent'"
    );
    store.column(sql, number).await[0]
}

/// A product that a page shows, by the first link to one.
async fn product_on(store: &Store, html: &str) -> i64 {
    let body = html.split_once("<main").map_or(html, |(_, rest)| rest);
    for link in body.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        let path = link.trim_start_matches('/').split('?').next().unwrap();
        if path.is_empty() || path.contains(['\'', ':', '#']) {
            continue;
        }
        let sql = format!(
            "select elem_id as it from slugs where entity = 'products' and path_folded in ('{path}', '/{path}') and state = 'kCurrent'"
        );
        if let Some(id) = store.column(sql, number).await.first() {
            return *id;
        }
    }
    0
}

/// The pages of the store that are measured.
async fn pages(store: &Store) -> Vec<Page> {
    let mut line = Line::open(store.address).await;
    // The category with the most products.
    let sql = "select category_id as it from product_categories group by category_id order by count(*) desc limit 1";
    let category = store.column(sql.to_owned(), number).await[0];
    let category = slugs(store, "categories", &format!("and elem_id = {category}")).await[0].clone();
    let product = slugs(store, "products", "order by elem_id limit 1").await[0].clone();
    let mut pages = Vec::new();
    for (name, path) in [
        ("home", "/".to_owned()),
        ("category with facets", category),
        ("product", product),
        ("search", "/search?q=sencha".to_owned()),
    ] {
        let html = line.text(&path).await;
        let product = match name {
            "product" => product_at(store, &path).await,
            _ => product_on(store, &html).await,
        };
        assert!(product > 0, "{path} shows no product");
        pages.push(Page { name: name.to_owned(), path, product });
    }
    pages
}

/// The weight of what somebody new loads for a page, without pictures.
async fn weights(store: &Store, pages: &[Page]) {
    println!("| page | HTML, KB | with CSS, scripts, fonts, KB | requests | of others |");
    println!("|---|---|---|---|---|");
    let mut line = Line::open(store.address).await;
    let own = [("cart", "/cart"), ("account", "/account")];
    let pages = pages.iter().map(|page| (page.name.as_str(), page.path.as_str())).chain(own);
    for (name, path) in pages {
        let html = line.get(path).await.body.len();
        let page = line.text(path).await;
        let mut links = loaded(&page);
        links.sort_unstable();
        links.dedup();
        let others = links.iter().filter(|link| link.contains("//")).count();
        let (mut bytes, mut requests) = (html, 1);
        for link in links.iter().filter(|link| !link.contains("//")) {
            let answer = line.get(link).await;
            assert_eq!(answer.status, 200, "{link}");
            bytes += answer.body.len();
            requests += 1;
        }
        println!("| {name} | {:.1} | {:.1} | {requests} | {others} |", html as f64 / 1e3, bytes as f64 / 1e3);
    }
    println!();
}

/// What a page loads by itself beside pictures: style sheets, scripts, fonts.
fn loaded(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for tag in page.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        let attribute = |name: &str| {
            let rest = tag.split_once(&format!(" {name}=\""))?.1;
            rest.split('"').next().map(|value| value.replace("&amp;", "&"))
        };
        let rel = attribute("rel").unwrap_or_default();
        if tag.starts_with("link ") && ["stylesheet", "preload", "modulepreload"].contains(&rel.as_str()) {
            links.extend(attribute("href"));
        }
        if tag.starts_with("script ") || tag.starts_with("iframe ") {
            links.extend(attribute("src"));
        }
    }
    links
}

/// Units by themselves, then whole pages.
async fn units_and_pages(plan: &Plan, store: &Store, pages: &[Page]) {
    println!("| page | state | median, ms | p99, ms | pages/s | processor, ms a page |");
    println!("|---|---|---|---|---|---|");
    let (hello, address) = server::hello();
    let mut line = Line::open(address).await;
    let times = client::in_a_row(&mut line, "/", plan.rounds, plan.times).await;
    let rate = client::rate(address, "/", plan.load(), || hello.worked()).await;
    println!("| bare axum \"hello\" | | {} | {:.0} | {:.4} |", times.cells(), rate.pages, rate.work);
    let home = store.root.join("units/home.js");
    let usual = std::fs::read_to_string(&home).unwrap();
    let product = pages[2].product;
    for (name, unit, mark) in [
        ("a unit call", UNIT.to_owned(), "<p>A unit</p>"),
        ("a unit with a host call", HOST.replace("ID", &product.to_string()), "<p>Host: "),
        ("a page of ten units", TEN.replace("ID", &product.to_string()), "<main>Ten"),
    ] {
        store.lay("units/bench_part.js", PART);
        store.lay("units/bench_part.json", "{}");
        store.lay("templates/default/units/bench_part/main.htm", PART_TEMPLATE);
        store.lay("templates/default/units/home/bench.htm", TEN_TEMPLATE);
        store.lay("units/home.js", &unit);
        until(store, mark).await;
        let page = Page { name: name.to_owned(), path: "/".to_owned(), product };
        states(plan, store, &page).await;
    }
    store.lay("units/home.js", &usual);
    until(store, "<main").await;
    for page in pages {
        states(plan, store, page).await;
    }
    println!();
}

const UNIT: &str = "export const main = () => '<p>A unit</p>';";
const HOST: &str = "export const main = () => '<p>Host: ' + shop.products.get(ID).name + '</p>';";
const TEN: &str = "export function main() {
  return shop.render('bench.htm', { ids: Array.from({ length: 10 }, (_, at) => ID + at) });
}";
const TEN_TEMPLATE: &str = "<main>Ten{% for id in ids %}{{ unit('bench_part', id=id) }}{% endfor %}</main>";
const PART: &str = "export function main({ id }) {
  return shop.render('main.htm', { product: shop.products.get(id) });
}";
const PART_TEMPLATE: &str = "<article><h2>{{ product.name }}</h2>{% for variant in product.variants %}<p>{{ variant.title }}: {{ variant.price.text }}</p>{% endfor %}</article>";

/// Waits until the home page holds this.
async fn until(store: &Store, mark: &str) {
    let mut line = Line::open(store.address).await;
    let begin = Instant::now();
    loop {
        let page = line.text("/").await;
        if page.contains(mark) {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "{mark}: {page}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A page cold, warm and after a price change.
async fn states(plan: &Plan, store: &Store, page: &Page) {
    let mut line = Line::open(store.address).await;
    let Page { name, path, .. } = page;
    store.keep_pages(false).await;
    let cold = client::in_a_row(&mut line, path, plan.rounds, plan.times / 2 + 1).await;
    let rate = client::rate(store.address, path, plan.load(), || store.process.worked()).await;
    println!("| {name} | cold | {} | {:.0} | {:.2} |", cold.cells(), rate.pages, rate.work);
    store.keep_pages(true).await;
    line.get(path).await;
    let warm = client::in_a_row(&mut line, path, plan.rounds, plan.times).await;
    let rate = client::rate(store.address, path, plan.load(), || store.process.worked()).await;
    println!("| {name} | warm | {} | {:.0} | {:.4} |", warm.cells(), rate.pages, rate.work);
    let mut changed = Times::default();
    for _ in 0..plan.rounds {
        let mut round = Vec::new();
        for _ in 0..plan.times / 10 + 1 {
            store.change_price(page.product).await;
            let asked = Instant::now();
            let answer = line.get(path).await;
            round.push(asked.elapsed());
            assert_eq!(answer.status, 200, "{path}");
        }
        changed.add(round);
    }
    println!("| {name} | after a price change | {} | | |", changed.cells());
}

/// Goods that can be bought, and how.
async fn goods(store: &Store, most: usize) -> (Vec<i64>, Ways) {
    // Not those that were sold before and are not any more.
    let sql = format!(
        "select s.variant_id as it from stock s join variants v on v.id = s.variant_id and v.deleted is null
         where s.on_hand - s.reserved > 20 and s.location_id = (select id from locations where skey = 'kMain')
           and v.product_id in (select product_id from listing where available)
           and exists (select 1 from prices p where p.variant_id = v.id)
         order by s.variant_id desc limit {most}"
    );
    let variants = store.column(sql, number).await;
    let key = |table: &str, key: &str| format!("select id as it from {table} where skey = '{key}'");
    let ways = Ways {
        shipping: store.column(key("shipping_methods", "post"), number).await[0],
        payment: store.column(key("payment_methods", "transfer"), number).await[0],
    };
    (variants, ways)
}

/// Steps of a purchase. They are each visitor's own, so nothing of them is ever kept.
async fn buying(plan: &Plan, store: &Store) {
    let (variants, ways) = goods(store, 200).await;
    let mut line = Line::open(store.address).await;
    let mut steps: [Times; 5] = Default::default();
    let mut changed = Times::default();
    let mut next = 0;
    for _ in 0..plan.rounds {
        let mut rounds: [Vec<Duration>; 5] = Default::default();
        let mut after = Vec::new();
        for _ in 0..plan.times / 10 + 1 {
            let variant = variants[next % variants.len()];
            next += 1;
            let bought = Shopper::new(&mut line).buy(variant, &ways).await;
            let took = [bought.add, bought.cart, bought.contact, bought.summary, bought.place];
            for (round, took) in rounds.iter_mut().zip(took) {
                round.push(took);
            }
            let mut shopper = Shopper::new(&mut line);
            shopper.add(variant).await;
            let sql = format!("select product_id as it from variants where id = {variant}");
            store.change_price(store.column(sql, number).await[0]).await;
            after.push(shopper.page("/cart").await.0);
        }
        for (step, round) in steps.iter_mut().zip(rounds) {
            step.add(round);
        }
        changed.add(after);
    }
    println!("| step | median, ms | p99, ms |");
    println!("|---|---|---|");
    let names = [
        "add to cart, on disk when answered",
        "the cart",
        "checkout: address taken",
        "checkout: summary",
        "checkout: order placed, on disk when answered",
    ];
    for (name, step) in names.iter().zip(&steps) {
        println!("| {name} | {} |", step.cells());
    }
    println!("| the cart after a price change | {} |\n", changed.cells());
}

/// How many of the product pages come out of the cache while others are bought.
async fn hits(plan: &Plan, store: &Store) {
    let viewed = slugs(store, "products", "order by elem_id limit 200").await;
    let (variants, ways) = goods(store, plan.orders).await;
    let mut line = Line::open(store.address).await;
    for path in &viewed {
        line.get(path).await;
    }
    let (mut hit, mut missed) = (0.0, 0.0);
    let begin = Instant::now();
    for (second, variant) in (1_u64..).zip(&variants) {
        Shopper::new(&mut line).buy(*variant, &ways).await;
        let before = store.hits().await;
        for path in &viewed {
            assert_eq!(line.get(path).await.status, 200, "{path}");
        }
        let after = store.hits().await;
        hit += after.0 - before.0;
        missed += after.1 - before.1;
        tokio::time::sleep(Duration::from_secs(second).saturating_sub(begin.elapsed())).await;
    }
    println!(
        "hits: {} orders in {:.0} s, {} views of {} other product pages, {:.1} % out of the cache\n",
        variants.len(),
        begin.elapsed().as_secs_f64(),
        hit + missed,
        viewed.len(),
        100.0 * hit / (hit + missed)
    );
}

/// The same category in a small and in a large store, nothing kept.
async fn facets(plan: &Plan, store: &Store, root: &Path) {
    server::make(root, 200, None);
    let small = Store::start(root).await;
    println!("| category with facets, cold | products | median, ms | p99, ms |");
    println!("|---|---|---|---|");
    for (of, products) in [(&small, 200), (store, plan.products)] {
        of.keep_pages(false).await;
        let mut line = Line::open(of.address).await;
        for path in slugs(of, "categories", "order by elem_id").await.iter().skip(5).take(3) {
            line.get(path).await;
            let times = client::in_a_row(&mut line, path, plan.rounds, plan.times / 2 + 1).await;
            println!("| {path} | {products} | {} |", times.cells());
        }
        of.keep_pages(true).await;
    }
    println!();
}

/// Memory after many views of many addresses.
async fn memory(plan: &Plan, store: &Store) {
    let paths = Arc::new(slugs(store, "products", "order by elem_id").await);
    let begin = Instant::now();
    let work: Vec<_> = (0..plan.clients)
        .map(|first| {
            let (paths, address) = (Arc::clone(&paths), store.address);
            let (clients, views) = (plan.clients, plan.views);
            tokio::spawn(async move {
                let mut line = Line::open(address).await;
                for view in (first..views).step_by(clients) {
                    let path = &paths[view % paths.len()];
                    assert_eq!(line.get(path).await.status, 200, "{path}");
                }
            })
        })
        .collect();
    for client in work {
        client.await.unwrap();
    }
    let (engine, workers, count) = store.memory();
    println!(
        "memory: after {} views of {} addresses in {:.0} s: engine {engine:.0} MB, {count} workers {workers:.0} MB",
        plan.views,
        paths.len().min(plan.views),
        begin.elapsed().as_secs_f64()
    );
}
