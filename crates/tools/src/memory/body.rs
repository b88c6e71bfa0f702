//! The body of a note: simple HTML, whatever was sent.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::Builder;

use super::weight::{Heavy, weigh};

/// What a note is written with. No pictures: they would tell a foreign server who reads the note.
const TAGS: &[&str] = &[
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
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "s",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
];

static SIMPLE: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let spans: HashSet<&str> = ["colspan", "rowspan"].into();
    let mut builder = Builder::empty();
    builder
        .tags(TAGS.iter().copied().collect())
        .clean_content_tags(["script", "style", "title", "template", "noscript", "iframe"].into())
        .tag_attributes(HashMap::from([
            ("a", ["href", "title"].into()),
            ("ol", ["start"].into()),
            ("td", spans.clone()),
            ("th", spans),
        ]))
        .url_schemes(["http", "https", "mailto", "tel"].into())
        // Nothing here opens another window, and every agent would pay for the words.
        .link_rel(None);
    builder
});

/// The body as it may be kept and shown: simple tags only, nothing that runs or loads.
pub(crate) fn simple_html(body: &str) -> Result<String, Heavy> {
    let body = whole_marks(body);
    weigh(&body)?;
    Ok(SIMPLE.clean(&body).to_string())
}

/// How many tags a body opens, roughly.
pub(crate) fn tags(body: &str) -> usize {
    body.as_bytes().windows(2).filter(|pair| pair[0] == b'<' && pair[1].is_ascii_alphabetic()).count()
}

/// How many closing tags, comments and the like it has besides.
pub(crate) fn other_tags(body: &str) -> usize {
    body.as_bytes().windows(2).filter(|pair| pair[0] == b'<' && b"/!?".contains(&pair[1])).count()
}

/// The body with every `&` that begins no mark spelled as one.
///
/// The reader means the same by both, but the parser goes back over a bare
/// `&` and takes the square of their number.
fn whole_marks(body: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = body;
    while let Some(at) = rest.find('&') {
        let after = &rest[at + 1..];
        out.push_str(&rest[..=at]);
        if !begins_mark(after) {
            out.push_str("amp;");
        }
        rest = after;
    }
    if out.is_empty() {
        return Cow::Borrowed(body);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether a name or a number and `;` follow.
fn begins_mark(after: &str) -> bool {
    let name = after.strip_prefix('#').unwrap_or(after);
    let length = name.bytes().take(32).take_while(u8::is_ascii_alphanumeric).count();
    length > 0 && name.as_bytes().get(length) == Some(&b';')
}

/// The words of a body, for searching.
///
/// Not an HTML parser: bodies were cleaned when they were saved, and a
/// searcher needs no more than tags away and the common marks back.
pub(crate) fn words(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('<') {
            let Some(end) = rest.find('>') else { break };
            if !is_inline(&rest[1..end]) {
                out.push(' ');
            }
            rest = &rest[end + 1..];
        } else {
            let (mark, length) = mark(rest);
            out.push(mark);
            rest = &rest[length..];
        }
    }
    out.push_str(rest);
    out
}

/// Tags that stand inside a word do not part it.
fn is_inline(tag: &str) -> bool {
    let name =
        tag.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    matches!(
        name,
        "a" | "b"
            | "i"
            | "u"
            | "s"
            | "em"
            | "strong"
            | "span"
            | "mark"
            | "del"
            | "ins"
            | "small"
            | "sub"
            | "sup"
    )
}

/// The character at the beginning of `rest`, which starts with `&`, and how many bytes spell it.
fn mark(rest: &str) -> (char, usize) {
    const MARKS: &[(&str, char)] =
        &[("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&#39;", '\''), ("&nbsp;", ' ')];
    MARKS
        .iter()
        .find(|(spelled, _)| rest.starts_with(spelled))
        .map_or(('&', 1), |(spelled, c)| (*c, spelled.len()))
}

#[cfg(test)]
mod tests;
