//! `session_clear`: the conversation folders of this application, listed or removed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tools::{Presented, Right, tool};
use wire::text::quoted;
use wire::{Stop, catalogue};

use crate::session::conversation_folders::{self, Conversation};
use crate::session::open_session::Session;

tool!("session_clear", right: Right::Free, effect: Destroys, refuses: [not_a_topic, topic_not_removed]);

/// Lists this application's conversation folders; with `topics` removes those. Ask the person first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Topics to remove.
    pub topics: Option<Vec<String>>,
}

/// The list, or what became of the topics.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The open conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// All conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<Topic>>,
    /// Bytes of all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Topics that were removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<Vec<String>>,
    /// Topics that were not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
}

/// A conversation folder.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Topic {
    /// Its topic.
    pub topic: String,
    /// Bytes of its files.
    pub size: u64,
    /// Its last change, in UTC.
    pub changed: String,
}

/// Blocking: walks over files.
pub(crate) fn run(session: &Session, args: Args) -> Result<Presented, Stop> {
    match args.topics {
        None => Ok(list(session)),
        Some(topics) => remove(session, topics),
    }
}

fn list(session: &Session) -> Presented {
    let topics = conversation_folders::list(&session.store.folder, &session.application);
    let size: u64 = topics.iter().map(|topic| topic.size).sum();
    let topics: Vec<Topic> = topics.into_iter().map(Topic::from).collect();
    Presented::data(json!({"current": session.origin.topic, "topics": topics, "size": size}))
}

impl From<Conversation> for Topic {
    fn from(conversation: Conversation) -> Self {
        let Conversation { topic, size, changed } = conversation;
        Self { topic, size, changed }
    }
}

/// Every name is checked before the first folder goes.
fn remove(session: &Session, topics: Vec<String>) -> Result<Presented, Stop> {
    if let Some(odd) = topics.iter().find(|topic| !conversation_folders::is_conversation(topic)) {
        return Err(catalogue::not_a_topic(&quoted(odd, 60)).into());
    }
    let (mut removed, mut missing) = (Vec::new(), Vec::new());
    for topic in topics {
        if removed.contains(&topic) || missing.contains(&topic) {
            continue;
        }
        match conversation_folders::remove(&session.store.folder, &session.application, &topic) {
            Ok(true) => removed.push(topic),
            Ok(false) => missing.push(topic),
            Err((path, why)) => {
                let before = if removed.is_empty() { "nothing".to_owned() } else { removed.join(", ") };
                let path = path.display().to_string();
                return Err(catalogue::topic_not_removed(&topic, &path, &why, &before).into());
            }
        }
    }
    Ok(Presented::data(json!({"removed": removed, "missing": missing})))
}
