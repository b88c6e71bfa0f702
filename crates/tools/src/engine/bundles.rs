//! Bundles: files of a group's statics one behind the other, as one file `bundle.<name>`.
//!
//! Which file is in which bundle says `templates/<group>/bundles.json`, a file with versions like all others. A bundle
//! is built in the transaction of the change, so that it never lags behind its files.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::text::quoted;
use wire::{Refusal, Stop, catalogue};

use crate::{EngineCx, StorePath};

/// What names of built files begin with.
const BUILT: &str = "bundle.";

/// In which bundles a file is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bundled {
    /// main.css: 10, print.css: 2
    #[serde(default)]
    pub(crate) parameters: String,
    /// For people
    #[serde(default)]
    pub(crate) description: String,
}

/// The files of a group's bundles, by their path from the group's folder.
type Entries = BTreeMap<String, Bundled>;

/// Whether a path is that of a built bundle.
pub(crate) fn is_built(path: &StorePath) -> bool {
    matches!(path.parts().as_slice(), ["templates", _, "statics", file] if file.starts_with(BUILT))
}

/// The group of a file that can be in a bundle, and its path in the group.
fn place(path: &StorePath) -> Option<(String, String)> {
    let rest = path.as_str().strip_prefix("templates/")?;
    let (group, rest) = rest.split_once('/')?;
    rest.starts_with("statics/").then(|| (group.to_owned(), rest.to_owned()))
}

fn list_path(group: &str) -> StorePath {
    StorePath::made(format!("templates/{group}/bundles.json"))
}

fn entries(cx: &mut EngineCx<'_>, group: &str) -> Result<Entries, Stop> {
    let Some(file) = cx.load_file(&list_path(group))? else { return Ok(Entries::new()) };
    // A list that somebody broke by hand counts as none; its versions have what it was.
    Ok(serde_json::from_slice(&file.bytes).unwrap_or_default())
}

fn save_entries(cx: &mut EngineCx<'_>, group: &str, entries: &Entries) -> Result<(), Stop> {
    let path = list_path(group);
    if entries.is_empty() {
        if cx.has_file(&path)? {
            cx.remove_file(&path)?;
        }
        return Ok(());
    }
    let text = serde_json::to_string_pretty(entries)? + "\n";
    cx.save_file(&path, text.as_bytes())?;
    Ok(())
}

/// In which bundles a file is; `None` where in none.
pub(crate) fn of(cx: &mut EngineCx<'_>, path: &StorePath) -> Result<Option<Bundled>, Stop> {
    let Some((group, rest)) = place(path) else { return Ok(None) };
    Ok(entries(cx, &group)?.remove(&rest))
}

/// Says in which bundles a file is from now on, and builds what that changes; both fields empty: in none.
pub(crate) fn set(cx: &mut EngineCx<'_>, path: &StorePath, bundled: Bundled) -> Result<(), Stop> {
    let Some((group, rest)) = place(path) else {
        return Err(catalogue::bundle_in_template(&quoted(path.as_str(), 200)).into());
    };
    parts(path, &bundled)?;
    hold(cx, &group)?;
    let mut known = entries(cx, &group)?;
    let is_none = bundled == Bundled::default();
    let before = if is_none { known.remove(&rest) } else { known.insert(rest, bundled) };
    if !(is_none && before.is_none()) {
        save_entries(cx, &group, &known)?;
    }
    build(cx, &group, &known)
}

/// Builds the bundles that a saved file is in.
pub(crate) fn saved(cx: &mut EngineCx<'_>, path: &StorePath) -> Result<bool, Stop> {
    let Some((group, rest)) = place(path) else { return Ok(false) };
    hold(cx, &group)?;
    let known = entries(cx, &group)?;
    let is_in = known.contains_key(&rest);
    if is_in {
        build(cx, &group, &known)?;
    }
    Ok(is_in)
}

/// Follows files that have another path, or are gone; how many of them were in bundles.
pub(crate) fn moved(cx: &mut EngineCx<'_>, files: &[(StorePath, Option<StorePath>)]) -> Result<u64, Stop> {
    let mut groups: BTreeMap<String, Entries> = BTreeMap::new();
    let of_files = files.iter().flat_map(|(from, to)| [Some(from), to.as_ref()]).flatten();
    let names: BTreeSet<String> = of_files.filter_map(|path| place(path).map(|(group, _)| group)).collect();
    for group in names {
        hold(cx, &group)?;
        let known = entries(cx, &group)?;
        groups.insert(group, known);
    }
    let before = groups.clone();
    let mut count = 0;
    for (from, to) in files {
        let Some((group, rest)) = place(from) else { continue };
        let Some(bundled) = groups.get_mut(&group).and_then(|known| known.remove(&rest)) else { continue };
        count += 1;
        if let Some((group, rest)) = to.as_ref().and_then(place)
            && let Some(known) = groups.get_mut(&group)
        {
            known.insert(rest, bundled);
        }
    }
    for (group, known) in groups.iter().filter(|(group, known)| before.get(*group) != Some(known)) {
        save_entries(cx, group, known)?;
        build(cx, group, known)?;
    }
    Ok(count)
}

/// Builds the bundles of a group anew.
pub(crate) fn rebuild(cx: &mut EngineCx<'_>, group: &str) -> Result<(), Stop> {
    hold(cx, group)?;
    let known = entries(cx, group)?;
    build(cx, group, &known)
}

/// Two calls do not change the bundles of one group at once.
fn hold(cx: &mut EngineCx<'_>, group: &str) -> Result<(), Stop> {
    cx.hold_file(&list_path(group))
}

/// Names of bundles with the place of a file in them; what is wrong is refused.
fn parts(path: &StorePath, bundled: &Bundled) -> Result<Vec<(String, i64)>, Refusal> {
    let refused = |why: &str| catalogue::not_bundled(&quoted(path.as_str(), 200), why);
    let ending = |name: &str| name.rsplit_once('.').map(|(_, ending)| ending.to_owned());
    let of_file = ending(path.file_name()).filter(|ending| ["css", "js"].contains(&ending.as_str()));
    let mut found = Vec::new();
    for part in bundled.parameters.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, number) = part.split_once(':').unwrap_or((part, "0"));
        let name = name.trim();
        let fits = name.len() <= 50
            && !name.starts_with('.')
            && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"._".contains(&letter));
        let number = number.trim().parse().ok();
        let (true, Some(number)) = (fits, number) else {
            return Err(refused(&format!(
                "`{}` is no bundle with a number, like `main.css: 10`",
                quoted(part, 80)
            )));
        };
        if of_file.is_none() || ending(name) != of_file {
            return Err(refused(&format!("a bundle `{name}` takes files of its own ending, css or js")));
        }
        found.push((name.to_owned(), number));
    }
    Ok(found)
}

/// Builds every bundle of a group anew, and removes built files that no bundle has any more.
fn build(cx: &mut EngineCx<'_>, group: &str, known: &Entries) -> Result<(), Stop> {
    let mut bundles: BTreeMap<String, BTreeSet<(i64, StorePath)>> = BTreeMap::new();
    for (rest, bundled) in known {
        let path = StorePath::made(format!("templates/{group}/{rest}"));
        for (name, number) in parts(&path, bundled)? {
            bundles.entry(name).or_default().insert((number, path.clone()));
        }
    }
    let folder = format!("templates/{group}/statics");
    let mut left: BTreeSet<StorePath> = BTreeSet::new();
    for entry in cx.files.entries(&folder)? {
        let path = StorePath::made(entry.path);
        if is_built(&path) && cx.has_file(&path)? {
            left.insert(path);
        }
    }
    for (name, files) in bundles {
        let text = joined(cx, &name, files.into_iter().map(|(_, path)| path))?;
        let path = StorePath::made(format!("{folder}/{BUILT}{name}"));
        left.remove(&path);
        let is_new = cx.load_file(&path)?.is_none_or(|file| file.bytes != text.as_bytes());
        if is_new {
            cx.save_file(&path, text.as_bytes())?;
        }
    }
    for path in left {
        cx.remove_file(&path)?;
    }
    Ok(())
}

/// The files of a bundle one behind the other.
fn joined(cx: &mut EngineCx<'_>, name: &str, files: impl Iterator<Item = StorePath>) -> Result<String, Stop> {
    let is_style = name.ends_with(".css");
    let mut whole = String::new();
    for path in files {
        let refused = |why: &str| catalogue::not_bundled(&quoted(path.as_str(), 200), why);
        let file = cx.load_file(&path)?.ok_or_else(|| refused("it is not there"))?;
        let text = String::from_utf8(file.bytes).map_err(|_| refused("it is not utf-8 text"))?;
        if is_style {
            whole.push_str(&short_style(&text));
            whole.push('\n');
        } else {
            whole.push_str(text.trim());
            // A script may end in half a statement, and the next begin with a bracket.
            whole.push_str("\n;\n");
        }
    }
    Ok(whole)
}

/// A style without its comments and the space that nothing means: a run of space outside of texts is one space.
pub(crate) fn short_style(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
            space(&mut short);
        } else if letter == '"' || letter == '\'' {
            let end = text_end(rest, letter);
            let (text, after) = rest.split_at(end);
            short.push_str(text);
            rest = after;
        } else if letter.is_ascii_whitespace() {
            space(&mut short);
            rest = rest.trim_start();
        } else {
            short.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    short.trim().to_owned()
}

/// One space, where there is none yet.
fn space(short: &mut String) {
    if !short.ends_with([' ', '{', '}', ';']) && !short.is_empty() {
        short.push(' ');
    }
}

/// Where a text of a style ends, its mark included.
fn text_end(rest: &str, mark: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if letter == mark => return at + letter.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// Whether brackets of a style come in pairs.
pub(crate) fn has_pairs(text: &str) -> bool {
    let (mut depth, mut rest) = (0_i64, text);
    while let Some(letter) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
            continue;
        }
        let length = if letter == '"' || letter == '\'' { text_end(rest, letter) } else { letter.len_utf8() };
        depth += i64::from(letter == '{') - i64::from(letter == '}');
        if depth < 0 {
            return false;
        }
        rest = &rest[length..];
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_style_means_the_same() {
        for (text, short) in [
            ("a  {\n  color: red;\n}\n/* x */\nb { }", "a {color: red;}b {}"),
            ("a::before { content: \"  /* \\\" */ \"; }", "a::before {content: \"  /* \\\" */ \";}"),
            ("a/**/b{width: calc(1px  +  2px)}", "a b{width: calc(1px + 2px)}"),
            (".a .b , .c{}", ".a .b , .c{}"),
            ("/* never ends", ""),
            ("'open", "'open"),
            ("", ""),
        ] {
            assert_eq!(short_style(text), short, "{text}");
        }
    }

    #[test]
    fn brackets_of_a_style_are_counted_outside_of_texts() {
        assert!(has_pairs("a { b { } } /* { */ c { content: '{' }"));
        assert!(!has_pairs("a { b { }") && !has_pairs("a } {"));
    }

    #[test]
    fn a_file_is_in_bundles_of_its_own_ending() {
        let path = StorePath::parse("path", "templates/a/statics/x.css").unwrap();
        let named = |parameters: &str| {
            let bundled = Bundled { parameters: parameters.to_owned(), description: String::new() };
            parts(&path, &bundled).map_err(|refusal| refusal.name().to_owned())
        };
        let two = vec![("main.css".to_owned(), 10), ("print.css".to_owned(), 2)];
        assert_eq!(named("main.css: 10, print.css:2"), Ok(two));
        assert_eq!(named(""), Ok(Vec::new()));
        for bad in ["main.js: 1", "main: 1", "../a.css: 1", "a/b.css: 1", "main.css: x", ".css: 1", "a b.css"]
        {
            assert_eq!(named(bad), Err("not_bundled".to_owned()), "{bad}");
        }
    }
}
