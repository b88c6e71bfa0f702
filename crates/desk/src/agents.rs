//! How agent applications start the MCP server: their files in the store folder, and lines to copy.
//!
//! The files belong to people: only our own entry in them is written, everything
//! else stays, and a file that cannot be understood is left alone and reported.

use std::io;
use std::path::Path;

use home::write_atomic;

mod copy;
mod json;
mod json_text;
mod launch;
mod markdown;
mod toml;

pub(crate) use copy::copies;
pub(crate) use launch::Launch;

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// Its name below the store folder.
    pub(crate) file: &'static str,
    /// Why it was left as it is; `None` where it now says what it must.
    pub(crate) problem: Option<Problem>,
}

/// Why a file was left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// It is not of the form its application reads.
    Broken,
    /// The system did not let it be read or written.
    Io(String),
}

/// Largest file that is changed.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Changes a file's text; `None` where the text cannot be understood.
type Change = fn(&str, &Launch) -> Option<String>;

const FILES: &[(&str, Change)] = &[
    (".mcp.json", json::claude_code),
    (".claude/settings.json", json::claude_settings),
    (".codex/config.toml", toml::codex),
    ("opencode.json", json::opencode),
    (".gemini/settings.json", json::gemini),
    (".qwen/settings.json", json::gemini),
    ("AGENTS.md", markdown::section),
];

/// Writes the files of all applications into the store folder.
pub(crate) fn write_all(folder: &Path, launch: &Launch) -> Vec<Report> {
    FILES
        .iter()
        .map(|(file, change)| Report { file, problem: write(&folder.join(file), *change, launch) })
        .collect()
}

fn write(path: &Path, change: Change, launch: &Launch) -> Option<Problem> {
    let before = match wire::files::read_regular(path, MOST_BYTES) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => return Some(Problem::Broken),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Some(Problem::Io(error.to_string())),
    };
    let Some(after) = change(&before, launch) else {
        return Some(Problem::Broken);
    };
    if after == before {
        return None;
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| write_atomic(path, after.as_bytes()));
    written.err().map(|error| Problem::Io(error.to_string()))
}

#[cfg(test)]
mod tests;
