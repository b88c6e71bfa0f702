//! A file that goes out with an answer: `multipart/mixed`, the envelope first, the bytes after it, piece by piece.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use hyper::body::{Body as HttpBody, Frame};
use tokio::sync::mpsc;

/// Bytes of one piece.
const PIECE: usize = 64 * 1024;
/// Pieces that wait for the line.
const WAITING: usize = 4;

/// A file that goes out with an answer.
pub(crate) struct Attachment {
    /// Its size when it was asked for: what is added later is not sent.
    pub(crate) size: u64,
    /// Its bytes.
    pub(crate) source: Source,
}

/// Where the bytes come from.
pub(crate) enum Source {
    /// Memory: content that is not on the disk under this path.
    Bytes(Vec<u8>),
    /// The disk.
    File(File),
}

/// Where a call leaves the file that goes out with its answer.
#[derive(Clone, Default)]
pub(crate) struct Slot(Arc<Mutex<Option<Attachment>>>);

impl Slot {
    /// Leaves a file, or none.
    pub(crate) fn leave(&self, attachment: Option<Attachment>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = attachment;
    }

    /// Takes the file out.
    pub(crate) fn take(&self) -> Option<Attachment> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The answer with its file.
pub(crate) fn respond(envelope: &[u8], attachment: Attachment) -> Response {
    let boundary = uuid::Uuid::new_v4().simple().to_string();
    let size = attachment.size;
    let head = [
        format!(
            "--{boundary}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            envelope.len()
        )
        .as_bytes(),
        envelope,
        format!(
            "\r\n--{boundary}\r\ncontent-type: application/octet-stream\r\ncontent-length: {size}\r\n\r\n"
        )
        .as_bytes(),
    ]
    .concat();
    let tail = format!("\r\n--{boundary}--\r\n");
    let kind = format!("multipart/mixed; boundary={boundary}");
    let headers = [(CONTENT_TYPE, kind.as_str()), (CACHE_CONTROL, "no-store")];
    (StatusCode::OK, headers, Body::new(stream(head, attachment, tail))).into_response()
}

/// Pieces on their way from a thread that reads to the line.
struct Pieces(mpsc::Receiver<io::Result<Bytes>>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

fn stream(head: Vec<u8>, attachment: Attachment, tail: String) -> Pieces {
    let (line, pieces) = mpsc::channel(WAITING);
    // Whoever goes away drops the receiver, which ends the thread's work.
    tokio::task::spawn_blocking(move || {
        let sent = line.blocking_send(Ok(Bytes::from(head)));
        let Ok(()) = sent else { return };
        let Attachment { size, source } = attachment;
        let read = match source {
            Source::Bytes(bytes) => send(&line, Cursor::new(bytes), size),
            Source::File(file) => send(&line, file, size),
        };
        let last = match read {
            Ok(()) => Ok(Bytes::from(tail)),
            Err(error) => Err(error),
        };
        // Nobody listens any more where this fails.
        let _ = line.blocking_send(last);
    });
    Pieces(pieces)
}

fn send(line: &mpsc::Sender<io::Result<Bytes>>, source: impl Read, size: u64) -> io::Result<()> {
    let mut source = source.take(size);
    let mut left = size;
    while left > 0 {
        let mut piece = vec![0; PIECE];
        let count = source.read(&mut piece)?;
        if count == 0 {
            return Err(io::Error::other("the file became shorter while it was sent"));
        }
        piece.truncate(count);
        left -= count as u64;
        line.blocking_send(Ok(Bytes::from(piece))).map_err(|_| io::Error::other("nobody listens"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sent(source: Source, size: u64) -> Result<Vec<u8>, axum::Error> {
        let response = respond(b"{}", Attachment { size, source });
        Ok(axum::body::to_bytes(response.into_body(), usize::MAX).await?.to_vec())
    }

    #[tokio::test]
    async fn a_file_goes_out_behind_its_envelope_byte_for_byte() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        let whole = sent(Source::Bytes(bytes.clone()), 300_000).await.unwrap();
        let at = whole.windows(4).rposition(|window| window == b"\r\n\r\n").unwrap();
        let boundary = String::from_utf8_lossy(&whole[2..34]).into_owned();
        assert_eq!(
            whole[at + 4..],
            [bytes.as_slice(), format!("\r\n--{boundary}--\r\n").as_bytes()].concat()
        );
    }

    #[tokio::test]
    async fn a_file_that_became_shorter_breaks_off() {
        assert!(sent(Source::Bytes(vec![1; 10]), 11).await.is_err());
    }
}
