//! What a connection is doing: whether it may stay, is to be told that it ends, or is cut.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// How long a connection may do nothing, or too little.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Until the first request.
    pub(crate) first: Duration,
    /// Between requests, and for a request's head; longer than clients keep an idle connection.
    pub(crate) idle: Duration,
    /// Between requests, while others wait for a place.
    pub(crate) idle_while_others_wait: Duration,
    /// In which what is sent and not yet taken has to go on by as much as [`Patience::rate`] says.
    pub(crate) answer: Duration,
    /// Bytes a second that who takes an answer must take.
    pub(crate) rate: u64,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(30),
            idle: Duration::from_secs(120),
            idle_while_others_wait: Duration::from_secs(2),
            answer: Duration::from_secs(30),
            rate: 8 * 1024,
        }
    }
}

impl Patience {
    /// How often a connection is looked at.
    pub(crate) fn tick(&self) -> Duration {
        let shortest = self.first.min(self.idle).min(self.idle_while_others_wait).min(self.answer);
        (shortest / 2).max(Duration::from_millis(10))
    }
}

/// What is to become of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Stays,
    /// It is told that it ends, so that no request is lost on the way.
    Leaves,
    /// It ends at once.
    IsCut,
}

/// What one connection is doing.
pub(crate) struct Activity {
    began: Instant,
    /// Bytes that the system took for the other side.
    written: AtomicU64,
    state: Mutex<State>,
}

struct State {
    has_asked: bool,
    /// Requests whose answer is not yet made to its end.
    working: usize,
    /// Pieces of answers that were sent and not yet taken, by number: until when they must be.
    /// Mostly one, so they are a list.
    pieces: Vec<(u64, Instant)>,
    next: u64,
    quiet_since: Instant,
    /// Where the present stretch of taking them began: when, and at how many bytes.
    stretch: Option<(Instant, u64)>,
}

impl Activity {
    pub(crate) fn new() -> Arc<Self> {
        let now = Instant::now();
        let state = State {
            has_asked: false,
            working: 0,
            pieces: Vec::new(),
            next: 0,
            quiet_since: now,
            stretch: None,
        };
        Arc::new(Self { began: now, written: AtomicU64::new(0), state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has come.
    pub(crate) fn work(self: &Arc<Self>, patience: Patience) -> Work {
        let mut state = self.state();
        state.has_asked = true;
        state.working += 1;
        drop(state);
        Work { activity: Arc::clone(self), patience }
    }

    /// What is to become of the connection now.
    pub(crate) fn fate(&self, patience: Patience, do_others_wait: bool) -> Fate {
        let now = Instant::now();
        let written = self.written.load(Ordering::Relaxed);
        let mut state = self.state();
        if !state.has_asked {
            return if now - self.began >= patience.first { Fate::IsCut } else { Fate::Stays };
        }
        if state.pieces.is_empty() {
            state.stretch = None;
            let idle = if do_others_wait { patience.idle_while_others_wait } else { patience.idle };
            let is_idle = state.working == 0 && now - state.quiet_since >= idle;
            return if is_idle { Fate::Leaves } else { Fate::Stays };
        }
        let (since, at) = *state.stretch.get_or_insert((now, written));
        if state.pieces.iter().any(|(_, until)| *until < now) {
            return Fate::IsCut;
        }
        if now - since >= patience.answer {
            if written - at < patience.rate * patience.answer.as_secs().max(1) {
                return Fate::IsCut;
            }
            state.stretch = Some((now, written));
        }
        Fate::Stays
    }
}

/// A request whose answer is not yet made to its end.
pub(crate) struct Work {
    activity: Arc<Activity>,
    patience: Patience,
}

impl Work {
    /// The answer, watched until the last of its bytes is taken.
    pub(crate) fn answered(self, response: Response) -> Response<Watched> {
        response.map(|body| Watched { body, work: self })
    }

    /// A piece of the answer on its way. What nothing was sent of keeps nobody waiting, as a stream may pause.
    fn send(&self, bytes: Bytes) -> Bytes {
        let Patience { answer, rate, .. } = self.patience;
        let until = Instant::now() + answer * 2 + Duration::from_secs(bytes.len() as u64 / rate.max(1));
        let mut state = self.activity.state();
        let number = state.next;
        state.next += 1;
        state.pieces.push((number, until));
        drop(state);
        Bytes::from_owner(Piece { bytes, activity: Arc::clone(&self.activity), number })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        state.working -= 1;
        state.quiet_since = Instant::now();
    }
}

/// Bytes of an answer, until the last of them is taken.
struct Piece {
    bytes: Bytes,
    activity: Arc<Activity>,
    number: u64,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        if let Some(at) = state.pieces.iter().position(|(number, _)| *number == self.number) {
            state.pieces.swap_remove(at);
        }
        state.quiet_since = Instant::now();
    }
}

/// The body of an answer whose bytes are known to be held until the other side has taken them.
pub(crate) struct Watched {
    body: Body,
    work: Work,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, work } = &mut *self;
        let frame = Pin::new(body).poll_frame(cx);
        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(|bytes| work.send(bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection that counts what is written to it.
pub(crate) struct Counted {
    pub(crate) stream: TcpStream,
    pub(crate) activity: Arc<Activity>,
}

impl Counted {
    fn count(&self, written: Poll<std::io::Result<usize>>) -> Poll<std::io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &written {
            self.activity.written.fetch_add(*bytes as u64, Ordering::Relaxed);
        }
        written
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
