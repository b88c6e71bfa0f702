//! One call of a tool, from its name to what is shown.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tools::{Shown, ToolSpec};
use wire::{Fault, Stop};

use crate::core::Core;
use crate::gate::{self, Arguments};
use crate::registry::{self, Entry};
use crate::session::Session;
use crate::session_tools::{clear, connect, init, rules_accept};
use crate::words;

/// Carries a call out. `host` is the application's name.
pub(crate) async fn run(core: &Core, name: &str, arguments: Arguments, host: &str) -> Result<Shown, Stop> {
    let entry = registry::find(name)?;
    match name {
        "session_init" => {
            gate::arguments(entry, arguments)?;
            init::run(core).await
        }
        "session_connect" => {
            let topic = connect::topic(core, entry, arguments)?;
            let _alone = core.connecting.lock().await;
            connect::run(core, topic, host).await
        }
        _ => {
            // Calls sent after a `session_connect` belong to the session it opens.
            drop(core.connecting.lock().await);
            let session = gate::connected(core.session())?;
            in_session(core, session, entry, arguments).await
        }
    }
}

async fn in_session(
    core: &Core,
    session: Arc<Session>,
    entry: &'static Entry,
    arguments: Arguments,
) -> Result<Shown, Stop> {
    match entry.spec.name {
        "session_rules_accept" => {
            rules_accept::run(core, &session, parsed(gate::arguments(entry, arguments)?)?)
        }
        "session_clear" => {
            let args = parsed(gate::arguments(entry, arguments)?)?;
            blocking(move || clear::run(&session, args)).await
        }
        _ => {
            gate::pass(&core.options.home, &session, entry.spec)?;
            let arguments = gate::arguments(entry, arguments)?;
            store_tool(core, session, entry.spec, arguments).await
        }
    }
}

/// A tool with an engine's half: its own half before, the request, its own half after.
async fn store_tool(
    core: &Core,
    session: Arc<Session>,
    spec: &'static ToolSpec,
    arguments: Map<String, Value>,
) -> Result<Shown, Stop> {
    let here = session.here();
    let params = match spec.ask {
        None => arguments.clone(),
        Some(ask) => {
            let (here, arguments) = (here.clone(), arguments.clone());
            blocking(move || ask(&here, arguments)).await?
        }
    };
    let (answer, key) = core.ask(&session, spec, params).await?;
    let shown = match spec.show {
        None => Ok(Shown::data(answer)),
        Some(show) => blocking(move || show(&here, arguments, answer)).await,
    };
    // An answer that is not of the tool's form says nothing about what was done: the key is kept.
    let shown = match (shown, key) {
        (Err(Stop::Refused(refusal)), Some(_)) if refusal.name() == "unexpected_answer" => {
            Err(words::doubtful(&refusal).into())
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
