//! The log: to stderr, and for the MCP server to a file as well.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Over this size the log's file is put aside and begun anew.
const FILE_LIMIT: u64 = 4 * 1024 * 1024;

/// Logs to stderr what `SHOPWRIGHT_LOG` asks for; `usual` without it.
pub(crate) fn start(usual: &str) {
    let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false).with_target(false);
    let _ = tracing_subscriber::registry().with(filter(usual)).with(layer).try_init();
}

/// The same, and to a file: most agent applications throw a child's stderr away.
pub(crate) fn start_with_file(usual: &str, file: Option<PathBuf>) {
    let Some(path) = file else { return start(usual) };
    let screen = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false).with_target(false);
    let file = Arc::new(LogFile { path, open: Mutex::new(None) });
    let disk = tracing_subscriber::fmt::layer()
        .with_writer(move || Writer(Arc::clone(&file)))
        .with_ansi(false)
        .with_target(false);
    let _ = tracing_subscriber::registry().with(filter(usual)).with(screen).with(disk).try_init();
}

fn filter(usual: &str) -> EnvFilter {
    let words = std::env::var(wire::env::LOG).ok().filter(|words| !words.trim().is_empty());
    let wanted = words.and_then(|words| EnvFilter::try_new(words).ok());
    let filter = wanted.unwrap_or_else(|| EnvFilter::new(usual));
    // The protocol crate tells whole messages, with the bodies of notes in them.
    match "rmcp=warn".parse() {
        Ok(quiet) => filter.add_directive(quiet),
        Err(_) => filter,
    }
}

/// A file that is opened with the first line, so that a quiet start touches no disk.
struct LogFile {
    path: PathBuf,
    open: Mutex<Option<File>>,
}

struct Writer(Arc<LogFile>);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_none() {
            *open = Some(self.0.begin()?);
        }
        match open.as_mut() {
            Some(file) => file.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogFile {
    fn begin(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        if std::fs::metadata(&self.path).is_ok_and(|about| about.len() > FILE_LIMIT) {
            std::fs::rename(&self.path, self.path.with_extension("old.log"))?;
        }
        OpenOptions::new().create(true).append(true).open(&self.path)
    }
}
