//! Child processes that do not outlive their test.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// How many last lines of stderr are kept for the message of a failing test.
const KEPT_LINES: usize = 200;

/// A child process: killed when dropped.
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    errors: Arc<Mutex<VecDeque<String>>>,
}

impl Running {
    /// Starts a command; its stdout is read line by line, its stderr is kept for messages.
    pub fn start(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let stdout = child.stdout.take().context("no stdout")?;
        let stderr = child.stderr.take().context("no stderr")?;
        let (send, lines) = channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            while matches!(reader.read_until(b'\n', &mut line), Ok(count) if count > 0) {
                if send.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        let errors = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&errors);
        thread::spawn(move || {
            for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
                let Ok(mut kept) = kept.lock() else { break };
                if kept.len() == KEPT_LINES {
                    kept.pop_front();
                }
                kept.push_back(String::from_utf8_lossy(&line).into_owned());
            }
        });
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, lines, errors })
    }

    /// Number of the process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes bytes to stdin.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let stdin = self.stdin.as_mut().context("stdin is closed")?;
        stdin.write_all(bytes)?;
        Ok(stdin.flush()?)
    }

    /// Closes stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// The next line of stdout, without its line end; `None` when stdout has ended.
    pub fn line(&self, patience: Duration) -> Result<Option<Vec<u8>>> {
        match self.lines.recv_timeout(patience) {
            Ok(mut line) => {
                if line.last() == Some(&b'\n') {
                    line.pop();
                }
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => bail!("no line in {patience:?}; stderr:\n{}", self.errors()),
        }
    }

    /// The last lines of stderr.
    pub fn errors(&self) -> String {
        self.errors.lock().map(|kept| kept.iter().cloned().collect::<Vec<_>>().join("\n")).unwrap_or_default()
    }

    /// Whether the process still runs.
    pub fn alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("no such pid")?;
        Ok(kill_process(pid, signal)?)
    }

    /// Kills the process at once (SIGKILL).
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for the end.
    pub fn wait(&mut self, patience: Duration) -> Result<ExitStatus> {
        let since = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if since.elapsed() > patience {
                bail!("still running after {patience:?}; stderr:\n{}", self.errors());
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Asks the process to stop (SIGTERM) and waits for it.
    pub fn stop(&mut self, patience: Duration) -> Result<ExitStatus> {
        self.signal(Signal::TERM)?;
        self.wait(patience)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A stopped process takes SIGKILL all the same.
        self.kill();
    }
}

/// How a finished command ended.
#[derive(Clone, Debug)]
pub struct Output {
    /// Exit code; -1 for a signal.
    pub code: i32,
    /// stdout.
    pub out: String,
    /// stderr.
    pub err: String,
}

/// Runs a command to its end with this input; kills it after `patience`.
pub fn run(command: &mut Command, input: &[u8], patience: Duration) -> Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that ends without reading its input is no failure of the test.
        let _ = stdin.write_all(input);
    }
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let out = thread::spawn(move || text_of(out));
    let err = thread::spawn(move || text_of(err));
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if since.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            bail!("{command:?} still ran after {patience:?}");
        }
        thread::sleep(Duration::from_millis(2));
    };
    let joined = |thread: thread::JoinHandle<String>| thread.join().unwrap_or_default();
    Ok(Output { code: status.code().unwrap_or(-1), out: joined(out), err: joined(err) })
}

fn text_of(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        let _ = stream.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
