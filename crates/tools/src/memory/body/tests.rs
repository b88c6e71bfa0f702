//! Tests of the bodies of notes.

use proptest::prelude::*;

use super::super::allowed::TAGS;
use super::super::weight::Heavy;
use super::{other_tags, tags, words};

fn simple_html(body: &str) -> String {
    super::simple_html(body).unwrap().html
}

#[test]
fn simple_html_is_kept_as_it_is() {
    for body in [
        "<p>Prices end in <b>90</b>.</p><ul><li>one</li><li>two &amp; three</li></ul>",
        "<table><thead><tr><th colspan=\"2\">A</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        "<a href=\"https://example.com/?a=1&amp;b=2\">site</a> <a href=\"/catalog/\">ours</a>",
        "только текст",
        "line one\nline two",
        "",
    ] {
        assert_eq!(simple_html(body), body);
        assert_eq!(simple_html(&simple_html(body)), body);
    }
}

#[test]
fn what_runs_loads_or_styles_is_dropped() {
    for (hostile, kept) in [
        ("<script>alert(1)</script>ok", "ok"),
        ("<scr<script>ipt>alert(1)</script>ok", "&lt;scrok"),
        ("<img src=x onerror=alert(1)>ok", "ok"),
        ("<p onclick=\"alert(1)\" style=\"color:red\" class=x id=y>ok</p>", "<p>ok</p>"),
        ("<a href=\"javascript:alert(1)\">ok</a>", "<a>ok</a>"),
        ("<a href=\"JaVa\tScRiPt:alert(1)\">ok</a>", "<a>ok</a>"),
        ("<a href=\"data:text/html,<script>alert(1)</script>\">ok</a>", "<a>ok</a>"),
        ("<svg><script>alert(1)</script></svg>ok", "ok"),
        ("<svg onload=alert(1)>ok</svg>", "ok"),
        ("<iframe src=\"//x\">in</iframe>ok", "ok"),
        ("<style>p{}</style><link rel=stylesheet href=x><meta http-equiv=refresh content=0>ok", "ok"),
        ("<form action=x><input name=y><button>ok</button></form>", "ok"),
        ("<!-- hidden -->ok", "ok"),
        ("<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>", ""),
        ("<b>open", "<b>open</b>"),
        ("5 < 6 & 7", "5 &lt; 6 &amp; 7"),
    ] {
        let clean = simple_html(hostile);
        assert_eq!(clean, kept, "{hostile}");
    }
}

#[test]
fn what_only_looks_like_a_tag_stays_as_text() {
    for (given, kept) in [
        ("Dear <customer name>,", "Dear &lt;customer name&gt;,"),
        (
            "<p>Dear <Customer>, order <order-number/></p>",
            "<p>Dear &lt;Customer&gt;, order &lt;order-number/&gt;</p>",
        ),
        ("</customer>", "&lt;/customer&gt;"),
        (
            "see <https://example.com/?a=1> or <me@example.com>",
            "see &lt;https://example.com/?a=1&gt; or &lt;me@example.com&gt;",
        ),
        ("<path> and <filter>", "&lt;path&gt; and &lt;filter&gt;"),
        ("if a <b then c", "if a &lt;b then c"),
        ("<p>x</p> a <p", "<p>x</p> a &lt;p"),
        ("<имя>", "&lt;имя&gt;"),
        ("<b<i>x</i>", "&lt;b<i>x</i>"),
    ] {
        let clean = super::simple_html(given).unwrap();
        assert_eq!(clean.html, kept, "{given}");
        assert!(clean.removed.is_empty(), "{given}: {:?}", clean.removed);
        assert_eq!(simple_html(&clean.html), kept, "{given}");
    }
}

#[test]
fn what_was_removed_is_named() {
    for (given, removed) in [
        ("<p>ok</p>", &[][..]),
        ("<img src=x onerror=y><p class=a onclick=b>ok</p>", &["<img>", "class of <p>", "onclick of <p>"]),
        ("<a href='javascript:x' title=y>ok</a><a href='/z'>ok</a>", &["href of <a>"]),
        ("<script>if (a<b) {}</script><font>x</font><FONT>y</FONT>", &["<font>", "<script>"]),
        ("<!-- x --><o:p></o:p><svg><path/></svg>", &["<o:p>", "<path>", "<svg>", "comments"]),
    ] {
        assert_eq!(super::simple_html(given).unwrap().removed, removed, "{given}");
    }
    let many: String = (0..100).map(|number| format!("<b a{number}=1>x</b>")).collect();
    assert_eq!(super::simple_html(&many).unwrap().removed.len(), 20);
}

#[test]
fn words_are_found_across_tags_and_marks() {
    assert_eq!(words("<p>Все <b>це</b>ны</p><p>A &amp; B</p>").trim(), "Все цены  A & B");
    assert_eq!(words("a &unknown; b & c <unclosed"), "a &unknown; b & c <unclosed");
}

#[test]
fn many_bare_marks_are_cleaned_in_time() {
    let begin = std::time::Instant::now();
    assert_eq!(simple_html(&"& ".repeat(2_000)).len(), 2_000 * 6);
    assert_eq!(simple_html(&"&a".repeat(2_000)).len(), 2_000 * 6);
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
}

#[test]
fn marks_keep_their_meaning() {
    for (given, kept) in [
        ("a & b", "a &amp; b"),
        ("a&b;c", "a&amp;b;c"),
        ("&lt;b&gt; &#1087; &#x43F;", "&lt;b&gt; п п"),
        ("&&amp;&", "&amp;&amp;&amp;"),
        ("<a href=\"/?a=1&b=2\">x</a>", "<a href=\"/?a=1&amp;b=2\">x</a>"),
    ] {
        assert_eq!(simple_html(given), kept);
    }
}

#[test]
fn opened_tags_are_counted() {
    assert_eq!(tags("<p>1 < 2</p><br/><B>x"), 3);
    assert_eq!(other_tags("<p>1 < 2</p><br/><!-- x --><B>x</p>"), 3);
}

#[test]
fn a_body_that_takes_the_square_of_its_length_is_refused_at_once() {
    let numbered = |text: &str, count: usize| {
        (0..count).map(|number| text.replace('#', &number.to_string())).collect::<String>()
    };
    let attributes = numbered(" a#", 150_000);
    let heavy = [
        "<b>".repeat(9_990) + &"</p>".repeat(240_000),
        "<b>".repeat(9_990) + &"&lt;".repeat(240_000),
        // Crossed tags are opened anew at each paragraph.
        numbered("<b a=#>", 5_000) + &"<p>x".repeat(5_000),
        numbered("<p><b a=#></p>", 5_000),
        "<b><table><tr><td></b></td></tr></table>".repeat(2_000),
        format!("<b{attributes}>"),
        // Neither a bracket in a value nor a comment hides them.
        format!("<b x='>'{attributes}>"),
        format!("<script><b x=\"</script><b{attributes}>"),
    ];
    let begin = std::time::Instant::now();
    for body in heavy {
        assert!(super::simple_html(&body).is_err(), "{}", &body[..40]);
    }
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
    assert!(matches!(super::simple_html(&"<div>".repeat(200)), Err(Heavy::Deep(101..))));
    simple_html(&"<div>".repeat(90));
}

#[test]
fn large_bodies_that_people_write_are_no_trouble() {
    let row = "<tr><td>1</td><td>2</td><td>3 &amp; 4</td><td><b>x</b></td></tr>";
    let table = format!("<table><tbody>{}</tbody></table>", row.repeat(1_500));
    assert_eq!(simple_html(&table), table);
    // Nobody closes these.
    simple_html(&"<p>a<li>b".repeat(2_000));
    simple_html(&"слово ".repeat(160_000));
    simple_html(&format!(
        "<img src=\"data:image/png;base64,{}\">",
        "ab/c+d==AbCdEfGhIjKlMnOpQrStUvWxYz01234567890123456789aBcDeFgHiJk".repeat(4_000)
    ));
    simple_html(&format!("<!--[if gte mso 9]>{}<![endif]-->", "<xml> <o:x /> </xml>\n".repeat(400)));
}

proptest! {
    #[test]
    fn only_simple_tags_come_out(body in "([a-z &;\"'=/]|<|>|<(script|img|a|p|svg|style|b|math) |on[a-z]{3,5}=|javascript:){0,60}") {
        let clean = simple_html(&body);
        for piece in clean.split('<').skip(1) {
            let name: String = piece.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
            prop_assert!(TAGS.contains(&name.as_str()), "{} in {}", name, clean);
        }
        prop_assert_eq!(simple_html(&clean), clean.clone());
        let _ = words(&body);
    }
}
