//! What a request brings along, from the first check to the last.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use wire::{Fault, Request};

use crate::http::attachment::Slot;
use crate::http::body::Room;
use crate::settings::Settings;

/// One request as it reached the engine.
pub(crate) struct RequestContext {
    /// What the caller sent. Its parameters may be a password: it never goes to a log.
    pub(crate) request: Request,
    /// The caller's address, behind trusted proxies.
    pub(crate) client: IpAddr,
    /// The host the caller context, as it wrote it.
    pub(crate) host: String,
    /// Whether it came through a proxy.
    pub(crate) was_forwarded: bool,
    /// The moment of the request.
    pub(crate) now: Timestamp,
    /// Whether this is the one request in ten that is turned away near the backup window.
    pub(crate) is_turned_away: bool,
    /// The settings, the same from the first check to the last.
    pub(crate) settings: Arc<Settings>,
    /// The room that a large request takes until it is answered.
    pub(crate) _room: Option<Room>,
    /// The file that goes out with the answer.
    pub(crate) attachment: Slot,
}

/// One in ten, drawn before anything is done.
pub(crate) fn draw_turned_away() -> Result<bool, Fault> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|_| Fault::new("no random numbers"))?;
    Ok(u64::from_le_bytes(random) % 10 == 0)
}
