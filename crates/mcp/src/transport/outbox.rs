//! Output: whole lines, in the order they were handed in, written by one task.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// Unsent bytes above which no further input is read.
const MOST_UNSENT: usize = 64 * 1024 * 1024;
/// Lines are joined up to this size before they are written.
const JOINED: usize = 64 * 1024;

/// Hands lines to the task that writes them.
///
/// Handing in never waits: input must be read while the host does not read
/// our output, else both sides could wait for each other.
pub(crate) struct Outbox {
    lines: Option<UnboundedSender<Vec<u8>>>,
    state: Arc<State>,
    writer: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    unsent: AtomicUsize,
    broken: AtomicBool,
    changed: Notify,
}

impl Outbox {
    /// Starts the writing task.
    pub(crate) fn new(sink: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (sender, receiver) = unbounded_channel();
        let state = Arc::new(State::default());
        let writer = tokio::spawn(write(sink, receiver, Arc::clone(&state)));
        Self { lines: Some(sender), state, writer: Some(writer) }
    }

    /// Hands in one message without its line end.
    pub(crate) fn put(&self, mut message: Vec<u8>) -> io::Result<()> {
        message.push(b'\n');
        self.state.unsent.fetch_add(message.len(), Ordering::Relaxed);
        let sent = self.lines.as_ref().map(|lines| lines.send(message));
        if matches!(sent, Some(Ok(()))) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }

    /// Waits until more input may be read; `false` when the host does not take output any more.
    pub(crate) async fn ready(&self) -> bool {
        loop {
            let changed = self.state.changed.notified();
            if self.state.broken.load(Ordering::Relaxed) {
                return false;
            }
            if self.state.unsent.load(Ordering::Relaxed) <= MOST_UNSENT {
                return true;
            }
            changed.await;
        }
    }

    /// Waits until the host stops taking output.
    pub(crate) async fn broken(&self) {
        loop {
            let changed = self.state.changed.notified();
            if self.state.broken.load(Ordering::Relaxed) {
                return;
            }
            changed.await;
        }
    }

    /// Writes what is left and ends the task.
    pub(crate) async fn close(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            // The task ends by itself; how does not matter any more.
            let _ = writer.await;
        }
    }
}

async fn write(mut sink: impl AsyncWrite + Unpin, mut lines: UnboundedReceiver<Vec<u8>>, state: Arc<State>) {
    while let Some(mut bytes) = lines.recv().await {
        while bytes.len() < JOINED {
            let Ok(more) = lines.try_recv() else { break };
            bytes.extend(more);
        }
        let written = async {
            sink.write_all(&bytes).await?;
            sink.flush().await
        };
        if let Err(error) = written.await {
            tracing::info!(%error, "The host takes no output any more");
            state.broken.store(true, Ordering::Relaxed);
            state.changed.notify_waiters();
            return;
        }
        state.unsent.fetch_sub(bytes.len(), Ordering::Relaxed);
        state.changed.notify_waiters();
    }
}
