//! The binary under test.

use std::path::PathBuf;
use std::process::Command;

/// The binary under test.
pub struct Binary {
    path: PathBuf,
}

impl Binary {
    /// The binary at this path.
    pub fn new(path: &str) -> Self {
        Self { path: PathBuf::from(path) }
    }

    /// A command of it, in an environment without settings of the person who runs the tests.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("SHOPWRIGHT_") {
                command.env_remove(&name);
            }
        }
        // A test must not reach for the keyring of the person who runs it.
        command.env("SHOPWRIGHT_KEYRING", "file").env("NO_COLOR", "1");
        command
    }
}
