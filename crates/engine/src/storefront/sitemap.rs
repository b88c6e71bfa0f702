//! `/sitemap.xml` and its parts, and `/robots.txt` where the store has none of its own.
//!
//! A part is written to a file page by page, so that memory does not grow with the
//! shop, and handed out from there for a minute.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use db::sitemap::{self, Page};
use jiff::Timestamp;
use uuid::Uuid;
use wire::Stop;

use super::{answer, statics};
use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::http::pages;
use crate::settings::Config;
use crate::units::path::encoded;
use crate::units::templates::escaped;

/// The folder of the parts below the root.
const FOLDER: &str = "core/cache/sitemap";
/// How long a part is handed out before it is made anew.
const FRESH: Duration = Duration::from_secs(60);
/// Pages that are read at once.
const AT_ONCE: i64 = 1000;
/// Largest part that is handed out.
const LARGEST: u64 = 50_000_000;
/// Where visitors do things rather than read.
const NOT_FOR_ROBOTS: [&str; 8] =
    ["/core/", "/*cart", "/*checkout", "/*account", "/*order/", "/*search?", "/*?*sort=", "/*?*f_"];

/// The list of parts.
pub(super) async fn index(State(state): State<Arc<AppState>>) -> Response {
    part_of(state, None).await
}

/// A part: `/sitemap/3.xml`; the first has the home pages, too.
pub(super) async fn part(State(state): State<Arc<AppState>>, Path(name): Path<String>) -> Response {
    let number = name.strip_suffix(".xml").filter(|number| number.len() <= 9);
    let number = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    match number.and_then(|number| number.parse().ok()) {
        Some(number) => part_of(state, Some(number)).await,
        None => pages::not_found_page(&state),
    }
}

async fn part_of(state: Arc<AppState>, number: Option<i64>) -> Response {
    if state.is_locked() {
        return pages::closed(&state);
    }
    let shared = Arc::clone(&state);
    match blocking(move || read(&shared, number)).await {
        Ok(Some(text)) => {
            let headers = [(CONTENT_TYPE, "application/xml; charset=utf-8"), (CACHE_CONTROL, "no-cache")];
            let mut response = (headers, text).into_response();
            answer::dress(&mut response);
            response
        }
        Ok(None) => pages::not_found_page(&state),
        Err(stop) => answer::broken(&state, &stop),
    }
}

/// The file of a part, made anew where it is old; `None` where there is no such part.
fn read(state: &AppState, number: Option<i64>) -> Result<Option<Vec<u8>>, Stop> {
    let name = number.map_or_else(|| "index.xml".to_owned(), |number| format!("{number}.xml"));
    let path = state.root.join(FOLDER).join(name);
    if !is_fresh(&path) {
        let now = state.clock.now();
        let settings = state.settings.current();
        let blocks = state.db.read(|tx| sitemap::blocks(tx, now))?;
        match number {
            None => write(&path, |out| index_to(out, &settings.config, &blocks))?,
            Some(number) if number == 0 || blocks.iter().any(|block| block.number == number) => {
                write(&path, |out| part_to(out, state, &settings.config, number, now))?;
            }
            Some(_) => return Ok(None),
        }
    }
    Ok(Some(wire::files::read_regular(&path, LARGEST)?))
}

fn is_fresh(path: &FilePath) -> bool {
    let made = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    made.and_then(|made| made.elapsed().ok()).is_some_and(|age| age < FRESH)
}

/// Writes a file under another name and puts it into place.
fn write(path: &FilePath, fill: impl FnOnce(&mut dyn Write) -> Result<(), Stop>) -> Result<(), Stop> {
    let folder = path.parent().map(PathBuf::from).unwrap_or_default();
    fs::create_dir_all(&folder)?;
    let fresh = folder.join(format!(".{}", Uuid::new_v4().simple()));
    let mut out = BufWriter::new(File::create_new(&fresh)?);
    let written = fill(&mut out).and_then(|()| Ok(out.flush()?));
    match written {
        Ok(()) => Ok(fs::rename(&fresh, path)?),
        Err(stop) => {
            // It is of no use to anybody; what went wrong is told already.
            let _ = fs::remove_file(&fresh);
            Err(stop)
        }
    }
}

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

fn index_to(out: &mut dyn Write, config: &Config, blocks: &[sitemap::Block]) -> Result<(), Stop> {
    writeln!(out, "{HEAD}<sitemapindex xmlns=\"{SPACE}\">")?;
    if blocks.iter().all(|block| block.number != 0) {
        line(out, "sitemap", &format!("{}/sitemap/0.xml", base(config)), None)?;
    }
    for block in blocks {
        let address = format!("{}/sitemap/{}.xml", base(config), block.number);
        line(out, "sitemap", &address, Some(&block.changed))?;
    }
    Ok(out.write_all(b"</sitemapindex>\n")?)
}

fn part_to(
    out: &mut dyn Write,
    state: &AppState,
    config: &Config,
    number: i64,
    now: Timestamp,
) -> Result<(), Stop> {
    writeln!(out, "{HEAD}<urlset xmlns=\"{SPACE}\">")?;
    if number == 0 {
        line(out, "url", &format!("{}/", base(config)), None)?;
        for language in config.languages.iter().filter(|language| **language != config.language) {
            line(out, "url", &format!("{}/{language}", base(config)), None)?;
        }
    }
    let mut after = -1;
    loop {
        let rows = state.db.read(|tx| sitemap::pages(tx, number, after, AT_ONCE, now))?;
        for page in &rows {
            if let Some(address) = address(config, page) {
                line(out, "url", &address, Some(&page.changed))?;
            }
        }
        match rows.last() {
            Some(last) if rows.len() == usize::try_from(AT_ONCE).unwrap_or(0) => after = last.id,
            _ => break,
        }
    }
    Ok(out.write_all(b"</urlset>\n")?)
}

/// The whole address of a page; `None` in a language that the store does not speak.
fn address(config: &Config, page: &Page) -> Option<String> {
    let path = page.path.trim_start_matches('/');
    let path = if page.language == config.language {
        encoded(path)
    } else if config.languages.contains(&page.language) {
        encoded(&format!("{}/{path}", page.language))
    } else {
        return None;
    };
    Some(format!("{}{path}", base(config)))
}

fn base(config: &Config) -> &str {
    config.url.trim_end_matches('/')
}

fn line(out: &mut dyn Write, name: &str, address: &str, changed: Option<&str>) -> io::Result<()> {
    write!(out, "<{name}><loc>{}</loc>", escaped(address))?;
    // Times lie in tables in UTC with microseconds.
    if let Some(second) = changed.and_then(|changed| changed.get(..19)) {
        write!(out, "<lastmod>{second}Z</lastmod>")?;
    }
    writeln!(out, "</{name}>")
}

/// What robots may read: the store's own file, else what follows from its pages.
pub(super) async fn robots(State(state): State<Arc<AppState>>, request: Request) -> Response {
    if state.root.join("robots.txt").exists() || state.is_locked() {
        return statics::root_file(State(state), request).await;
    }
    let settings = state.settings.current();
    let mut text = "User-agent: *\n".to_owned();
    for path in NOT_FOR_ROBOTS {
        text.push_str(&format!("Disallow: {path}\n"));
    }
    text.push_str(&format!("\nSitemap: {}/sitemap.xml\n", base(&settings.config)));
    let headers = [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CACHE_CONTROL, "max-age=3600")];
    let mut response = (headers, text).into_response();
    answer::dress(&mut response);
    response
}
