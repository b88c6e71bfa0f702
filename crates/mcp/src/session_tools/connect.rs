//! `session_connect`: signs in and tells the agent everything about its session at once.

use std::collections::BTreeSet;

use home::{DeskFile, ShopIni};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tools::{Presented, Right, tool};
use wire::text::quoted;
use wire::{Fault, Origin, Refusal, SignedIn, Stop, catalogue};
use zeroize::Zeroizing;

use crate::gate::{self, Arguments};
use crate::server::listed_tool::ListedTool;
use crate::server::state::ServerState;
use crate::session::open_session::{PasswordSource, Progress, Session};
use crate::session::store_choice::{self, StoreChoice};
use crate::session::{conversation_folders, sign_in};

mod answer;
mod text;

pub use answer::Answer;

tool!(
    "session_connect",
    right: Right::Free,
    effect: Writes,
    refuses: [
        topic_missing,
        topic_not_a_word,
        no_store,
        no_such_store,
        no_shop_ini,
        no_settings,
        plain_http,
        folder_not_made
    ],
);

/// Signs in and opens the session: what there is to know, then the rules. Other tools work only after it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The conversation in one word of Latin letters, digits, `-`, `_`; the same word brings its folder back.
    pub topic: String,
}

/// How much of an odd topic a refusal repeats.
const QUOTE: usize = 40;

/// The conversation's topic; `None` where the server names the folder.
///
/// A bad one is refused before anything else, and an open session stays as it was.
pub(crate) fn topic(
    state: &ServerState,
    entry: &ListedTool,
    arguments: Arguments,
) -> Result<Option<String>, Refusal> {
    let mut named = match arguments {
        Arguments::Named(named) => named,
        odd @ Arguments::Odd(_) => gate::arguments(entry, odd)?,
    };
    let topic = named.remove("topic");
    known_only(entry, named)?;
    if state.options.event.is_some() {
        return Ok(None);
    }
    match topic {
        None | Some(Value::Null) => Err(catalogue::topic_missing()),
        Some(Value::String(topic)) if topic.is_empty() => Err(catalogue::topic_missing()),
        Some(Value::String(topic)) if conversation_folders::is_topic(&topic) => Ok(Some(topic)),
        Some(Value::String(topic)) => Err(catalogue::topic_not_a_word(&quoted(&topic, QUOTE))),
        Some(Value::Array(_)) => Err(catalogue::topic_not_a_word("a list")),
        Some(Value::Object(_)) => Err(catalogue::topic_not_a_word("an object")),
        Some(other) => Err(catalogue::topic_not_a_word(&quoted(&other.to_string(), QUOTE))),
    }
}

/// Refuses parameters the tool does not have.
fn known_only(entry: &ListedTool, mut rest: Map<String, Value>) -> Result<(), Refusal> {
    rest.insert("topic".to_owned(), Value::from("x"));
    gate::arguments(entry, Arguments::Named(rest)).map(|_| ())
}

/// Ends the former session and opens a new one.
///
/// Invariant: once the topic is accepted the former session is over, whatever follows.
pub(crate) async fn run(state: &ServerState, topic: Option<String>, host: &str) -> Result<Presented, Stop> {
    state.set_session(None);
    let store =
        store_choice::find(&store_choice::stores(&state.options.home)?, state.options.store.as_ref())?;
    let connection = store.connection()?;
    let source = sign_in::source(&state.options.home, &store, &connection).await?;
    let origin = Origin {
        application: if host.trim().is_empty() { "agent".to_owned() } else { quoted(host, 100) },
        topic: topic.clone().unwrap_or_default(),
        event: state.options.event,
    };
    let address = sign_in::address(&store, &connection)?;
    let signed_in = sign_in::sign_in(state, &address, &store, &connection, &source.pair, &origin).await?;
    let topic = topic.unwrap_or_else(|| event_topic(state, &signed_in));
    let application = conversation_folders::application(host);
    let folder = conversation_folders::open(&store.folder, &application, &topic)?;
    let conversations = {
        let (store, application) = (store.folder.clone(), application.clone());
        tokio::task::spawn_blocking(move || conversation_folders::list(&store, &application)).await?
    };
    let fixed = Opening {
        address,
        store,
        connection,
        login: source.pair.login,
        from: source.from,
        origin: Origin { topic, ..origin },
        application,
        folder,
        cache: answer::Cache {
            topics: conversations.len(),
            size: conversations.iter().map(|conversation| conversation.size).sum(),
        },
    };
    let (session, shown) = fixed.open(state, signed_in)?;
    tracing::info!(store = session.store.name, login = session.login, "Session opened");
    state.set_session(Some(session));
    Ok(shown)
}

/// The folder of a session that the Dispatcher launched, by the event's own day where it is known.
fn event_topic(state: &ServerState, signed_in: &SignedIn) -> String {
    let event = signed_in.event.as_ref();
    let time = event.and_then(|event| event.time.parse().ok()).unwrap_or_else(Timestamp::now);
    let day = jiff::tz::TimeZone::UTC.to_datetime(time).date().to_string();
    conversation_folders::event_topic(&day, state.options.event.unwrap_or_default())
}

/// What is known of a session before the engine's answer is looked at.
struct Opening {
    store: StoreChoice,
    address: crate::client::address::Address,
    connection: ShopIni,
    login: String,
    from: PasswordSource,
    origin: Origin,
    application: String,
    folder: std::path::PathBuf,
    cache: answer::Cache,
}

impl Opening {
    /// The session, and what the agent is told of it.
    fn open(self, state: &ServerState, signed_in: SignedIn) -> Result<(Session, Presented), Stop> {
        let text = text::text(&signed_in, self.cache.size);
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| Fault::new(format!("no randomness: {error}")))?;
        let critical = signed_in.memory.as_ref().map(|memory| memory.critical.clone()).unwrap_or_default();
        let session = Session {
            address: self.address.clone(),
            login: self.login.clone(),
            from: self.from,
            licensed: signed_in.licensed && !signed_in.demo,
            origin: self.origin.clone(),
            application: self.application.clone(),
            folder: self.folder.clone(),
            granted: signed_in.rights.granted.iter().cloned().collect::<BTreeSet<_>>(),
            closed: signed_in
                .rights
                .closed
                .iter()
                .map(|row| (row.command.clone(), row.path.clone()))
                .collect(),
            secret,
            renewing: tokio::sync::Mutex::default(),
            progress: Progress::new(Zeroizing::new(signed_in.ticket.clone()), critical),
            store: self.store.clone(),
        };
        let answer = self.answer(state, &session, signed_in);
        let shown =
            Presented { data: Some(serde_json::to_value(answer)?), text: Some(text), ..Presented::default() };
        Ok((session, shown))
    }

    fn answer(self, state: &ServerState, session: &Session, signed_in: SignedIn) -> Answer {
        let granted = state.tools.iter().filter(|entry| session.may(entry.spec));
        Answer {
            store: answer::Store {
                name: self.store.name,
                url: self.connection.url,
                folder: self.store.folder.display().to_string(),
                pinned: self.store.pinned,
            },
            user: answer::User {
                id: signed_in.user.id,
                login: signed_in.user.login,
                name: signed_in.user.name,
                options: signed_in.user.options,
                from: match self.from {
                    PasswordSource::Program => "program".to_owned(),
                    PasswordSource::Settings => "settings".to_owned(),
                },
            },
            group: signed_in.group.map(answer::Group::from),
            princ: signed_in.princ.map(answer::Principal::from),
            event: signed_in.event.map(answer::Event::from),
            demo: signed_in.demo,
            folder: self.folder.display().to_string(),
            cache: self.cache,
            build: program_build(state),
            memory: signed_in
                .memory
                .map(|memory| answer::Memory { notes: memory.notes, critical: memory.critical.len() }),
            tools: signed_in.tools,
            tasks: signed_in.tasks.map(answer::Tasks::from),
            granted: granted.map(|entry| entry.spec.name.to_owned()).collect(),
        }
    }
}

/// Build of the running program; without one it is this binary's own.
fn program_build(state: &ServerState) -> String {
    let desk = DeskFile::read(&state.options.home).filter(|desk| !desk.build.is_empty() && desk.is_alive());
    desk.map_or_else(|| wire::BUILD.to_owned(), |desk| desk.build)
}
