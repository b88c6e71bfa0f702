//! Filters of templates, and how a value is written: escaped, without what turns the direction of text.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, Output, State, Value, escape_formatter};
use shop::money::{Currency, format_amount};

use super::as_text::as_text;
use super::{Files, Look};
use crate::units::values::{from_template, to_json};

/// Most tags of a text that is shown as HTML; one that has more is shown as it is written.
const MOST_TAGS: usize = 5000;
/// Longest text that is shown as HTML.
const LONGEST_HTML: usize = 512 * 1024;

/// What descriptions are written with. Pictures come from the store's own files, not from the text.
const TAGS: [&str; 34] = [
    "a",
    "b",
    "blockquote",
    "br",
    "caption",
    "code",
    "dd",
    "del",
    "div",
    "dl",
    "dt",
    "em",
    "h2",
    "h3",
    "h4",
    "hr",
    "i",
    "ins",
    "li",
    "ol",
    "p",
    "s",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

static HTML: LazyLock<ammonia::Builder<'static>> = LazyLock::new(|| {
    let mut builder = ammonia::Builder::empty();
    let spans: HashSet<&str> = ["colspan", "rowspan"].into();
    builder
        .tags(TAGS.into())
        .clean_content_tags(["script", "style"].into())
        .tag_attributes(HashMap::from([("a", HashSet::from(["href"])), ("td", spans.clone()), ("th", spans)]))
        .url_schemes(["http", "https", "mailto", "tel"].into())
        .link_rel(Some("nofollow noopener"));
    builder
});

/// Writes a value into a page. Only what the template itself calls safe is written as it is.
pub(crate) fn write(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.kind() {
        // An absent value is nothing, not the word `none`.
        ValueKind::None => Ok(()),
        ValueKind::Undefined | ValueKind::Bool | ValueKind::Number => escape_formatter(out, state, value),
        _ if value.is_safe() => escape_formatter(out, state, value),
        _ => Ok(out.write_str(&escaped(&value.to_string()))?),
    }
}

/// A text with simple tags only; one without tags stays as it is.
pub(crate) fn clean_html(text: &str) -> String {
    if text.contains('<') { HTML.clean(text).to_string() } else { text.to_owned() }
}

/// A text as it stands in HTML, in an element or a quoted attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for letter in text.chars().filter(|letter| !reaches_out(*letter)) {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// A text without what it could do beyond its own place: turning the direction of what follows, control characters.
/// `None` where there is nothing to take out.
pub(crate) fn plain(text: &str) -> Option<String> {
    if !text.chars().any(reaches_out) {
        return None;
    }
    Some(text.chars().filter(|letter| !reaches_out(*letter)).collect())
}

fn reaches_out(letter: char) -> bool {
    match letter {
        '\t' | '\n' | '\r' => false,
        '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{f8ff}' | '\u{feff}' | '\u{2028}' | '\u{2029}' => true,
        other => other.is_control(),
    }
}

/// Adds the filters and `static()`.
pub(super) fn add(environment: &mut Environment<'static>, look: &Look, files: &Arc<Files>) {
    add_values(environment, look);
    let files = Arc::clone(files);
    environment.add_function("static", move |file: &str| -> Result<String, Error> {
        files.address(file).ok_or_else(|| wrong(format!("no such file in statics: {file}")))
    });
}

/// Adds the filters, which need nothing but what they are given.
pub(crate) fn add_values(environment: &mut Environment<'static>, look: &Look) {
    let (language, currency) = (look.language.clone(), look.currency.clone());
    environment.add_filter("money", move |minor: i64, code: Option<&str>| -> Result<String, Error> {
        money_text(minor, code.unwrap_or(&currency), &language).map_err(wrong)
    });
    let (language, zone) = (look.language.clone(), look.time_zone.clone());
    environment.add_filter("date", move |time: &str, style: Option<&str>| -> Result<String, Error> {
        date_text(time, style.unwrap_or("day"), &language, &zone).map_err(wrong)
    });
    environment
        .add_filter("html", |text: Option<&str>| Value::from_safe_string(html(text.unwrap_or_default())));
    environment.add_filter("as_text", |text: Option<&str>| {
        let text = text.unwrap_or_default();
        as_text(plain(text).as_deref().unwrap_or(text))
    });
    environment.add_filter("decimal", |minor: i64, code: &str| -> Result<String, Error> {
        decimal_text(minor, code).map_err(wrong)
    });
    environment.add_filter("tojson", |value: &Value| Value::from_safe_string(json(value)));
}

fn wrong(words: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, words)
}

/// A sum in its currency's smallest unit, as people read it.
pub(crate) fn money_text(minor: i64, code: &str, language: &str) -> Result<String, String> {
    let currency = Currency::find(code).ok_or_else(|| format!("no such currency: {code}"))?;
    Ok(format_amount(minor, currency, language))
}

/// A sum in its currency's smallest unit, as machines read it.
pub(crate) fn decimal_text(minor: i64, code: &str) -> Result<String, String> {
    let currency = Currency::find(code).ok_or_else(|| format!("no such currency: {code}"))?;
    Ok(decimal(minor, currency.decimals.into()))
}

/// A number of units of its last digit, with a point and no groups.
pub(crate) fn decimal(minor: i64, decimals: usize) -> String {
    let digits = format!("{:0>1$}", minor.unsigned_abs(), decimals + 1);
    let (whole, part) = digits.split_at(digits.len() - decimals);
    let sign = if minor < 0 { "-" } else { "" };
    if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
}

/// A time of the store's zone: `day`, `short`, `time` or `iso`.
pub(crate) fn date_text(time: &str, style: &str, language: &str, zone: &str) -> Result<String, String> {
    let not = || format!("not a time: {}", wire::text::quoted(time, 40));
    if let Ok(date) = time.parse::<Date>()
        && !time.contains(':')
    {
        return Ok(day(date, style, language));
    }
    let moment: Timestamp = time.parse().map_err(|_| not())?;
    let local = TimeZone::get(zone).map_err(|_| format!("no such time zone: {zone}"))?.to_datetime(moment);
    Ok(match style {
        "iso" => moment.to_string(),
        "time" => format!("{} {:02}:{:02}", day(local.date(), "day", language), local.hour(), local.minute()),
        _ => day(local.date(), style, language),
    })
}

fn day(date: Date, style: &str, language: &str) -> String {
    const ENGLISH: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    const RUSSIAN: [&str; 12] = [
        "января",
        "февраля",
        "марта",
        "апреля",
        "мая",
        "июня",
        "июля",
        "августа",
        "сентября",
        "октября",
        "ноября",
        "декабря",
    ];
    let month = |names: [&'static str; 12]| {
        let at = usize::try_from(date.month()).unwrap_or(1);
        names.get(at.saturating_sub(1)).copied().unwrap_or_default()
    };
    match (style, language) {
        ("iso", _) => date.to_string(),
        ("short", "ru") => format!("{:02}.{:02}.{}", date.day(), date.month(), date.year()),
        ("short", _) => format!("{:02}/{:02}/{}", date.day(), date.month(), date.year()),
        (_, "ru") => format!("{} {} {} г.", date.day(), month(RUSSIAN), date.year()),
        (_, _) => format!("{} {} {}", date.day(), month(ENGLISH), date.year()),
    }
}

/// A value as JSON that may stand in a page: nothing in it ends an element or turns the direction of text.
fn json(value: &Value) -> String {
    let text = to_json(&from_template(value)).to_string();
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars().filter(|letter| !reaches_out(*letter)) {
        match letter {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\'' => out.push_str("\\u0027"),
            other => out.push(other),
        }
    }
    out
}

/// A description as HTML: a text without tags in paragraphs, one with tags cleaned to the simple ones.
fn html(text: &str) -> String {
    let text = plain(text).unwrap_or_else(|| text.to_owned());
    let tags = text.matches('<').count();
    if tags == 0 || tags > MOST_TAGS || text.len() > LONGEST_HTML {
        return paragraphs(&text);
    }
    HTML.clean(&text).to_string()
}

fn paragraphs(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for part in text.split("\n\n").map(str::trim).filter(|part| !part.is_empty()) {
        let lines: Vec<String> = part.lines().map(escaped).collect();
        // Writing to a text cannot fail.
        let _ = writeln!(out, "<p>{}</p>", lines.join("<br>"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_paragraphs_or_simple_html() {
        assert_eq!(html("one & two\nthree\n\nfour"), "<p>one &amp; two<br>three</p>\n<p>four</p>\n");
        let evil = "<p onclick=x()>a<script>b</script><img src=x onerror=c><a href='javascript:d'>e</a></p>";
        assert_eq!(html(evil), "<p>a<a rel=\"nofollow noopener\">e</a></p>");
        let heavy = "<b>".repeat(MOST_TAGS + 1);
        assert!(!html(&heavy).contains("<b>"));
    }

    #[test]
    fn a_name_cannot_leave_its_place() {
        assert_eq!(escaped("<b>\"'&\u{202e}"), "&lt;b&gt;&quot;&#39;&amp;");
    }

    #[test]
    fn nothing_turns_the_direction_of_a_page() {
        assert_eq!(plain("a\u{202e}b\u{2067}c\u{200f}d\u{0}e").as_deref(), Some("abcde"));
        assert_eq!(plain("Шапка «Север», 2\u{a0}шт."), None);
    }

    #[test]
    fn sums_for_machines_have_a_point() {
        assert_eq!(
            (decimal(1990, 2), decimal(5, 2), decimal(-5, 2)),
            ("19.90".into(), "0.05".into(), "-0.05".into())
        );
        assert_eq!((decimal(18_600, 3), decimal(1980, 0)), ("18.600".into(), "1980".into()));
    }

    #[test]
    fn days_are_of_the_stores_zone() {
        let evening = "2026-12-31T23:30:00Z";
        assert_eq!(date_text(evening, "day", "en", "Europe/Moscow").unwrap(), "1 January 2027");
        assert_eq!(date_text(evening, "day", "ru", "UTC").unwrap(), "31 декабря 2026 г.");
        assert_eq!(date_text("2026-02-03", "short", "ru", "UTC").unwrap(), "03.02.2026");
        assert_eq!(date_text(evening, "time", "en", "Europe/Moscow").unwrap(), "1 January 2027 02:30");
        assert!(date_text("yesterday", "day", "en", "UTC").is_err());
    }
}
