//! `desk.json`: who holds the program now.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wire::paths;

use crate::files::write_atomic;
use crate::{Home, HomeError};

/// Largest file that is read.
const MOST_BYTES: u64 = 64 * 1024;

/// Who holds the program now, as `desk.json` tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeskFile {
    /// The program's process.
    pub pid: i32,
    /// Folder of the store it has open.
    #[serde(default)]
    pub store: Option<PathBuf>,
    /// The hand-over socket.
    pub socket: PathBuf,
    /// The program's build.
    #[serde(default)]
    pub build: String,
    /// Address of the console, without its secret.
    #[serde(default)]
    pub console: Option<String>,
}

impl DeskFile {
    /// What the file says. A missing, unreadable or damaged one says that nobody holds the program.
    pub fn read(home: &Home) -> Option<Self> {
        Self::parse(&wire::files::read_regular(&home.path().join(paths::DESK), MOST_BYTES).ok()?)
    }

    /// Reads the bytes of the file.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(bytes).ok().filter(|file| file.pid > 0)
    }

    /// Writes the file, for this user only.
    pub fn write(&self, home: &Home) -> Result<(), HomeError> {
        home.make()?;
        let path = home.path().join(paths::DESK);
        let bytes = serde_json::to_vec(self).map_err(|why| HomeError::broken(&path, why))?;
        write_atomic(&path, &bytes).map_err(|source| HomeError::io(&path, source))
    }

    /// Removes the file where it is this process's.
    pub fn remove(home: &Home) {
        let own = i32::try_from(std::process::id()).ok();
        if Self::read(home).is_some_and(|file| Some(file.pid) == own) {
            let _ = fs::remove_file(home.path().join(paths::DESK));
        }
    }

    /// Who holds the home, as the end of a sentence.
    pub(crate) fn told(&self) -> String {
        let console = self.console.as_ref().map(|at| format!(", console at {at}")).unwrap_or_default();
        let store = self.store.as_ref().map(|at| format!(", store `{}`", at.display())).unwrap_or_default();
        format!(": process {}{console}{store}", self.pid)
    }

    /// Whether the process lives.
    pub fn is_alive(&self) -> bool {
        #[cfg(unix)]
        {
            use rustix::io::Errno;
            use rustix::process::{Pid, test_kill_process};
            // Another user's process of this number is alive too; the socket then tells the rest.
            Pid::from_raw(self.pid)
                .is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
        }
        #[cfg(not(unix))]
        true
    }
}

#[cfg(test)]
mod tests;
