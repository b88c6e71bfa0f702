//! How a visited page is shown: saved here, with its title, what was looked for, and the debugger's report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wire::Stop;
use wire::text::quoted;

use crate::site::SiteAnswer;
use crate::{LocalContext, Presented, Table};

/// What a field of `post` takes.
pub(super) const FLAT: &str = "a value or a list of values";
/// Characters of a page that are shown.
const HEAD: usize = 2_000;
/// Most places that are shown of what was looked for.
const FINDS: usize = 5;
/// Bytes shown before and after such a place.
const AROUND: usize = 100;
/// Most characters of a title.
const TITLE: usize = 300;
/// How far into a page its title is looked for.
const TITLE_WITHIN: usize = 256 * 1024;
/// Most units in the answer; all of them are in the file.
const UNITS: usize = 200;

/// A page as it came.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct Answer {
    /// Where the visit ended.
    url: String,
    /// Whether the debugger looked on.
    debug: bool,
    /// Fields that were sent.
    post: Option<Map<String, Value>>,
    /// HTTP status; pages of errors are answers too.
    status: u16,
    /// Size of the page.
    bytes: usize,
    /// Milliseconds it took.
    time: u64,
    /// Title of the page.
    title: Option<String>,
    /// File with the page.
    file: String,
    /// What the debugger tells, with `debug`.
    report: Option<Report>,
    /// Up to five places of what was looked for, with `find`.
    found: Option<Vec<Found>>,
}

/// What the debugger tells; times are in seconds.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Report {
    /// File with the whole report.
    file: String,
    /// Time that went into compiling.
    compile: f64,
    /// Statements and typed calls.
    sql_count: u64,
    /// Their time.
    sql_time: f64,
    /// Whether the store keeps what units answer.
    cache: bool,
    /// Template group.
    template: String,
    /// Language.
    lang: String,
    /// Units of the page: unit, cache_on (wanted), cache_allow (working), queries, query_time.
    units: Table,
}

/// A place of what was looked for.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Found {
    /// Byte, from 1.
    at: usize,
    /// The text around it.
    text: String,
}

/// How a page is to be shown.
pub(super) struct Shown {
    /// Folder in the conversation folder.
    pub(super) folder: &'static str,
    /// What is looked for.
    pub(super) find: Option<String>,
    /// Whether a report was asked for.
    pub(super) debug: bool,
    /// Fields as the agent named them.
    pub(super) post: Option<Map<String, Value>>,
}

impl Shown {
    /// Saves the page and tells of it.
    pub(super) fn present(self, local: &LocalContext, page: SiteAnswer) -> Result<Presented, Stop> {
        let folder = local.conversation.join(self.folder);
        let file = local.write(&folder, &format!("{}.html", page.name), &page.body)?;
        let body = String::from_utf8_lossy(&page.body);
        let mut notes: Vec<String> = page.stayed.into_iter().collect();
        let report = match (self.debug, page.report) {
            (false, _) => None,
            (true, None) => {
                notes.push("The report could not be saved: none came with this page.".to_owned());
                None
            }
            (true, Some(whole)) => match saved_report(local, &folder, &page.name, &whole) {
                Ok(report) => Some(report),
                Err(why) => {
                    notes.push(format!("The report could not be saved: {why}"));
                    None
                }
            },
        };
        let find = self.find.filter(|find| !find.is_empty());
        let answer = Answer {
            url: page.url,
            debug: self.debug,
            post: self.post,
            status: page.status,
            bytes: page.body.len(),
            time: page.took,
            title: title(&body),
            file: file.to_string_lossy().into_owned(),
            report,
            found: find.as_deref().map(|find| found(&page.body, find)),
        };
        if find.is_none() && !self.debug {
            notes.push(body.chars().take(HEAD).collect());
        }
        let text = (!notes.is_empty()).then(|| notes.join("\n"));
        Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
    }
}

/// Saves the whole report beside its page; answers the part that is shown.
fn saved_report(
    local: &LocalContext,
    folder: &std::path::Path,
    name: &str,
    whole: &Value,
) -> Result<Report, String> {
    let told = |value: &Value| value.as_str().map(|text| quoted(text, 100)).unwrap_or_default();
    let seconds = |value: &Value| value.as_f64().unwrap_or_default();
    let units = whole["units"].as_array().map(Vec::as_slice).unwrap_or_default();
    let row = |unit: &Value| {
        let number = |key: &str| if unit[key].is_number() { unit[key].clone() } else { Value::Null };
        let is = |key: &str| json!(unit[key].as_bool().unwrap_or(false));
        [
            json!(told(&unit["unit"])),
            is("cache_on"),
            is("cache_allow"),
            number("queries"),
            number("query_time"),
        ]
    };
    let text = serde_json::to_vec_pretty(whole).map_err(|error| error.to_string())?;
    let file = match local.write(folder, &format!("{name}.report.json"), &text) {
        Ok(file) => file,
        Err(Stop::Refused(refusal)) => return Err(refusal.text()),
        Err(Stop::Broke(_)) => return Err("this computer failed to write it.".to_owned()),
    };
    Ok(Report {
        file: file.to_string_lossy().into_owned(),
        compile: seconds(&whole["compile"]),
        sql_count: whole["sql_count"].as_u64().unwrap_or_default(),
        sql_time: seconds(&whole["sql_time"]),
        cache: whole["cache"].as_bool().unwrap_or(false),
        template: told(&whole["template"]),
        lang: told(&whole["lang"]),
        units: Table::new(
            ["unit", "cache_on", "cache_allow", "queries", "query_time"],
            units.iter().take(UNITS).map(row),
        ),
    })
}

/// Places of a text, without regard to case.
fn found(body: &[u8], find: &str) -> Vec<Found> {
    let Ok(wanted) = regex::bytes::RegexBuilder::new(&regex::escape(find)).case_insensitive(true).build()
    else {
        // Only a text of megabytes is too large for an expression, and no page has it.
        return Vec::new();
    };
    let places = wanted.find_iter(body).take(FINDS);
    let place = |hit: regex::bytes::Match<'_>| {
        let (from, until) = (hit.start().saturating_sub(AROUND), (hit.end() + AROUND).min(body.len()));
        let around = body.get(from..until).unwrap_or_default();
        // Letters that the cut went through are left out.
        let text = String::from_utf8_lossy(around);
        Found { at: hit.start() + 1, text: text.trim_matches('\u{fffd}').to_owned() }
    };
    places.map(place).collect()
}

/// The text of the first `<title>`.
fn title(body: &str) -> Option<String> {
    let head: String = body.chars().take(TITLE_WITHIN).collect();
    let lower = head.to_ascii_lowercase();
    let from = lower.find("<title")?;
    let from = from + lower.get(from..)?.find('>')? + 1;
    let until = lower.get(from..)?.find("</title").map_or(head.len(), |length| from + length);
    let words = head.get(from..until)?.chars().take(10 * TITLE).collect::<String>();
    let words = plain(&words).split_whitespace().collect::<Vec<_>>().join(" ");
    Some(quoted(&words, TITLE))
}

/// A text without the entities that titles have.
fn plain(text: &str) -> String {
    let known = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
        ("&nbsp;", " "),
        // Last: what stands behind it is no entity.
        ("&amp;", "&"),
    ];
    known.iter().fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(body: &[u8], report: Option<Value>) -> SiteAnswer {
        SiteAnswer {
            url: "http://shop.example/".to_owned(),
            name: "index".to_owned(),
            status: 200,
            took: 3,
            body: body.to_vec(),
            report,
            log: Vec::new(),
            stayed: None,
        }
    }

    fn present(find: Option<&str>, debug: bool, page: SiteAnswer) -> (tempfile::TempDir, Presented) {
        let folder = tempfile::tempdir().unwrap();
        let store = std::fs::canonicalize(folder.path()).unwrap();
        let local = LocalContext {
            conversation: store.join("topic"),
            store,
            room: crate::inline::Room::ANSWER,
            trip: std::time::Duration::ZERO,
        };
        let shown = Shown { folder: "pages", find: find.map(str::to_owned), debug, post: None };
        let presented = shown.present(&local, page).unwrap();
        (folder, presented)
    }

    #[test]
    fn a_page_is_saved_byte_for_byte_and_its_beginning_shown() {
        let body =
            [b"<TITLE lang=en>Tea &amp;\n caf\xc3\xa9 &lt;</TITLE>".as_slice(), &[0xff; 3000]].concat();
        let (folder, shown) = present(None, false, page(&body, None));
        let data = shown.data.unwrap();
        assert_eq!(data["title"], "Tea & café <");
        assert_eq!(data["bytes"], body.len());
        assert_eq!(
            (&data["found"], &data["report"], &data["post"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
        assert_eq!(shown.text.unwrap().chars().count(), HEAD);
        assert_eq!(std::fs::read(folder.path().join("topic/pages/index.html")).unwrap(), body);
    }

    #[test]
    fn what_is_looked_for_is_shown_with_its_place_whatever_bytes_are_around() {
        let body = format!("{}Чай{}", "я".repeat(300), "x чАЙ ".repeat(9));
        let (_folder, shown) = present(Some("чай"), false, page(body.as_bytes(), None));
        assert_eq!(shown.text, None);
        let found = shown.data.unwrap()["found"].as_array().unwrap().clone();
        assert_eq!(found.len(), FINDS);
        assert_eq!(found[0]["at"], 601);
        let text = found[0]["text"].as_str().unwrap();
        assert!(text.starts_with('я') && text.contains("Чай") && text.len() <= 206, "{text}");
        let (_folder, shown) = present(Some("nothing"), false, page(body.as_bytes(), None));
        assert_eq!(shown.data.unwrap()["found"], json!([]));
    }

    #[test]
    fn a_title_of_a_megabyte_is_cut_and_an_endless_one_too() {
        for body in
            [format!("<title>{}</title>", "t".repeat(1 << 20)), format!("<title>{}", "t".repeat(9999))]
        {
            let title = title(&body).unwrap();
            assert_eq!(title.chars().count(), TITLE + 1);
        }
        assert_eq!(title("<h1>no</h1>"), None);
    }

    #[test]
    fn a_report_of_any_form_is_shown_as_far_as_it_can_be() {
        let report = json!({"compile": 0.1, "sql_count": 2, "sql_time": "x", "units": [
            {"unit": "home", "cache_on": true, "cache_allow": false, "queries": null, "query_time": {}}, 7]});
        let (folder, shown) = present(None, true, page(b"x", Some(report.clone())));
        assert_eq!(shown.text, None);
        let told = &shown.data.unwrap()["report"];
        assert_eq!(told["units"]["rows"][0], json!(["home", true, false, null, null]));
        assert_eq!(told["sql_time"], 0.0);
        let file = folder.path().join("topic/pages/index.report.json");
        assert_eq!(serde_json::from_slice::<Value>(&std::fs::read(file).unwrap()).unwrap(), report);
        let (_folder, shown) = present(None, true, page(b"x", None));
        assert!(shown.text.unwrap().starts_with("The report could not be saved:"));
        assert_eq!(shown.data.unwrap()["report"], Value::Null);
    }
}
