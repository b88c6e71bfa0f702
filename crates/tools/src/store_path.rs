//! A path of a store's file as an agent names it, checked before anything is looked up.

use wire::text::quoted;
use wire::{Refusal, catalogue};

/// Name of the mark of a folder.
const FOLDER_MARK: &str = ".folder";
/// Longest path, in bytes.
const LONGEST: usize = 1000;
/// Longest part of a path, in bytes.
const LONGEST_PART: usize = 200;
/// Names that stand for devices on some systems, with any extension.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"];
/// Letters that some system or reader takes for a dot, a slash or a colon.
const LOOK_ALIKES: &[char] = &[
    '\u{2024}', '\u{2025}', '\u{2026}', '\u{2044}', '\u{2215}', '\u{2216}', '\u{29f5}', '\u{29f8}',
    '\u{29f9}', '\u{fe52}', '\u{fe68}', '\u{ff0e}', '\u{ff0f}', '\u{ff3c}', '\u{ff1a}', '\u{2236}',
    '\u{a789}',
];

/// A path from the store's root, below one of the places that agents may reach.
///
/// Invariant: it has no part that leads elsewhere, and it is none of the server's own files. Whether a link lies on
/// its way only the disk knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorePath(String);

impl StorePath {
    /// Reads the parameter `name`. `./../` in front, as the reference prints paths, is accepted.
    pub fn parse(name: &str, text: &str) -> Result<Self, Refusal> {
        if text.is_empty() {
            return Err(catalogue::missing_parameter(
                name,
                "A path from the store's root, like units/home.js.",
            ));
        }
        let text = text.strip_prefix("./../").unwrap_or(text);
        let text = text.strip_suffix('/').unwrap_or(text);
        let is_clean = text.len() <= LONGEST && text.split('/').all(is_plain) && !text.chars().any(is_tricky);
        if !is_clean {
            return Err(catalogue::outside_store(name));
        }
        refuse_own(text)?;
        Ok(Self(text.to_owned()))
    }

    /// The path of a file that has versions: one that tools take, or the mark of a folder.
    pub fn kept(text: &str) -> Option<Self> {
        let folder = text.strip_suffix(FOLDER_MARK).and_then(|rest| rest.strip_suffix('/'));
        Self::parse("path", folder.unwrap_or(text)).ok().map(|_| Self(text.to_owned()))
    }

    /// The mark in this folder: a file of its own, so that a folder without files is kept, moved and removed as
    /// files are.
    pub fn folder_mark(&self) -> Self {
        Self(format!("{}/{FOLDER_MARK}", self.0))
    }

    /// The folder whose mark this is.
    pub fn marked_folder(&self) -> Option<&str> {
        self.0.strip_suffix(FOLDER_MARK)?.strip_suffix('/')
    }

    /// The folder it lies in; `None` at the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(folder, _)| Self(folder.to_owned()))
    }

    /// A path that our own code made of checked parts.
    pub(crate) fn made(text: String) -> Self {
        Self(text)
    }

    /// The path from the store's root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its parts.
    pub fn parts(&self) -> Vec<&str> {
        self.0.split('/').collect()
    }

    /// The last part.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

/// Whether an agent may see a file or folder that lies in the store.
pub fn is_open(path: &str) -> bool {
    refuse_own(path).is_ok() && !path.split('/').any(|part| part.starts_with('.'))
}

/// One part of a path that means the same on every system.
fn is_plain(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end();
    let is_device = DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device)) || is_port(stem);
    let is_hidden = part.starts_with('.') && part != ".well-known";
    !part.is_empty()
        && part.len() <= LONGEST_PART
        && !is_hidden
        && !is_device
        && !part.ends_with(['.', ' '])
        && !part.starts_with([' ', '~'])
}

/// `com1`, `LPT9`, `com¹`: ports of a serial or parallel line.
fn is_port(stem: &str) -> bool {
    let mut letters = stem.chars();
    let head: String = letters.by_ref().take(3).collect();
    let is_line = head.eq_ignore_ascii_case("com") || head.eq_ignore_ascii_case("lpt");
    let number: Vec<char> = letters.collect();
    is_line && matches!(number.as_slice(), [digit] if digit.is_ascii_digit() || "¹²³".contains(*digit))
}

/// Letters that no file of a store needs, and by which paths are smuggled.
fn is_tricky(letter: char) -> bool {
    let is_invisible = matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffd}');
    letter.is_control()
        || is_invisible
        || LOOK_ALIKES.contains(&letter)
        || matches!(letter, '\\' | ':' | '%' | '*' | '?' | '"' | '<' | '>' | '|')
}

/// The settings and the server's own files are not for agents, whatever their case: disks differ in that.
fn refuse_own(path: &str) -> Result<(), Refusal> {
    let folded = path.to_lowercase();
    let first = folded.split('/').next().unwrap_or(&folded);
    if first == wire::paths::CONFIG || first.starts_with("config.json") {
        return Err(catalogue::config_closed());
    }
    let is_log = folded.starts_with("core/log/") || folded == "core/log" || folded == "core";
    let is_marker = [wire::paths::ADMIN_HERE, wire::paths::SHOP_LOCK].contains(&first);
    if is_marker || (first == "core" && !is_log) {
        return Err(catalogue::server_marker(&quoted(path, 100)));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
