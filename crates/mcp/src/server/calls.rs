//! One call of a tool, from its name to what is shown.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tools::{Presented, SiteHalves, ToolSpec};
use wire::{Fault, Stop, catalogue};

use crate::client::messages;
use crate::gate::{self, Arguments};
use crate::server::listed_tool::ListedTool;
use crate::server::registry;
use crate::server::state::ServerState;
use crate::session::exchange::{self, Answered};
use crate::session::open_session::Session;
use crate::session_tools::{clear, connect, init, rules_accept};
use crate::site;

/// How long a file may be on its way.
const FILE_TIME: Duration = Duration::from_secs(15 * 60);

/// Carries a call out. `host` is the application's name.
pub(crate) async fn run(
    state: &ServerState,
    name: &str,
    arguments: Arguments,
    host: &str,
) -> Result<Presented, Stop> {
    let entry = registry::find(name)?;
    match name {
        "session_init" => {
            gate::arguments(entry, arguments)?;
            init::run(state).await
        }
        "session_connect" => {
            let topic = connect::topic(state, entry, arguments)?;
            let _alone = state.connecting.lock().await;
            connect::run(state, topic, host).await
        }
        _ => {
            // Calls sent after a `session_connect` belong to the session it opens.
            drop(state.connecting.lock().await);
            let session = gate::connected(state.session())?;
            in_session(state, session, entry, arguments).await
        }
    }
}

async fn in_session(
    state: &ServerState,
    session: Arc<Session>,
    entry: &'static ListedTool,
    arguments: Arguments,
) -> Result<Presented, Stop> {
    match entry.spec.name {
        "session_rules_accept" => {
            rules_accept::run(state, &session, parsed(gate::arguments(entry, arguments)?)?)
        }
        "session_clear" => {
            let args = parsed(gate::arguments(entry, arguments)?)?;
            blocking(move || clear::run(&session, args)).await
        }
        _ => {
            gate::pass(&state.options.home, &session, entry.spec)?;
            let arguments = gate::arguments(entry, arguments)?;
            match entry.spec.site {
                Some(halves) => site_tool(state, session, halves, arguments).await,
                None => store_tool(state, session, entry.spec, arguments).await,
            }
        }
    }
}

/// A tool with an engine's half: its own half before, the request, its own half after.
async fn store_tool(
    state: &ServerState,
    session: Arc<Session>,
    spec: &'static ToolSpec,
    arguments: Map<String, Value>,
) -> Result<Presented, Stop> {
    // Before anything is read or made for the call: what waits holds its arguments only.
    let turn = state.in_flight.turn(state.options.timeout).await;
    let turn = turn.ok_or_else(|| messages::no_place(&session.address.shown(), state.options.timeout))?;
    let mut local = session.local();
    let params = match spec.prepare {
        None => arguments.clone(),
        Some(prepare) => {
            let (local, arguments) = (local.clone(), arguments.clone());
            blocking(move || prepare(&local, arguments)).await?
        }
    };
    let target = match spec.download {
        None => None,
        Some(download) => {
            let (local, arguments) = (local.clone(), arguments.clone());
            Some(blocking(move || download(&local, arguments)).await?)
        }
    };
    let until = if target.is_some() { turn.until.max(Instant::now() + FILE_TIME) } else { turn.until };
    let began = Instant::now();
    let answered = exchange::call_tool(state, &session, spec, params, target.as_deref(), until).await?;
    local.trip = began.elapsed();
    let Answered { data: mut answer, key, file } = answered;
    if let Some(target) = target {
        let file =
            file.ok_or_else(|| catalogue::unexpected_answer("a file was asked for, and none came."))?;
        blocking(move || file.place()).await?;
        // What is no object is refused where the answer is read.
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("file".to_owned(), target.to_string_lossy().into_owned().into());
        }
    }
    let shown = match spec.present {
        None => Ok(Presented::data(answer)),
        Some(present) => blocking(move || present(&local, arguments, answer)).await,
    };
    // An answer that is not of the tool's form says nothing about what was done: the key is kept.
    let shown = match (shown, key) {
        (Err(Stop::Refused(refusal)), Some(_)) if refusal.name() == "unexpected_answer" => {
            Err(messages::doubtful(&refusal).into())
        }
        (shown, Some(key)) => {
            key.settle();
            shown
        }
        (shown, None) => shown,
    }?;
    session.read(&shown.notes_read);
    Ok(shown)
}

/// A tool that visits the store's site: what it asks for, the visit, what it shows.
async fn site_tool(
    state: &ServerState,
    session: Arc<Session>,
    halves: SiteHalves,
    arguments: Map<String, Value>,
) -> Result<Presented, Stop> {
    let turn = state.in_flight.turn(state.options.timeout).await;
    let turn = turn.ok_or_else(|| messages::no_place(&session.address.shown(), state.options.timeout))?;
    let local = session.local();
    let request = (halves.ask)(&local, arguments.clone())?;
    let answer = site::visit(state, &session, request, turn.until).await?;
    blocking(move || (halves.show)(&local, arguments, answer)).await
}

/// Runs what may wait for a disk on a thread of its own, so that other calls go on.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Stop> + Send + 'static,
) -> Result<T, Stop> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => std::panic::resume_unwind(payload),
            Err(error) => Err(error.into()),
        },
    }
}

fn parsed<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Stop> {
    // The schema has been checked, so what does not fit here is a mistake of ours.
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Fault::new(format!("arguments passed the schema and not the type: {error}")).into())
}
