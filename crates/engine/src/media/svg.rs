//! Drawings: nothing in them may act, lead elsewhere or take long; pages get them as pixels.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::roxmltree::{Document, Node, ParsingOptions};
use resvg::usvg::{ImageHrefResolver, Options, Tree};

/// Most elements of a drawing.
const MOST_ELEMENTS: u32 = 20_000;
/// Deepest element.
const DEEPEST: usize = 64;

/// What drawings are made of. What is not here acts, holds other documents, or can take any time.
const ELEMENTS: [&str; 23] = [
    "circle",
    "clipPath",
    "defs",
    "desc",
    "ellipse",
    "g",
    "line",
    "linearGradient",
    "metadata",
    "path",
    "polygon",
    "polyline",
    "radialGradient",
    "rect",
    "stop",
    "style",
    "svg",
    "symbol",
    "text",
    "title",
    "tspan",
    "use",
    "view",
];
/// Most copies of other elements, which may hold copies themselves.
const MOST_COPIES: usize = 200;

/// Why a drawing is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotInert(pub(super) String);

/// Looks whether a drawing does nothing but show; answers its size.
pub(super) fn check(bytes: &[u8]) -> Result<(u32, u32), NotInert> {
    let not = |words: &str| NotInert(words.to_owned());
    let text = std::str::from_utf8(bytes).map_err(|_| not("it is not UTF-8"))?;
    // Entities can grow without end; without a type of document there are none.
    if text.contains("<!DOCTYPE") || text.contains("<!ENTITY") || text.contains("<?xml-stylesheet") {
        return Err(not("it declares a type of document or a style sheet"));
    }
    let options = ParsingOptions { nodes_limit: MOST_ELEMENTS, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| NotInert(format!("it is no XML: {error}")))?;
    let mut copies = 0;
    for node in document.descendants().filter(Node::is_element) {
        element(&node)?;
        copies += usize::from(node.tag_name().name() == "use");
        if copies > MOST_COPIES || node.ancestors().count() > DEEPEST {
            return Err(not("it copies or nests too much"));
        }
    }
    let size = tree(bytes)?.size();
    let whole = |length: f32| length.ceil().clamp(1.0, 20_000.0) as u32;
    Ok((whole(size.width()), whole(size.height())))
}

fn element(node: &Node<'_, '_>) -> Result<(), NotInert> {
    let name = node.tag_name().name();
    let is_svg = node.tag_name().namespace() == Some("http://www.w3.org/2000/svg");
    // Drawing programs leave notes of their own below `metadata` and beside; they are not drawn.
    if is_svg && !ELEMENTS.contains(&name) {
        return Err(NotInert(format!("<{name}> may act or take long")));
    }
    for attribute in node.attributes() {
        let value = attribute.value().to_ascii_lowercase();
        let name = attribute.name().to_ascii_lowercase();
        let leads_away = name == "href" && !value.trim_start().starts_with('#');
        if name.starts_with("on") || leads_away || reaches_out(&value) {
            return Err(NotInert(format!("its attribute `{name}` acts or leads elsewhere")));
        }
    }
    if name == "style" && node.descendants().filter_map(|part| part.text()).any(reaches_out) {
        return Err(NotInert("its styles lead elsewhere".to_owned()));
    }
    Ok(())
}

/// Whether a style or value names something outside of the drawing.
fn reaches_out(text: &str) -> bool {
    let text: String = text.to_ascii_lowercase().split_whitespace().collect();
    let urls = text.split("url(").skip(1);
    urls.into_iter().any(|rest| !rest.trim_start_matches(['\'', '"']).starts_with('#'))
        || ["@import", "javascript:", "expression(", "\\"].iter().any(|word| text.contains(word))
}

fn tree(bytes: &[u8]) -> Result<Tree, NotInert> {
    // A drawing reads no file of this computer and no other picture, whatever it names.
    let options = Options {
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    };
    Tree::from_data(bytes, &options).map_err(|error| NotInert(format!("it cannot be drawn: {error}")))
}

/// Draws into so many pixels, of which the drawing fills the width or the height.
pub(super) fn draw(bytes: &[u8], width: u32, height: u32) -> Option<Pixmap> {
    let tree = tree(bytes).ok()?;
    let mut pixels = Pixmap::new(width, height)?;
    let (across, down) = (width as f32 / tree.size().width(), height as f32 / tree.size().height());
    resvg::render(&tree, Transform::from_scale(across, down), &mut pixels.as_mut());
    Some(pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(inside: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
             viewBox=\"0 0 40 20\">{inside}</svg>"
        )
    }

    #[test]
    fn a_drawing_that_only_shows_is_taken() {
        let inside = "<defs><linearGradient id='a'><stop stop-color='red'/></linearGradient></defs>\
                      <rect width='40' height='20' fill='url(#a)'/><use href='#a'/>";
        assert_eq!(check(drawing(inside).as_bytes()), Ok((40, 20)));
        let pixels = draw(drawing(inside).as_bytes(), 80, 40).unwrap();
        assert_eq!(pixels.pixel(40, 20).unwrap().red(), 255);
    }

    #[test]
    fn a_drawing_that_acts_or_leads_elsewhere_is_not() {
        for inside in [
            "<script>x()</script>",
            "<rect onload='x()'/>",
            "<a href='https://evil.example'><rect/></a>",
            "<image href='file:///etc/passwd'/>",
            "<use xlink:href='https://evil.example/a.svg#b'/>",
            "<rect style='fill:url(https://evil.example/a)'/>",
            "<style>@import 'https://evil.example/a.css'</style>",
            "<style>rect{fill:u\\72l(https://evil.example/)}</style>",
            "<foreignObject><body xmlns='http://www.w3.org/1999/xhtml'><p/></body></foreignObject>",
            "<filter id='f'><feGaussianBlur stdDeviation='9999'/></filter>",
            "<animate attributeName='href' to='javascript:x()'/>",
            "<unclosed>",
        ] {
            assert!(check(drawing(inside).as_bytes()).is_err(), "{inside}");
        }
        let grows = format!("<!DOCTYPE svg [<!ENTITY a \"b\">]>{}", drawing("&a;"));
        assert!(check(grows.as_bytes()).is_err());
        assert!(
            check(drawing(&"<g>".repeat(100)).replace("</svg>", &("</g>".repeat(100) + "</svg>")).as_bytes())
                .is_err()
        );
        assert!(check(drawing(&"<rect/>".repeat(20_001)).as_bytes()).is_err());
        assert!(check(drawing(&"<use href='#a'/>".repeat(201)).as_bytes()).is_err());
    }
}
