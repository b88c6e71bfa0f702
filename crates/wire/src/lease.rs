//! Taking tables into work at the program's endpoint, so that agents do not write beneath an open window.

use serde::{Deserialize, Serialize};

/// Parameters of [`crate::Request::PROGRAM_LEASE_TAKE`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseTake {
    /// The tables, all or none.
    pub tables: Vec<String>,
    /// What is done with them, in words for others.
    #[serde(default)]
    pub what: String,
    /// How long, if not renewed; the engine allows at most an hour.
    pub seconds: u64,
}

/// Parameters of [`crate::Request::PROGRAM_LEASE_RENEW`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseRenew {
    /// From the answer to taking.
    pub holder: String,
    /// The tables.
    pub tables: Vec<String>,
    /// How long from now.
    pub seconds: u64,
}

/// Parameters of [`crate::Request::PROGRAM_LEASE_FREE`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseFree {
    /// From the answer to taking.
    pub holder: String,
    /// The tables.
    pub tables: Vec<String>,
}

/// The answer to all three.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeaseAnswer {
    /// Names this holding; only who has it renews or frees.
    pub holder: String,
    /// Tables that are held now, by this holding.
    pub tables: Vec<String>,
    /// Until when, RFC 3339 in UTC; `None` after freeing.
    pub until: Option<String>,
}
