//! The data block of `session_connect`: the seed's object, every field present.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The session's data.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The store.
    pub store: Store,
    /// The person whose login the session works under.
    pub user: User,
    /// The person's group.
    pub group: Option<Group>,
    /// The user with whose rights ungranted commands of AI tools run.
    pub princ: Option<Principal>,
    /// The event that launched the session.
    pub event: Option<Event>,
    /// Demo mode: no licence, no password.
    pub demo: bool,
    /// The conversation folder.
    pub folder: String,
    /// All conversation folders of this application in this store.
    pub cache: Cache,
    /// Build of the program next to the server.
    pub build: String,
    /// Notes the person can see; null without the right to read them.
    pub memory: Option<Memory>,
    /// How many AI tools the store has; null without the right to their list.
    pub tools: Option<u64>,
    /// The scheduler's open tasks; null without the right to it.
    pub tasks: Option<Tasks>,
    /// Tools this session may call.
    pub granted: Vec<String>,
}

/// The store.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Store {
    /// Name from the program's list of stores.
    pub name: String,
    /// Address.
    pub url: String,
    /// The store folder.
    pub folder: String,
    /// Whether the server is pinned to it.
    pub pinned: bool,
}

/// The person.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct User {
    /// Number.
    pub id: i64,
    /// Login.
    pub login: String,
    /// Name.
    pub name: String,
    /// Keyed options the owner filled in.
    pub options: BTreeMap<String, String>,
    /// `program` or `settings`: where the login came from.
    pub from: String,
}

/// A group.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Number.
    pub id: i64,
    /// Key.
    pub skey: Option<String>,
    /// Name in the store's language.
    pub name: String,
    /// Keyed options the owner filled in.
    pub options: BTreeMap<String, String>,
}

/// The principal.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Principal {
    /// Number.
    pub id: i64,
    /// Login.
    pub login: String,
    /// Name.
    pub name: String,
    /// Group.
    pub group: Option<Group>,
}

/// The event that launched the session.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Number.
    pub id: i64,
    /// Author; null is the store itself.
    pub user_id: Option<i64>,
    /// Key.
    pub key: String,
    /// State.
    pub state: String,
    /// When it was raised.
    pub time: String,
    /// What it carries.
    pub data: Value,
}

/// The conversation folders together.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// How many.
    pub topics: usize,
    /// Bytes.
    pub size: u64,
}

/// Notes the person can see.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// How many.
    pub notes: u64,
    /// How many of them are critical.
    pub critical: usize,
}

/// Open tasks by state.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Tasks {
    /// The move is the person's.
    pub waiting: Vec<Count>,
    /// Given to others.
    pub given: Vec<Count>,
}

/// How many tasks are in a state.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Count {
    /// Key of the state.
    pub state: String,
    /// Its name in the store's language.
    pub name: String,
    /// How many.
    pub count: u64,
}

impl From<wire::Group> for Group {
    fn from(group: wire::Group) -> Self {
        let wire::Group { id, skey, name, options } = group;
        Self { id, skey, name, options }
    }
}

impl From<wire::Principal> for Principal {
    fn from(principal: wire::Principal) -> Self {
        let wire::Principal { id, login, name, group } = principal;
        Self { id, login, name, group: group.map(Group::from) }
    }
}

impl From<wire::Event> for Event {
    fn from(event: wire::Event) -> Self {
        let wire::Event { id, user_id, key, state, time, data } = event;
        Self { id, user_id, key, state, time, data }
    }
}

impl From<wire::Tasks> for Tasks {
    fn from(tasks: wire::Tasks) -> Self {
        let counts = |list: Vec<wire::StateCount>| {
            list.into_iter()
                .map(|wire::StateCount { state, name, count }| Count { state, name, count })
                .collect()
        };
        Self { waiting: counts(tasks.waiting), given: counts(tasks.given) }
    }
}
