//! PostgreSQL's own client, past every part of ours.

use std::process::Command;

use anyhow::{Result, bail};

use crate::process::run;
use crate::wait::PATIENCE;

/// Runs SQL by PostgreSQL's own client: unaligned rows, cells between tabs.
pub(crate) fn psql(url: &str, sql: &str) -> Result<String> {
    let mut command = Command::new("psql");
    command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator", "\t"]);
    command.args(["--set", "ON_ERROR_STOP=1", "--dbname", url, "--command", sql]);
    let output = run(&mut command, b"", PATIENCE)?;
    if output.code != 0 {
        bail!("psql: {}", output.err);
    }
    Ok(output.out)
}
