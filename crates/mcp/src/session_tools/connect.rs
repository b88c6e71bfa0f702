//! `session_connect`: signs in and tells the agent everything about its session at once.

use std::collections::BTreeSet;

use home::{DeskFile, ShopIni};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tools::{Right, Shown, tool};
use wire::text::quoted;
use wire::{Fault, Origin, Refusal, SignedIn, Stop, catalogue};
use zeroize::Zeroizing;

use crate::core::Core;
use crate::gate::{self, Arguments};
use crate::place::{self, Place};
use crate::registry::{self, Entry};
use crate::session::{From, Memory, Session};
use crate::{folders, sign_in};

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
        not_written
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
pub(crate) fn topic(core: &Core, entry: &Entry, arguments: Arguments) -> Result<Option<String>, Refusal> {
    let mut named = match arguments {
        Arguments::Named(named) => named,
        odd @ Arguments::Odd(_) => gate::arguments(entry, odd)?,
    };
    let topic = named.remove("topic");
    known_only(entry, named)?;
    if core.options.event.is_some() {
        return Ok(None);
    }
    match topic {
        None | Some(Value::Null) => Err(catalogue::topic_missing()),
        Some(Value::String(topic)) if topic.is_empty() => Err(catalogue::topic_missing()),
        Some(Value::String(topic)) if folders::is_topic(&topic) => Ok(Some(topic)),
        Some(Value::String(topic)) => Err(catalogue::topic_not_a_word(&quoted(&topic, QUOTE))),
        Some(Value::Array(_)) => Err(catalogue::topic_not_a_word("a list")),
        Some(Value::Object(_)) => Err(catalogue::topic_not_a_word("an object")),
        Some(other) => Err(catalogue::topic_not_a_word(&quoted(&other.to_string(), QUOTE))),
    }
}

/// Refuses parameters the tool does not have.
fn known_only(entry: &Entry, mut rest: Map<String, Value>) -> Result<(), Refusal> {
    rest.insert("topic".to_owned(), Value::from("x"));
    gate::arguments(entry, Arguments::Named(rest)).map(|_| ())
}

/// Ends the former session and opens a new one.
///
/// Invariant: once the topic is accepted the former session is over, whatever follows.
pub(crate) async fn run(core: &Core, topic: Option<String>, host: &str) -> Result<Shown, Stop> {
    core.set_session(None);
    let place = place::find(&place::stores(&core.options.home)?, core.options.store.as_ref())?;
    let connection = place.connection()?;
    let source = sign_in::source(&core.options.home, &place, &connection).await?;
    let origin = Origin {
        application: if host.trim().is_empty() { "agent".to_owned() } else { quoted(host, 100) },
        topic: topic.clone().unwrap_or_default(),
        event: core.options.event,
    };
    let address = sign_in::address(&place, &connection)?;
    let signed_in = sign_in::sign_in(core, &address, &place, &connection, &source.pair, &origin).await?;
    let topic = topic.unwrap_or_else(|| event_topic(core, &signed_in));
    let application = folders::application(host);
    let folder = folders::open(&place.folder, &application, &topic)?;
    let conversations = {
        let (store, application) = (place.folder.clone(), application.clone());
        tokio::task::spawn_blocking(move || folders::list(&store, &application)).await?
    };
    let fixed = Opening {
        address,
        place,
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
    let (session, shown) = fixed.open(core, signed_in)?;
    tracing::info!(store = session.place.name, login = session.login, "Session opened");
    core.set_session(Some(session));
    Ok(shown)
}

/// The folder of a session that the Dispatcher launched, by the event's own day where it is known.
fn event_topic(core: &Core, signed_in: &SignedIn) -> String {
    let event = signed_in.event.as_ref();
    let time = event.and_then(|event| event.time.parse().ok()).unwrap_or_else(Timestamp::now);
    let day = jiff::tz::TimeZone::UTC.to_datetime(time).date().to_string();
    folders::event_topic(&day, core.options.event.unwrap_or_default())
}

/// What is known of a session before the engine's answer is looked at.
struct Opening {
    place: Place,
    address: crate::client::Address,
    connection: ShopIni,
    login: String,
    from: From,
    origin: Origin,
    application: String,
    folder: std::path::PathBuf,
    cache: answer::Cache,
}

impl Opening {
    /// The session, and what the agent is told of it.
    fn open(self, core: &Core, signed_in: SignedIn) -> Result<(Session, Shown), Stop> {
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
            memory: Memory::new(Zeroizing::new(signed_in.ticket.clone()), critical),
            place: self.place.clone(),
        };
        let answer = self.answer(core, &session, signed_in);
        let shown = Shown { data: Some(serde_json::to_value(answer)?), text: Some(text), ..Shown::default() };
        Ok((session, shown))
    }

    fn answer(self, core: &Core, session: &Session, signed_in: SignedIn) -> Answer {
        let granted = registry::entries().iter().filter(|entry| session.may(entry.spec));
        Answer {
            store: answer::Store {
                name: self.place.name,
                url: self.connection.url,
                folder: self.place.folder.display().to_string(),
                pinned: self.place.pinned,
            },
            user: answer::User {
                id: signed_in.user.id,
                login: signed_in.user.login,
                name: signed_in.user.name,
                options: signed_in.user.options,
                from: match self.from {
                    From::Program => "program".to_owned(),
                    From::Settings => "settings".to_owned(),
                },
            },
            group: signed_in.group.map(answer::Group::from),
            princ: signed_in.princ.map(answer::Principal::from),
            event: signed_in.event.map(answer::Event::from),
            demo: signed_in.demo,
            folder: self.folder.display().to_string(),
            cache: self.cache,
            build: program_build(core),
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
fn program_build(core: &Core) -> String {
    let desk = DeskFile::read(&core.options.home).filter(|desk| !desk.build.is_empty() && desk.is_alive());
    desk.map_or_else(|| wire::BUILD.to_owned(), |desk| desk.build)
}
