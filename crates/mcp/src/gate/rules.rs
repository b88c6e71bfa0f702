//! Rules that must be accepted before the tools they cover are carried out.
//!
//! A rule is a Markdown file, found by the tool's name from long to short; the
//! first found covers the tool. A file of the same name in the program's home
//! replaces a built-in one, or adds rules where there are none.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use home::Home;
use wire::paths;

/// Longest text of rules that is taken from the home.
const LONGEST: u64 = 64 * 1024;

/// Rules built into the binary.
const BUILT_IN: &[(&str, &str)] = &[
    ("engine.md", include_str!("../../rules/engine.md")),
    ("repo.md", include_str!("../../rules/repo.md")),
    ("shop.md", include_str!("../../rules/shop.md")),
    ("tool.md", include_str!("../../rules/tool.md")),
];

/// The rules that cover a tool.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Name of the file: what is accepted.
    pub(crate) file: String,
    /// Its text, marks filled in.
    pub(crate) text: String,
}

/// What stands for the marks in a text.
pub(crate) struct Marks<'a> {
    /// The store folder.
    pub(crate) store: &'a Path,
    /// Name of the agent application.
    pub(crate) agent: &'a str,
}

/// The rules that cover this tool, if any.
pub(crate) fn covering(home: &Home, tool: &str, marks: &Marks<'_>) -> Option<Rules> {
    let (file, text) = candidates(tool).find_map(|file| {
        let text = replaced(home, &file).or_else(|| built_in(&file).map(str::to_owned));
        text.map(|text| (file, text))
    })?;
    Some(Rules { file, text: filled(&text, marks) })
}

/// The code that accepts this text in the session that drew `secret`.
///
/// Six digits are enough: guessing costs a call each, and gains nothing that reading would not.
pub(crate) fn code(secret: &[u8; 32], rules: &Rules) -> String {
    let mut hash = blake3::Hasher::new_keyed(secret);
    // The length keeps name and text apart.
    hash.update(&rules.file.len().to_le_bytes());
    hash.update(rules.file.as_bytes());
    hash.update(rules.text.as_bytes());
    hash.finalize().to_hex()[..6].to_owned()
}

/// `engine_db_execute` → `engine_db_execute.md`, `engine_db.md`, `engine.md`.
fn candidates(tool: &str) -> impl Iterator<Item = String> {
    std::iter::successors(Some(tool), |name| name.rsplit_once('_').map(|(shorter, _)| shorter))
        .map(|name| format!("{name}.md"))
}

fn built_in(file: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(name, _)| *name == file).map(|(_, text)| *text)
}

/// The home's own text. One that cannot be read is no replacement.
fn replaced(home: &Home, file: &str) -> Option<String> {
    let path = home.path().join(paths::RULES).join(file);
    let about = path.metadata().ok()?;
    let mut text = String::new();
    if !about.is_file()
        || about.len() > LONGEST
        || File::open(&path).ok()?.take(LONGEST).read_to_string(&mut text).is_err()
    {
        tracing::warn!(file, "Rules in the home cannot be used: a text file of at most 64 KiB is wanted");
        return None;
    }
    Some(text.trim_start_matches('\u{feff}').to_owned())
}

fn filled(text: &str, marks: &Marks<'_>) -> String {
    let install = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    let install = install.unwrap_or_default();
    // One pass, so that what is filled in is not searched again.
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = [
            ("{INSTALL_DIR}", install.display().to_string()),
            ("{STORE_DIR}", marks.store.display().to_string()),
            ("{AGENT}", marks.agent.to_owned()),
        ];
        match known.iter().find(|(mark, _)| rest.starts_with(mark)) {
            Some((mark, value)) => {
                out.push_str(value);
                rest = &rest[mark.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
