//! Signing in at the agent's endpoint: everything a session has to know, read in the transaction of its ticket.

use std::sync::Arc;

use db::{Tx, ai_tools, events, rights, users};
use serde_json::Value;
use wire::{Closed, NotNow, Principal, Rights, SignedIn, Stop};

use crate::app_state::AppState;
use crate::gate::Gate;
use crate::gate::sign_in::{Admitted, sign_in};
use crate::gate::tickets;
use crate::request_context::RequestContext;
use crate::user_info::{MEMORY, main_group, memory, open_tasks, person};

/// The command under which AI tools are made.
const AI_COMPONENTS: &str = "AI_COMPONENTS";

/// Signs in at the agent's endpoint.
pub(crate) async fn answer(state: Arc<AppState>, context: RequestContext) -> Result<Value, Stop> {
    sign_in(state, context, tickets::AGENT, |tx, admitted| {
        Ok(serde_json::to_value(signed_in(tx, admitted)?)?)
    })
    .await
}

/// The answer at the agent's endpoint.
fn signed_in(tx: &mut Tx, admitted: &Admitted<'_>) -> Result<SignedIn, Stop> {
    let settings = &admitted.context.settings;
    let language = settings.config.language.as_str();
    let user = &admitted.user;
    let groups = users::groups(tx, user.id)?;
    let rights = rights_of(tx, admitted, language)?;
    let may = |command: &str| rights.granted.iter().any(|granted| granted == command);
    let sees_memory = MEMORY.into_iter().all(may);
    let tools = if may("AGENT_TOOL_LIST") { Some(ai_tools::count(tx)?) } else { None };
    let event = event_of(tx, admitted, &groups)?;
    Ok(SignedIn {
        ticket: admitted.ticket.clone(),
        licensed: settings.licence.is_some() && !admitted.is_demo,
        language: language.to_owned(),
        user: person(tx, user)?,
        group: main_group(tx, user, language)?,
        princ: match event.as_ref().and_then(|event| event.princ_id) {
            Some(princ) => principal(tx, princ, language)?,
            None => None,
        },
        event: event.map(wire_event),
        demo: admitted.is_demo,
        memory: if sees_memory { Some(memory(tx, user.id, &groups)?) } else { None },
        tools,
        tasks: open_tasks(tx, user.id, admitted.is_demo, language)?,
        rights,
    })
}

fn rights_of(tx: &mut Tx, admitted: &Admitted<'_>, language: &str) -> Result<Rights, Stop> {
    let (mut closed, components_path) = rights::paths_and(tx, AI_COMPONENTS, language)?;
    let components_path = components_path.unwrap_or_default();
    let granted: Vec<String> = if admitted.is_demo {
        std::mem::take(&mut closed).into_keys().collect()
    } else {
        rights::granted(tx, admitted.user.id)?
    };
    let granted: Vec<String> = granted.into_iter().filter(|command| command.starts_with("AGENT_")).collect();
    closed.retain(|command, _| !granted.contains(command));
    let closed = closed.into_iter().map(|(command, path)| Closed { command, path }).collect();
    let not_now = if admitted.is_demo { Vec::new() } else { not_now(tx, admitted.gate, &granted)? };
    Ok(Rights { granted, closed, components_path, not_now })
}

/// Granted commands that hours or load would refuse at this moment.
fn not_now(tx: &mut Tx, gate: &Gate<'_>, granted: &[String]) -> Result<Vec<NotNow>, Stop> {
    let limited = rights::limited(tx)?.into_iter().filter(|(command, _)| granted.contains(command));
    Ok(limited
        .filter_map(|(command, limits)| {
            let refusal = gate.limits(&command, &limits).err()?;
            Some(NotNow { command, refusal: refusal.name().to_owned(), error: refusal.head().to_owned() })
        })
        .collect())
}

fn principal(tx: &mut Tx, id: i64, language: &str) -> Result<Option<Principal>, Stop> {
    let user = users::by_id(tx, id)?.filter(|user| !user.blocked);
    let Some(user) = user else { return Ok(None) };
    let group = main_group(tx, &user, language)?;
    Ok(Some(Principal { id: user.id, login: user.login, name: user.name, group }))
}

/// The event that launched the session: one that is not addressed to this person counts as none.
fn event_of(tx: &mut Tx, admitted: &Admitted<'_>, groups: &[i64]) -> Result<Option<events::Event>, Stop> {
    let Some(id) = admitted.event else { return Ok(None) };
    let event = events::find(tx, id)?;
    Ok(event.filter(|event| {
        event.to_user == Some(admitted.user.id) || event.to_group.is_some_and(|group| groups.contains(&group))
    }))
}

fn wire_event(event: events::Event) -> wire::Event {
    let events::Event { id, user_id, key, state, time, data, .. } = event;
    wire::Event { id, user_id, key, state, time, data }
}
