//! What a body costs the HTML parser, found out before it is cleaned.
//!
//! The parser takes linear time for what people write and the square of it for
//! what can be made up: it walks the tags that are open at every closing tag,
//! opens them anew where they are crossed, and compares every attribute with
//! those before it. A body is cleaned while the database's only writer is held,
//! so it is first parsed in small pieces into nothing, and put down as soon as
//! it turns out heavy.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{Attribute, ParseOpts, QualName, local_name, ns, parse_fragment};
use wire::text::quoted;

use super::allowed::{TAGS, keeps};

/// Most tags that are open at once.
pub(crate) const DEEPEST: usize = 100;
/// Most elements that come of a body, those that the parser adds too, and attributes.
const ELEMENTS_MOST: usize = 60_000;
/// Most comparisons of attributes, about.
const COMPARISONS_MOST: usize = 10_000_000;
/// Most steps along open tags: for each tag, mark and line, about.
const STEPS_MOST: usize = 2_000_000;
/// Most kinds of tags and attributes that are named as taken out.
const REMOVED_MOST: usize = 20;
/// Longest of their names.
const NAME_MOST: usize = 60;
/// Bytes between two looks at what it costs.
const PIECE: usize = 512;

/// Why a body is too heavy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heavy {
    /// So many tags were open at once, or for long.
    Deep(usize),
    /// So many elements or attributes came of it.
    Many(usize),
}

/// Finds out whether a body can be cleaned in a moment, and what of it is not kept.
pub(crate) fn weigh(body: &str) -> Result<Vec<String>, Heavy> {
    let seen = Rc::new(Seen::default());
    let name = QualName::new(None, ns!(html), local_name!("div"));
    // As the cleaner parses.
    let mut parser = parse_fragment(Nothing(seen.clone()), ParseOpts::default(), name, Vec::new(), false);
    let mut rest = body;
    let (mut silent, mut comparisons, mut steps) = (0, 0_usize, 0_usize);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE));
        rest = after;
        seen.has_token.set(false);
        parser.process(StrTendril::from_slice(piece));
        // In the middle of a tag nothing is told of it: each of these may begin an attribute.
        let breaks = piece.bytes().filter(|byte| b" \t\n\r\x0c/\"'".contains(byte)).count();
        silent = if seen.has_token.get() { 0 } else { silent + breaks };
        comparisons += silent * breaks;
        if comparisons > COMPARISONS_MOST {
            return Err(Heavy::Many(silent));
        }
        seen.judge()?;
        // The parser hands over what stands between these one by one.
        let parts = piece.bytes().filter(|byte| b"<&\n\r".contains(byte)).count();
        steps += parts * seen.held.get();
        if steps > STEPS_MOST {
            return Err(Heavy::Deep(seen.held.get()));
        }
    }
    parser.finish();
    seen.judge()?;
    Ok(seen.removed.take().into_iter().collect())
}

/// What the parser has done so far.
#[derive(Default)]
struct Seen {
    /// Elements that were made, and attributes.
    made: Cell<usize>,
    /// Elements that the parser still holds: open, or to be opened anew.
    held: Cell<usize>,
    /// What the cleaner takes out, in words.
    removed: RefCell<BTreeSet<String>>,
    /// Whether something came out of the text since it was last asked.
    has_token: Cell<bool>,
}

impl Seen {
    /// Notes what of an element is not kept.
    fn look(&self, tag: &str, attributes: &[Attribute]) {
        let mut removed = self.removed.borrow_mut();
        // The parser makes the root itself.
        let is_tag = TAGS.contains(&tag) || tag == "html";
        if !is_tag && removed.len() < REMOVED_MOST {
            removed.insert(quoted(&format!("<{tag}>"), NAME_MOST));
        }
        for attribute in attributes.iter().filter(|_| TAGS.contains(&tag)) {
            let name = &*attribute.name.local;
            if removed.len() < REMOVED_MOST && !keeps(tag, name, &attribute.value) {
                removed.insert(quoted(&format!("{name} of <{tag}>"), NAME_MOST));
            }
        }
    }

    fn judge(&self) -> Result<(), Heavy> {
        let (made, held) = (self.made.get(), self.held.get());
        if held > DEEPEST {
            return Err(Heavy::Deep(held));
        }
        if made > ELEMENTS_MOST { Err(Heavy::Many(made)) } else { Ok(()) }
    }
}

/// An element, counted as long as the parser holds it.
struct Element {
    name: QualName,
    seen: Rc<Seen>,
}

impl Drop for Element {
    fn drop(&mut self) {
        self.seen.held.set(self.seen.held.get() - 1);
    }
}

/// A tree that keeps nothing.
struct Nothing(Rc<Seen>);

impl Nothing {
    fn make(&self, name: QualName) -> Rc<Element> {
        let seen = self.0.clone();
        seen.made.set(seen.made.get() + 1);
        seen.held.set(seen.held.get() + 1);
        Rc::new(Element { name, seen })
    }

    fn other(&self) -> Rc<Element> {
        self.0.has_token.set(true);
        self.make(QualName::new(None, ns!(), local_name!("")))
    }
}

impl TreeSink for Nothing {
    type Handle = Rc<Element>;
    type Output = ();
    type ElemName<'a> = &'a QualName;

    fn elem_name<'a>(&'a self, target: &'a Rc<Element>) -> &'a QualName {
        // Whatever comes out of the text is judged by the element it comes into.
        self.0.has_token.set(true);
        &target.name
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Rc<Element> {
        self.0.has_token.set(true);
        self.0.made.set(self.0.made.get() + attributes.len());
        self.0.look(&name.local, &attributes);
        self.make(name)
    }

    fn create_comment(&self, _: StrTendril) -> Rc<Element> {
        self.0.removed.borrow_mut().insert("comments".to_owned());
        self.other()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Rc<Element> {
        self.other()
    }

    fn get_document(&self) -> Rc<Element> {
        self.other()
    }

    fn get_template_contents(&self, target: &Rc<Element>) -> Rc<Element> {
        target.clone()
    }

    fn same_node(&self, one: &Rc<Element>, other: &Rc<Element>) -> bool {
        Rc::ptr_eq(one, other)
    }

    fn finish(self) {}
    fn parse_error(&self, _: Cow<'static, str>) {}
    fn append(&self, _: &Rc<Element>, _: NodeOrText<Rc<Element>>) {}
    fn append_based_on_parent_node(&self, _: &Rc<Element>, _: &Rc<Element>, _: NodeOrText<Rc<Element>>) {}
    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}
    fn set_quirks_mode(&self, _: QuirksMode) {}
    fn append_before_sibling(&self, _: &Rc<Element>, _: NodeOrText<Rc<Element>>) {}
    fn add_attrs_if_missing(&self, _: &Rc<Element>, _: Vec<Attribute>) {}
    fn remove_from_parent(&self, _: &Rc<Element>) {}
    fn reparent_children(&self, _: &Rc<Element>, _: &Rc<Element>) {}
}
