//! What signing in sends and gets.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Parameters of a sign-in.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// The person's login.
    pub login: String,
    /// The person's password; empty in demo mode.
    pub password: String,
    /// Number of the event that launched the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<i64>,
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn")
            .field("login", &self.login)
            .field("event", &self.event)
            .finish_non_exhaustive()
    }
}

/// The engine's answer to a sign-in at the agent's endpoint.
#[derive(Clone, Serialize, Deserialize)]
pub struct SignedIn {
    /// The sign-in ticket: opaque, secret, for later requests.
    pub ticket: String,
    /// Whether requests must carry a licence token.
    pub licensed: bool,
    /// The store's language: `en`, `ru`, …
    pub language: String,
    /// The person.
    pub user: Person,
    /// The person's main group.
    pub group: Option<Group>,
    /// The event's principal, unless none is named or it is blocked.
    pub princ: Option<Principal>,
    /// The event that launched the session.
    pub event: Option<Event>,
    /// Demo mode.
    pub demo: bool,
    /// Notes the person can see; `None` without the right to read memory.
    pub memory: Option<MemoryCount>,
    /// How many AI tools the store has; `None` without the right to the list.
    pub tools: Option<u64>,
    /// The scheduler's open tasks; `None` without the right to it.
    pub tasks: Option<Tasks>,
    /// Agent commands and where they are granted.
    pub rights: Rights,
}

/// The engine's answer to a sign-in at the program's endpoint.
#[derive(Clone, Serialize, Deserialize)]
pub struct ProgramSignedIn {
    /// The sign-in ticket: opaque, secret, for later requests.
    pub ticket: String,
    /// Whether the store is licensed.
    pub licensed: bool,
    /// The store's language.
    pub language: String,
    /// The store's time zone (IANA).
    pub time_zone: String,
    /// Demo mode.
    pub demo: bool,
    /// Whether the person belongs to the administrators' group.
    pub administrator: bool,
    /// The person.
    pub user: Person,
    /// The person's main group.
    pub group: Option<Group>,
}

/// A user of the store, as the agent sees them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Person {
    /// Number.
    pub id: i64,
    /// Login.
    pub login: String,
    /// Name.
    pub name: String,
    /// Keyed options the owner filled in.
    pub options: BTreeMap<String, String>,
}

/// A group of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Number.
    pub id: i64,
    /// The group's key, where the owner gave it one.
    pub skey: Option<String>,
    /// Name in the store's language.
    pub name: String,
    /// Keyed options the owner filled in.
    pub options: BTreeMap<String, String>,
}

/// The user with whose rights ungranted AI-tool commands run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Principal {
    /// Number.
    pub id: i64,
    /// Login.
    pub login: String,
    /// Name.
    pub name: String,
    /// Main group.
    pub group: Option<Group>,
}

/// An event of the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Number.
    pub id: i64,
    /// Author; `None` is the store itself.
    pub user_id: Option<i64>,
    /// Key from the registry.
    pub key: String,
    /// State: `kNew`, `kTaken`, …
    pub state: String,
    /// When it was raised, RFC 3339 in UTC.
    pub time: String,
    /// What it carries.
    pub data: Value,
}

/// Notes of the store's memory that the person can see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryCount {
    /// How many notes.
    pub notes: u64,
    /// Numbers of the critical ones.
    pub critical: Vec<i64>,
}

/// The scheduler's open tasks by state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tasks {
    /// Tasks in which the move is this person's.
    pub waiting: Vec<StateCount>,
    /// Open tasks this person gave to others.
    pub given: Vec<StateCount>,
}

/// How many tasks are in a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateCount {
    /// Key of the state.
    pub state: String,
    /// Its name in the store's language.
    pub name: String,
    /// How many.
    pub count: u64,
}

/// The agent commands this person may run, and where each of the others is granted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rights {
    /// Granted commands.
    pub granted: Vec<String>,
    /// Every other agent command.
    pub closed: Vec<Closed>,
    /// Path of the row under which AI tools are made, in the store's language.
    pub components_path: String,
    /// Granted commands that would be refused at this moment, by their hours or the server's load.
    #[serde(default)]
    pub not_now: Vec<NotNow>,
}

/// A granted command that would be refused at this moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotNow {
    /// `AGENT_…`.
    pub command: String,
    /// Name of the refusal in the catalogue.
    pub refusal: String,
    /// The refusal's words.
    pub error: String,
}

/// A command that is not granted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    /// `AGENT_…`.
    pub command: String,
    /// Path in the rights tree, in the store's language.
    pub path: String,
}
