//! The request that the MCP server and the program send to the engine.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One request. See spec: wire.md.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// `AGENT_…` at the agent's endpoint, `PROGRAM_…` at the program's.
    pub command: String,
    /// Name of the tool that asks: several tools may stand behind one command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Oldest engine build the caller can work with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<String>,
    /// Build of the caller.
    #[serde(default)]
    pub build: String,
    /// The caller's clock in UTC, RFC 3339.
    #[serde(default)]
    pub time: String,
    /// The sign-in ticket; absent only when signing in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The day's licence token, where the store is licensed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Idempotency key (UUID) of a command that writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Who works, for the journal.
    #[serde(default)]
    pub origin: Origin,
    /// The command's parameters. They come last: of a large request the engine looks at the ticket before it takes in
    /// the rest.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// What the caller says of itself, for the journal.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Origin {
    /// Name of the agent application.
    #[serde(default)]
    pub application: String,
    /// The conversation's topic.
    #[serde(default)]
    pub topic: String,
    /// Number of the event that launched the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<i64>,
}

impl Request {
    /// Path of the agent's endpoint below the store's address.
    pub const AGENT_PATH: &str = "core/mcp.php";
    /// Path of the program's endpoint below the store's address.
    pub const PROGRAM_PATH: &str = "core/program.php";
    /// Signs in at the agent's endpoint; `params` is [`crate::SignIn`], the answer [`crate::SignedIn`].
    pub const SIGN_IN: &str = "AGENT_SESSION_CONNECT";
    /// Signs in at the program's endpoint; `params` is [`crate::SignIn`], the answer [`crate::ProgramSignedIn`].
    pub const PROGRAM_SIGN_IN: &str = "PROGRAM_SIGN_IN";
    /// Ends the program's ticket; no parameters, the answer is an empty object.
    pub const PROGRAM_SIGN_OUT: &str = "PROGRAM_SIGN_OUT";
    /// Asks for what gets licence tokens; no parameters, the answer is [`crate::LicenceProofs`].
    pub const PROGRAM_LICENCE: &str = "PROGRAM_LICENCE";
    /// Asks what waits for the person; no parameters, the answer is [`crate::ProgramHome`].
    pub const PROGRAM_HOME: &str = "PROGRAM_HOME";
    /// Takes tables into work; `params` is [`crate::LeaseTake`], the answer [`crate::LeaseAnswer`].
    pub const PROGRAM_LEASE_TAKE: &str = "PROGRAM_LEASE_TAKE";
    /// Keeps tables in work; `params` is [`crate::LeaseRenew`], the answer [`crate::LeaseAnswer`].
    pub const PROGRAM_LEASE_RENEW: &str = "PROGRAM_LEASE_RENEW";
    /// Gives tables back; `params` is [`crate::LeaseFree`], the answer [`crate::LeaseAnswer`].
    pub const PROGRAM_LEASE_FREE: &str = "PROGRAM_LEASE_FREE";
}
