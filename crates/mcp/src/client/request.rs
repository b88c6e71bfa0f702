//! A request of this build, to be filled in.

use jiff::Timestamp;
use serde_json::Map;
use wire::{Origin, Request};

/// Oldest engine this server can work with.
const LEAST_ENGINE: &str = "0.1.0";

/// A request of this build, to be filled in.
pub(crate) fn request(command: &str, tool: &str, origin: &Origin) -> Request {
    Request {
        command: command.to_owned(),
        tool: Some(tool.to_owned()),
        least: Some(LEAST_ENGINE.to_owned()),
        params: Map::new(),
        build: wire::BUILD.to_owned(),
        time: Timestamp::now().to_string(),
        session: None,
        licence: None,
        key: None,
        origin: origin.clone(),
    }
}
