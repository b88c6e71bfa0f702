//! The body of a note: simple HTML, whatever was sent.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::Builder;

use super::allowed::{ATTRIBUTES, SCHEMES, TAGS, is_tag};
use super::weight::{Heavy, weigh};

/// Longest name of a tag that is looked at: no tag of HTML has a longer one.
const NAME_MOST: usize = 64;

static SIMPLE: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let attributes = ATTRIBUTES.iter().map(|(tag, kept)| (*tag, kept.iter().copied().collect()));
    let mut builder = Builder::empty();
    builder
        .tags(TAGS.iter().copied().collect())
        .clean_content_tags(["script", "style", "title", "template", "noscript", "iframe"].into())
        .tag_attributes(attributes.collect::<HashMap<_, HashSet<_>>>())
        .url_schemes(SCHEMES.iter().copied().collect())
        // Nothing here opens another window, and every agent would pay for the words.
        .link_rel(None);
    builder
});

/// A body as it may be kept and shown.
#[derive(Debug)]
pub(crate) struct SimpleHtml {
    /// Simple tags only, nothing that runs or loads.
    pub(crate) html: String,
    /// Tags and attributes that were taken out.
    pub(crate) removed: Vec<String>,
}

/// The body as it may be kept and shown. What only looks like a tag, as `<customer name>`, stays as text.
pub(crate) fn simple_html(body: &str) -> Result<SimpleHtml, Heavy> {
    let body = whole_marks(body);
    let body = only_tags(&body);
    let removed = weigh(&body)?;
    Ok(SimpleHtml { html: SIMPLE.clean(&body).to_string(), removed })
}

/// The body with every `<` that begins no tag spelled as text, which the parser would drop with all up to `>`.
fn only_tags(body: &str) -> Cow<'_, str> {
    let lower = body.to_ascii_lowercase();
    let drawn = lower.contains("<svg") || lower.contains("<math");
    let last_end = body.rfind('>').unwrap_or_default();
    let mut out = String::new();
    let mut done = 0;
    for (at, _) in body.match_indices('<') {
        let name = &body[at + 1..];
        let name = name.strip_prefix('/').unwrap_or(name);
        if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            continue;
        }
        let length = name.bytes().take(NAME_MOST).take_while(|byte| !b" \t\n\r\x0c/>".contains(byte)).count();
        let known = name.get(..length).is_some_and(|name| is_tag(name, drawn));
        if !known || at > last_end {
            out.push_str(&body[done..at]);
            out.push_str("&lt;");
            done = at + 1;
        }
    }
    if done == 0 {
        return Cow::Borrowed(body);
    }
    out.push_str(&body[done..]);
    Cow::Owned(out)
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
