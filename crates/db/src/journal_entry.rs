//! Who does something, with what, and when: what an entry of the journal says besides its changes.

use jiff::Timestamp;

/// What the triggers' names begin with.
pub(crate) const PREFIX: &str = "journal_";
/// Longest value, in bytes of JSON, that is kept in a change itself; a longer one lies in `journal_values`.
pub(crate) const LARGE: usize = 64 << 10;

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A person's agent.
    Agent,
    /// A person.
    Person,
    /// A visitor of the store.
    Visitor,
    /// The store by itself, or a program that changed its database.
    Store,
}

impl Actor {
    /// All of them.
    const ALL: [Self; 4] = [Self::Agent, Self::Person, Self::Visitor, Self::Store];

    /// As it is kept.
    pub fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Person => "person",
            Self::Visitor => "visitor",
            Self::Store => "store",
        }
    }

    /// The one that is kept as this word.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|actor| actor.word() == word)
    }
}

/// Who does something, with what, and when. One entry for a transaction, with all its changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Number; `None` until it is written.
    pub id: Option<i64>,
    /// When.
    pub time: Timestamp,
    /// Who.
    pub actor: Actor,
    /// The person.
    pub user_id: Option<i64>,
    /// The principal whose right let the call through.
    pub princ_id: Option<i64>,
    /// The command.
    pub command: String,
    /// The tool.
    pub tool: String,
    /// The agent application.
    pub application: String,
    /// The conversation's topic.
    pub topic: String,
    /// The event that launched the session.
    pub event: Option<i64>,
    /// Idempotency key of the call.
    pub key: Option<String>,
}

impl Entry {
    /// An agent's entry of which only the necessary is known; the rest is set by its fields.
    pub fn new(time: Timestamp, user_id: i64, command: &str) -> Self {
        Self { actor: Actor::Agent, user_id: Some(user_id), ..Self::of(time, Actor::Store, command) }
    }

    /// An entry without a person.
    pub fn of(time: Timestamp, actor: Actor, command: &str) -> Self {
        Self {
            id: None,
            time,
            actor,
            user_id: None,
            princ_id: None,
            command: command.to_owned(),
            tool: String::new(),
            application: String::new(),
            topic: String::new(),
            event: None,
            key: None,
        }
    }
}
