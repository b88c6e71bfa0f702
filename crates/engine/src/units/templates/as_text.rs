//! A description, which may be HTML, as a text for mails without HTML.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Longest description that is read as HTML.
const LONGEST: usize = 512 * 1024;
/// Tags that end a line where they begin or end.
const BLOCKS: [&str; 17] = [
    "p",
    "div",
    "br",
    "hr",
    "h1",
    "h2",
    "h3",
    "h4",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "tr",
    "table",
    "blockquote",
];

/// Keeps no tag at all, and nothing of scripts and styles.
static NO_TAGS: LazyLock<ammonia::Builder<'static>> = LazyLock::new(|| {
    let mut builder = ammonia::Builder::empty();
    builder.clean_content_tags(HashSet::from(["script", "style", "title"]));
    builder
});

/// The text of a description: blocks stand in lines of their own, points of lists begin with a dash. One without tags
/// stays as it is.
pub(crate) fn as_text(text: &str) -> String {
    if !text.contains('<') || text.len() > LONGEST {
        return text.to_owned();
    }
    let stripped = NO_TAGS.clean(&with_lines(text)).to_string();
    let text = decoded(&stripped);
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        // No two empty lines after each other, and none at the beginning.
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    lines.join("\n").trim_end().to_owned()
}

/// The HTML with line ends before and behind blocks, and with none of its own.
fn with_lines(html: &str) -> String {
    let html = html.replace(['\n', '\r'], " ");
    let mut out = String::with_capacity(html.len() + html.len() / 8);
    let mut rest = html.as_str();
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let is_end = after.starts_with('/');
        let name = after.trim_start_matches('/');
        let end = name.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(name.len());
        let name = name.get(..end).unwrap_or_default().to_ascii_lowercase();
        if BLOCKS.contains(&name.as_str()) && !(is_end && name == "li") {
            out.push('\n');
        }
        // A paragraph is one by the empty line behind it.
        if is_end && matches!(name.as_str(), "p" | "blockquote" | "ul" | "ol" | "table") {
            out.push('\n');
        }
        if name == "li" && !is_end {
            out.push_str("- ");
        }
        if matches!(name.as_str(), "td" | "th") {
            out.push(' ');
        }
        out.push('<');
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Letters as they are instead of as HTML writes them.
fn decoded(text: &str) -> String {
    text.replace("&nbsp;", " ")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::as_text;

    #[test]
    fn html_becomes_lines() {
        let html = "<p>Pay <b>within</b> 14&nbsp;days &amp; name\n the order:</p><ul><li>IBAN: DE00 &lt;1&gt;</li>\
                    <li class='x'>BIC</li></ul><table><tr><td>Bank</td><td>North</td></tr></table>a<br/>b";
        let text = "Pay within 14 days & name the order:\n\n- IBAN: DE00 <1>\n- BIC\n\nBank North\n\na\nb";
        assert_eq!(as_text(html), text);
    }

    #[test]
    fn a_text_stays_as_it_is() {
        assert_eq!(as_text("IBAN 1\nBank & Co  2"), "IBAN 1\nBank & Co  2");
    }

    #[test]
    fn nothing_of_tags_is_left() {
        for html in [
            "<script>x()</script>a",
            "<style>b{}</style>a",
            "<img src=x onerror=y>a",
            "<a href='javascript:x'>a</a>",
            "<!-- <p> -->a",
        ] {
            assert_eq!(as_text(html), "a", "{html}");
        }
        assert_eq!(as_text("a < b"), "a < b");
        assert_eq!(as_text(&"<".repeat(600_000)).len(), 600_000);
    }
}
