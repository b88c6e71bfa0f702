//! An answer that brings a file: `multipart/mixed`, the envelope first, the bytes after it, straight to the disk.

use std::path::Path;

use reqwest::Response;
use tools::IncomingFile;
use wire::Stop;

use crate::client::address::Address;
use crate::client::messages::{self, Attempt, CallFailure};

/// Longest head of a part.
const HEAD: usize = 8 * 1024;
/// Longest envelope in front of a file.
const ENVELOPE: u64 = 1024 * 1024;

/// The boundary between the parts, where an answer has parts.
pub(super) fn boundary(kind: &str) -> Option<String> {
    let rest = kind.strip_prefix("multipart/mixed")?;
    let (_, boundary) = rest.split_once("boundary=")?;
    let boundary = boundary.split(';').next()?.trim().trim_matches('"');
    (!boundary.is_empty() && boundary.len() <= 70).then(|| boundary.to_owned())
}

/// Reads envelope and file; answers the bytes of the envelope and the file, not yet in its place.
pub(super) async fn receive(
    address: &Address,
    response: Response,
    boundary: &str,
    target: &Path,
    asked: Attempt,
) -> Result<(Vec<u8>, IncomingFile), CallFailure> {
    let mut parts = Parts { address, response, asked, left: Vec::new() };
    let length = parts.head(&format!("--{boundary}\r\n")).await?;
    if length > ENVELOPE {
        return Err(messages::odd_parts(asked));
    }
    let mut envelope = Vec::new();
    parts
        .body(length, |bytes| {
            envelope.extend_from_slice(bytes);
            Ok(())
        })
        .await?;
    let length = parts.head(&format!("\r\n--{boundary}\r\n")).await?;
    let mut file = IncomingFile::begin(target).map_err(|stop| local(stop, asked))?;
    parts.body(length, |bytes| file.add(bytes)).await?;
    parts.expect(format!("\r\n--{boundary}--").as_bytes()).await?;
    Ok((envelope, file))
}

/// What this computer refuses has nothing to do with the store.
fn local(stop: Stop, asked: Attempt) -> CallFailure {
    match stop {
        Stop::Refused(refusal) => CallFailure { refusal: *refusal, sent: asked.sent, again: None },
        Stop::Broke(fault) => {
            messages::strange(&format!("a file that cannot be kept: {}.", fault.chain()), asked)
        }
    }
}

/// The answer, read piece by piece.
struct Parts<'a> {
    address: &'a Address,
    response: Response,
    asked: Attempt,
    left: Vec<u8>,
}

impl Parts<'_> {
    /// Reads on; the end of the answer is too early everywhere here.
    async fn more(&mut self) -> Result<(), CallFailure> {
        match self.response.chunk().await {
            Ok(Some(piece)) => {
                self.left.extend_from_slice(&piece);
                Ok(())
            }
            Ok(None) => {
                let what = "the line broke in the middle of the file";
                Err(messages::broken(&self.address.shown(), what, self.asked, true))
            }
            Err(error) => Err(messages::torn(&self.address.shown(), &error, self.asked)),
        }
    }

    async fn expect(&mut self, wanted: &[u8]) -> Result<(), CallFailure> {
        while self.left.len() < wanted.len() {
            self.more().await?;
        }
        if !self.left.starts_with(wanted) {
            return Err(messages::odd_parts(self.asked));
        }
        self.left.drain(..wanted.len());
        Ok(())
    }

    /// Reads a part's head behind these bytes; answers the length that it names.
    async fn head(&mut self, begin: &str) -> Result<u64, CallFailure> {
        self.expect(begin.as_bytes()).await?;
        let end = loop {
            if let Some(at) = self.left.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at;
            }
            if self.left.len() > HEAD {
                return Err(messages::odd_parts(self.asked));
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(&self.left[..end]).to_ascii_lowercase();
        self.left.drain(..end + 4);
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        let length = lines.into_iter().find(|(name, _)| name.trim() == "content-length");
        let length = length.and_then(|(_, length)| length.trim().parse().ok());
        length.ok_or_else(|| messages::odd_parts(self.asked))
    }

    /// Hands over a part's bytes as they come.
    async fn body(
        &mut self,
        mut length: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), Stop>,
    ) -> Result<(), CallFailure> {
        while length > 0 {
            if self.left.is_empty() {
                self.more().await?;
            }
            let count = usize::try_from(length).unwrap_or(usize::MAX).min(self.left.len());
            take(&self.left[..count]).map_err(|stop| local(stop, self.asked))?;
            self.left.drain(..count);
            length -= count as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::boundary;

    #[test]
    fn a_boundary_is_read_with_and_without_quotes() {
        assert_eq!(boundary("multipart/mixed; boundary=abc").as_deref(), Some("abc"));
        assert_eq!(boundary("multipart/mixed;boundary=\"a b\"; x=y").as_deref(), Some("a b"));
        for none in ["application/json", "multipart/mixed", "multipart/mixed; boundary="] {
            assert_eq!(boundary(none), None, "{none}");
        }
    }
}
