//! Which commands of the store's own tools a call may run, and through whom.

use std::collections::HashSet;

use db::{ai_tools, events, rights, users};
use wire::Stop;

use crate::EngineCx;

/// The right to save AI components, which holds all commands.
const AI_COMPONENTS: &str = "AI_COMPONENTS";

/// How a command is open to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    /// The person has it.
    Person,
    /// Only the session's principal, of this number, has it.
    Principal(i64),
}

/// What is granted to the person of a call and to its principal.
pub(super) struct Access {
    own: Granted,
    principal: Option<(i64, Granted)>,
}

enum Granted {
    All,
    Some(HashSet<i64>),
}

impl Granted {
    fn has(&self, command: i64) -> bool {
        match self {
            Self::All => true,
            Self::Some(commands) => commands.contains(&command),
        }
    }
}

impl Access {
    /// Reads it for a call.
    pub(super) fn read(cx: &mut EngineCx<'_>) -> Result<Self, Stop> {
        let holds_all = cx.caller.is_demo || cx.caller.commands.iter().any(|held| held == AI_COMPONENTS);
        let own =
            if holds_all { Granted::All } else { Granted::Some(ai_tools::granted(cx.tx, cx.caller.id)?) };
        let principal = match principal(cx)? {
            Some(id) if rights::is_granted(cx.tx, id, AI_COMPONENTS)? => Some((id, Granted::All)),
            Some(id) => Some((id, Granted::Some(ai_tools::granted(cx.tx, id)?))),
            None => None,
        };
        Ok(Self { own, principal })
    }

    /// How a command is open; `None` is closed.
    pub(super) fn through(&self, command: i64) -> Option<Through> {
        if self.own.has(command) {
            return Some(Through::Person);
        }
        let (id, granted) = self.principal.as_ref()?;
        granted.has(command).then_some(Through::Principal(*id))
    }
}

/// The principal that the event names which launched the session. An event for somebody else names none, and
/// neither does a blocked person.
fn principal(cx: &mut EngineCx<'_>) -> Result<Option<i64>, Stop> {
    let Some(event) = cx.entry.event else { return Ok(None) };
    let Some(event) = events::find(cx.tx, event)? else { return Ok(None) };
    let is_ours = event.to_user == Some(cx.caller.id)
        || event.to_group.is_some_and(|group| cx.caller.groups.contains(&group));
    let Some(id) = event.princ_id.filter(|_| is_ours) else { return Ok(None) };
    Ok(users::by_id(cx.tx, id)?.filter(|user| !user.blocked).map(|user| user.id))
}

/// Where tools are made and granted, in the tree of rights.
pub(super) fn place(cx: &mut EngineCx<'_>) -> Result<String, Stop> {
    Ok(rights::path(cx.tx, AI_COMPONENTS, cx.language)?.unwrap_or_default())
}
