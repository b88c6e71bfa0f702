//! The decoder of what a worker sends, for tests that feed it anything.

use super::bytes::{Message, Reader};
use super::{FromWorker, VERSION};
use crate::protection::Protection;

/// Reads bytes as a message of a worker; tells how long it is.
///
/// # Errors
/// Why it is none.
pub fn decode_from_worker(bytes: &[u8], budget: u64) -> Result<String, String> {
    match Reader::whole::<FromWorker>(bytes, budget) {
        Ok(message) => {
            let mut again = Vec::new();
            message.put(&mut again);
            Ok(format!("{} bytes again", again.len()))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The frame with which a worker begins.
#[must_use]
pub fn hello_frame() -> Vec<u8> {
    let mut body = Vec::new();
    FromWorker::Hello { version: VERSION, protection: Protection::default() }.put(&mut body);
    let mut frame = u32::try_from(body.len()).unwrap_or(0).to_le_bytes().to_vec();
    frame.extend(body);
    frame
}
