//! How the process ends.

use std::process::ExitCode;

/// Exit codes, the same for every subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done as asked.
    Done = 0,
    /// Refused or failed; the words are on stderr.
    Refused = 1,
    /// The command line is wrong.
    Usage = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
