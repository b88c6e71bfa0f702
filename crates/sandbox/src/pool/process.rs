//! One worker process: its start, its line, its end.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{PoolConfig, PoolError};
use crate::message::{Fault, FromWorker, Line, Message, Setup, ToWorker, VERSION};
use crate::protection::Protection;

/// How long a worker may take to be ready.
const START: Duration = Duration::from_secs(20);

/// How long a worker may leave a message unread.
const UNREAD: Duration = Duration::from_secs(10);

/// The longest message of a worker that starts, and the memory it may take.
const GREETING: u64 = 64 << 10;

/// For how long a worker may have worked altogether before it is replaced; its limit of processor time
/// is twice that and an hour, so that no call ever meets it.
const WORKED: Duration = Duration::from_secs(30 * 60);

/// A worker that holds more memory than this when it is idle is replaced.
const HELD: u64 = 192 << 20;

/// At how many calls its memory is looked at.
const LOOK: u32 = 64;

/// A worker process.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    line: Line,
    protection: Protection,
    served: u32,
    worked: Duration,
    suspect: Option<String>,
}

impl Worker {
    /// Starts a worker and waits until it is ready.
    pub(super) fn start(config: &PoolConfig) -> Result<Self, PoolError> {
        let (ours, theirs) = UnixStream::pair().map_err(cannot)?;
        let child = spawn(config, theirs).map_err(cannot)?;
        let line = Line::new(ours);
        let protection = Protection::default();
        let mut worker = Self { child, line, protection, served: 0, worked: Duration::ZERO, suspect: None };
        let setup = Setup { functions: config.functions.clone(), facade: config.facade.clone() };
        worker.greet(setup).map_err(|fault| PoolError::Start(worker.lost(&fault)))??;
        Ok(worker)
    }

    /// Hears what shuts it in, and tells it what `shop` is made of.
    fn greet(&mut self, setup: Setup) -> Result<Result<(), PoolError>, Fault> {
        let until = Some(Instant::now() + START);
        self.line.patience(UNREAD)?;
        match self.line.receive(GREETING, GREETING, until)? {
            FromWorker::Hello { version: VERSION, protection } => self.protection = protection,
            _ => return Ok(Err(PoolError::Start("the program is no worker of this build".to_owned()))),
        }
        self.line.send(&ToWorker::Setup(setup))?;
        match self.line.receive(GREETING, GREETING, until)? {
            FromWorker::Ready(Ok(())) => Ok(Ok(())),
            FromWorker::Ready(Err(error)) => Ok(Err(PoolError::Start(error.to_string()))),
            _ => Ok(Err(PoolError::Start("the program is no worker of this build".to_owned()))),
        }
    }

    /// Number of its process.
    pub(super) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// What shuts it in.
    pub(super) fn protection(&self) -> &Protection {
        &self.protection
    }

    /// Sends it a message.
    pub(super) fn send(&mut self, message: &ToWorker) -> Result<(), Fault> {
        self.line.send(message)
    }

    /// Waits for its message.
    pub(super) fn receive<T: Message>(
        &mut self,
        longest: u64,
        budget: u64,
        until: Option<Instant>,
    ) -> Result<T, Fault> {
        self.line.receive(longest, budget, until)
    }

    /// Notes that it will not be used again.
    pub(super) fn suspect(&mut self, why: &str) {
        if self.suspect.is_none() {
            self.suspect = Some(why.to_owned());
        }
    }

    /// Ends it because of this fault; tells what happened to it.
    pub(super) fn lost(&mut self, fault: &Fault) -> String {
        if matches!(fault, Fault::Gone) {
            self.let_end();
        }
        let why = match (fault, self.end()) {
            (Fault::Gone, Some(status)) => format!("it ended with {status}"),
            _ => fault.to_string(),
        };
        tracing::warn!(worker = self.child.id(), "A worker for units was lost: {why}");
        self.suspect(&why);
        why
    }

    /// Whether it was found unfit for another call.
    pub(super) fn is_suspect(&self) -> bool {
        self.suspect.is_some()
    }

    /// Counts a call.
    pub(super) fn served(&mut self, took: Duration) {
        self.served = self.served.saturating_add(1);
        self.worked += took;
    }

    /// Whether it lives and is good for another call.
    pub(super) fn is_fit(&mut self, recycle: u32) -> bool {
        if self.is_suspect() || self.served >= recycle || self.worked > WORKED {
            return false;
        }
        if self.served > 0
            && self.served.is_multiple_of(LOOK)
            && held(self.child.id()).is_some_and(|held| held > HELD)
        {
            return false;
        }
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Whether it died by itself.
    pub(super) fn is_dead(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Lets one that has closed its socket end by itself, so that it can be told how.
    fn let_end(&mut self) {
        for _ in 0..20 {
            if self.is_dead() {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Kills it, if it lives, and tells how it ended.
    fn end(&mut self) -> Option<std::process::ExitStatus> {
        if let Ok(Some(status)) = self.child.try_wait() {
            return Some(status);
        }
        let _ = self.child.kill();
        self.child.wait().ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

fn cannot(error: impl std::fmt::Display) -> PoolError {
    PoolError::Start(error.to_string())
}

/// Starts the process with the socket as its only way to anything.
fn spawn(config: &PoolConfig, socket: UnixStream) -> io::Result<Child> {
    Command::new(&config.program)
        .args(&config.args)
        .env_clear()
        // Without it the C library would look for a file with the time zone.
        .env("TZ", "UTC0")
        // With more arenas it would look into a file before it gives memory back.
        .env("MALLOC_ARENA_MAX", "1")
        .current_dir("/")
        // Ctrl-C in a terminal is for the engine, which lets calls end.
        .process_group(0)
        .stdin(OwnedFd::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// The memory a process holds, where the system tells.
fn held(pid: u32) -> Option<u64> {
    let pages = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let resident: u64 = pages.split(' ').nth(1)?.parse().ok()?;
    Some(resident * 4096)
}
