//! What shuts a worker in, as the worker itself found it.

use std::fmt;

/// What is in force around a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    /// Calls to the system outside a short list kill the worker.
    pub seccomp: bool,
    /// Landlock's version in force, 0 where the kernel has none.
    pub landlock: u32,
    /// Limits of the system that were set, by name.
    pub limits: Vec<String>,
    /// No program that it could start would have more rights than it has.
    pub no_new_privileges: bool,
    /// What could not be put in force, and why.
    pub missing: Vec<String>,
}

impl Protection {
    /// Whether everything is in force that this system could have.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty()
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.seccomp {
            parts.push("seccomp".to_owned());
        }
        if self.landlock > 0 {
            parts.push(format!("Landlock {}", self.landlock));
        }
        if self.no_new_privileges {
            parts.push("no new privileges".to_owned());
        }
        if !self.limits.is_empty() {
            parts.push(format!("limits: {}", self.limits.join(", ")));
        }
        if parts.is_empty() {
            parts.push("nothing".to_owned());
        }
        f.write_str(&parts.join("; "))?;
        if !self.missing.is_empty() {
            write!(f, " (missing: {})", self.missing.join("; "))?;
        }
        Ok(())
    }
}
