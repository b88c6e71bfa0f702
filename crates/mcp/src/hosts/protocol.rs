//! What each version of the protocol knows.

/// The versions, oldest first; a later one knows everything an earlier one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Era {
    /// 2024-11-05.
    First,
    /// 2025-03-26: annotations of tools.
    Annotations,
    /// 2025-06-18: titles, output schemas, structured content.
    Structured,
    /// 2025-11-25.
    Handshake,
    /// 2026-07-28: no handshake, `_meta` with each request and answer.
    Stateless,
}

impl Era {
    /// The era of a version; what is unknown counts as the nearest older one.
    pub(crate) fn of(version: &str) -> Self {
        // Versions are dates, so they compare as texts.
        match version {
            version if version >= "2026-07-28" => Self::Stateless,
            version if version >= "2025-11-25" => Self::Handshake,
            version if version >= "2025-06-18" => Self::Structured,
            version if version >= "2025-03-26" => Self::Annotations,
            _ => Self::First,
        }
    }
}

/// The agent application behind one request.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// What its protocol version knows.
    pub(crate) era: Era,
    /// Its name, as it introduced itself; may be empty.
    pub(crate) name: String,
}
