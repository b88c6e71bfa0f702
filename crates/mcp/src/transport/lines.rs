//! Input cut into lines, with a limit on their length.

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Longest line that is read; a longer one is dropped and answered with an error.
pub(crate) const LONGEST: usize = 64 * 1024 * 1024;
/// How much of a dropped line is kept at each end, to find its id there.
const KEPT: usize = 4096;
/// Bytes asked for in one read.
const CHUNK: usize = 64 * 1024;
/// A buffer that grew beyond this for one big line is given back.
const KEEP_CAPACITY: usize = 1024 * 1024;

/// One step of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line without its end.
    Whole(&'a [u8]),
    /// A line over the limit: its first and its last bytes.
    TooLong {
        /// The first bytes.
        head: &'a [u8],
        /// The last bytes.
        tail: &'a [u8],
    },
}

/// Reads lines. Its future may be dropped at any time without losing input.
pub(crate) struct Lines<R> {
    source: R,
    longest: usize,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that the last line took.
    used: usize,
    /// Bytes of `buffer` known to hold no line end.
    searched: usize,
    dropped: Option<Dropped>,
    ended: bool,
}

/// A line over the limit, while its rest is being skipped.
#[derive(Default)]
struct Dropped {
    head: Vec<u8>,
    tail: Vec<u8>,
    complete: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(source: R) -> Self {
        Self::with_limit(source, LONGEST)
    }

    pub(crate) fn with_limit(source: R, longest: usize) -> Self {
        Self { source, longest, buffer: Vec::new(), used: 0, searched: 0, dropped: None, ended: false }
    }

    /// The next line; `None` at the end of the input. A last line without an end counts as a line.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<Line<'_>>> {
        self.release();
        loop {
            if self.cut() {
                break;
            }
            if self.ended {
                return Ok(None);
            }
            self.buffer.reserve(CHUNK);
            self.ended = self.source.read_buf(&mut self.buffer).await? == 0;
        }
        Ok(Some(match &self.dropped {
            Some(dropped) => Line::TooLong { head: &dropped.head, tail: &dropped.tail },
            None => {
                Line::Whole(self.buffer[..self.used].strip_suffix(b"\n").unwrap_or(&self.buffer[..self.used]))
            }
        }))
    }

    /// Forgets the line handed out last.
    fn release(&mut self) {
        self.buffer.drain(..self.used);
        self.used = 0;
        if self.dropped.as_ref().is_some_and(|dropped| dropped.complete) {
            self.dropped = None;
        }
        if self.buffer.is_empty() && self.buffer.capacity() > KEEP_CAPACITY {
            self.buffer = Vec::new();
        }
    }

    /// Finds the end of a line in what was read; `true` when one can be handed out.
    fn cut(&mut self) -> bool {
        let end = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
        let end = end.map(|at| self.searched + at + 1);
        // At the end of the input what is left is the last line.
        let end = end.or_else(|| (self.ended && !self.is_spent()).then_some(self.buffer.len()));
        self.searched = if end.is_some() { 0 } else { self.buffer.len() };
        let taken = end.unwrap_or(self.buffer.len());
        if self.dropped.is_some() || taken > self.longest + 1 {
            self.drop_line(taken, end.is_some());
            return end.is_some();
        }
        if let Some(end) = end {
            self.used = end;
        }
        end.is_some()
    }

    fn is_spent(&self) -> bool {
        self.buffer.is_empty() && self.dropped.is_none()
    }

    fn drop_line(&mut self, taken: usize, complete: bool) {
        let dropped = self.dropped.get_or_insert_default();
        let piece = &self.buffer[..taken];
        if dropped.head.is_empty() {
            dropped.head = piece[..piece.len().min(KEPT)].to_vec();
        }
        dropped.tail.extend_from_slice(&piece[piece.len().saturating_sub(KEPT)..]);
        let excess = dropped.tail.len().saturating_sub(KEPT);
        dropped.tail.drain(..excess);
        dropped.complete = complete;
        self.buffer.drain(..taken);
        self.searched = 0;
    }
}

#[cfg(test)]
mod tests;
