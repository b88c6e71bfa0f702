//! How a worker shuts itself in: nothing but its socket, limits of the system, Landlock, seccomp.

mod descriptors;
#[cfg(target_os = "linux")]
mod files;
mod limits;
#[cfg(target_os = "linux")]
mod system_calls;

use std::io;
use std::os::unix::net::UnixStream;

use crate::protection::Protection;

/// What is in force so far.
#[derive(Debug, Default)]
pub(crate) struct ShutIn(Protection);

impl ShutIn {
    fn note(&mut self, what: &str, done: Result<(), String>) -> bool {
        match done {
            Ok(()) => true,
            Err(why) => {
                self.0.missing.push(format!("{what}: {why}"));
                false
            }
        }
    }

    /// Makes standard input the only thing that is open.
    pub(crate) fn only_socket() -> io::Result<UnixStream> {
        descriptors::only_socket()
    }

    /// What the whole process gets, before it has another thread.
    pub(crate) fn process() -> Self {
        let mut shut_in = Self::default();
        // Before Landlock, after which nothing can be read.
        shut_in.limit(limits::set());
        #[cfg(target_os = "linux")]
        {
            let bound = limits::bind_to_parent();
            shut_in.note("end with the engine", bound);
            let privileges = limits::no_new_privileges();
            shut_in.0.no_new_privileges = shut_in.note("no new privileges", privileges);
            match files::no_files() {
                Ok(version) => shut_in.0.landlock = version,
                Err(why) => shut_in.0.missing.push(format!("Landlock: {why}")),
            }
        }
        shut_in
    }

    fn limit(&mut self, limits: Vec<(&'static str, Result<(), String>)>) {
        for (name, done) in limits {
            if self.note(name, done) {
                self.0.limits.push(name.to_owned());
            }
        }
    }

    /// What it gets when it needs nothing more; after this every call to the system outside a short
    /// list kills it.
    pub(crate) fn finish(mut self, socket: &UnixStream) -> Protection {
        self.limit(limits::set_last());
        #[cfg(target_os = "linux")]
        {
            let filtered = system_calls::filter(socket);
            self.0.seccomp = self.note("seccomp", filtered);
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = socket;
            self.0.missing.push("seccomp and Landlock: only Linux has them".to_owned());
        }
        self.0
    }
}
