//! Files that tests compare with and, when asked, write anew.

use std::path::Path;

use anyhow::{Result, bail};

/// Whether the person asked for stale files to be written anew (`UPDATE=1`).
pub fn updating() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Compares a kept file with what it should be; with `UPDATE=1` writes it.
pub fn check_file(file: &Path, wanted: &str) -> Result<()> {
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    if kept == wanted {
        return Ok(());
    }
    if updating() {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(file, wanted)?;
        return Ok(());
    }
    bail!(
        "{} is stale; run with UPDATE=1 and read the difference.\n{}",
        file.display(),
        difference(&kept, wanted)
    )
}

/// The first lines that differ.
fn difference(kept: &str, wanted: &str) -> String {
    let mut kept_lines = kept.lines();
    let mut wanted_lines = wanted.lines();
    let mut number = 0;
    loop {
        number += 1;
        match (kept_lines.next(), wanted_lines.next()) {
            (Some(one), Some(other)) if one == other => {}
            (None, None) => return "only line ends differ".to_owned(),
            (one, other) => {
                let line = |line: Option<&str>| line.unwrap_or("(nothing)").to_owned();
                return format!("line {number}\n  kept:   {}\n  wanted: {}", line(one), line(other));
            }
        }
    }
}
