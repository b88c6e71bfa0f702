//! Signing in: password, ticket, and everything a session has to know, read in one transaction.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use db::{Tx, ai_tools, events, notes, rights, sign_in_attempts, tasks, tickets, users};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use shop::address::network;
use shop::login::folded;
use wire::{
    Closed, Group, MemoryCount, NotNow, Person, Principal, Rights, SignIn, SignedIn, Stop, Tasks, catalogue,
};
use zeroize::Zeroizing;

use crate::gate::{DEMO_VERSION, Gate, first_administrator};
use crate::house::{Asked, House, blocking};
use crate::passwords::Place;
use crate::tickets::{AGENT, new_ticket};

/// A longer login is nobody's, and is cut where it is counted.
const LONGEST_LOGIN: usize = 200;
/// What lets an agent see the memory: notes that can be listed but not loaded would lock its session.
pub(crate) const MEMORY: [&str; 2] = ["AGENT_MEMORY_LIST", "AGENT_MEMORY_LOAD"];
/// The scheduler's command in the tree of operations.
const SCHEDULER: &str = "SCHEDULER";
/// The command under which AI tools are made.
const AI_COMPONENTS: &str = "AI_COMPONENTS";

/// Somebody who was let in, in the transaction that lets them in.
pub(crate) struct Admitted<'a> {
    pub(crate) asked: &'a Asked,
    pub(crate) user: users::User,
    pub(crate) ticket: String,
    pub(crate) is_demo: bool,
    /// The gate they came through.
    gate: &'a Gate<'a>,
    /// Number of the event that launched the session.
    pub(crate) event: Option<i64>,
}

/// How an endpoint makes its answer.
type Answer = fn(&mut Tx, &Admitted<'_>) -> Result<Value, Stop>;

/// Signs in at the agent's endpoint.
pub(crate) async fn agent(house: Arc<House>, asked: Asked) -> Result<Value, Stop> {
    sign_in(house, asked, AGENT, |tx, admitted| Ok(serde_json::to_value(signed_in(tx, admitted)?)?)).await
}

/// Lets somebody in, or not.
pub(crate) async fn sign_in(
    house: Arc<House>,
    mut asked: Asked,
    kind: &'static str,
    answer: Answer,
) -> Result<Value, Stop> {
    let params = parse::<SignIn>(std::mem::take(&mut asked.request.params));
    let asked = Arc::new(asked);
    let SignIn { login, password, event } = match params {
        // Nobody has a login with a zero byte, which not every database takes; the empty login is nobody's too.
        Ok(params) if params.login.contains('\0') => SignIn { login: String::new(), ..params },
        Ok(params) => params,
        Err(stop) => {
            blocking(move || Ok(Gate::enter(&house, &asked).map(|_| ())?)).await?;
            return Err(stop);
        }
    };
    let proven = prove(&house, &asked, kind, login, Zeroizing::new(password)).await?;
    blocking(move || admit(&house, &asked, kind, proven, event, answer)).await
}

/// Reads parameters. Their errors may quote a password, so nothing of them is told.
pub(crate) fn parse<T: DeserializeOwned>(params: Map<String, Value>) -> Result<T, Stop> {
    serde_json::from_value(Value::Object(params))
        .map_err(|_| catalogue::bad_request("the parameters are not those of the command").into())
}

/// What a right password proved.
struct Proven {
    login: String,
    /// Number and version of the password; `None` in demo mode.
    user: Option<(i64, i64)>,
    /// Whether the try was counted before it was known to be right.
    was_counted: bool,
}

/// Checks everything up to the password. Guessing gets slow, and its time says nothing.
async fn prove(
    house: &Arc<House>,
    asked: &Arc<Asked>,
    kind: &'static str,
    login: String,
    password: Zeroizing<String>,
) -> Result<Proven, Stop> {
    let known = {
        let (house, asked, login) = (Arc::clone(house), Arc::clone(asked), login.clone());
        blocking(move || known(&house, &asked, kind, &login)).await?
    };
    let Known::Somebody { user, has_to_wait } = known else {
        return Ok(Proven { login, user: None, was_counted: false });
    };
    let (place, was_counted) = turn(house, asked, &login, has_to_wait).await?;
    let (hash, user) = user.map(|(hash, id, version)| (hash, (id, version))).unzip();
    if place.fits(password, hash).await? {
        return Ok(Proven { login, user, was_counted });
    }
    if !was_counted {
        // Before the place is given up, so that the next one sees it; and with the time of now, since of
        // many tries at once the later ones came long before they were checked.
        let (house, asked) = (Arc::clone(house), Arc::clone(asked));
        blocking(move || {
            let now = house.world.now();
            Ok(house.db.write(|tx| sign_in_attempts::record(tx, &counted(&login), &address(&asked), now))?)
        })
        .await?;
    }
    Err(catalogue::wrong_password().into())
}

/// What is known before the password is looked at.
enum Known {
    /// Demo mode asks for no password.
    Demo,
    /// Hash of the password, number and version where the login exists; whether the try has to wait.
    Somebody { user: Option<(String, i64, i64)>, has_to_wait: bool },
}

fn known(house: &House, asked: &Asked, kind: &str, login: &str) -> Result<Known, Stop> {
    let gate = Gate::enter(house, asked)?;
    if gate.is_demo {
        return Ok(Known::Demo);
    }
    licence(&gate, kind, login)?;
    house.db.read(|tx| {
        let user = users::by_login(tx, login)?;
        let has_to_wait =
            sign_in_attempts::delay_until(tx, &counted(login), &address(asked), asked.now)?.is_some();
        let user = user.map(|user| (user.password_hash, user.id, user.password_version));
        Ok(Known::Somebody { user, has_to_wait })
    })
}

/// The program signs in before it has a token: that is how it gets one.
fn licence(gate: &Gate<'_>, kind: &str, login: &str) -> Result<(), Stop> {
    let checked = if kind == AGENT { gate.licence(Some(login)) } else { gate.licence_clock_and_host() };
    Ok(checked?)
}

/// A place at which the password may be checked now, and whether the try was counted already.
///
/// The count is looked at again at the place: of a thousand tries at once only a few are free.
async fn turn(
    house: &Arc<House>,
    asked: &Arc<Asked>,
    login: &str,
    mut has_to_wait: bool,
) -> Result<(Place, bool), Stop> {
    if !has_to_wait {
        let place = house.passwords.place().await?;
        let (house, asked, login) = (Arc::clone(house), Arc::clone(asked), login.to_owned());
        has_to_wait = blocking(move || {
            let now = house.world.now();
            Ok(house
                .db
                .read(|tx| sign_in_attempts::delay_until(tx, &counted(&login), &address(&asked), now))?
                .is_some())
        })
        .await?;
        if !has_to_wait {
            return Ok((place, false));
        }
    }
    wait_for_turn(house, asked, login).await?;
    Ok((house.passwords.place().await?, true))
}

/// Waits until a login and an address, of which wrong passwords came, have their next turn.
async fn wait_for_turn(house: &Arc<House>, asked: &Arc<Asked>, login: &str) -> Result<(), Stop> {
    let turn = {
        let (house, asked, login) = (Arc::clone(house), Arc::clone(asked), login.to_owned());
        blocking(move || {
            let now = house.world.now();
            let turn = house
                .db
                .write(|tx| sign_in_attempts::take_turn(tx, &counted(&login), &address(&asked), now))?;
            Ok(turn.map(|turn| turn.duration_since(now)))
        })
        .await?
    };
    let Some(wait) = turn else { return Err(catalogue::too_many_attempts().into()) };
    tokio::time::sleep(Duration::try_from(wait).unwrap_or_default()).await;
    Ok(())
}

/// The address as it is counted: who has one address of IPv6 has a whole network of them.
fn address(asked: &Asked) -> String {
    match network(asked.client) {
        IpAddr::V6(network) => format!("{network}/64"),
        v4 => v4.to_string(),
    }
}

/// A login as it is counted: one for all its spellings.
fn counted(login: &str) -> String {
    let end = login.char_indices().nth(LONGEST_LOGIN).map_or(login.len(), |(at, _)| at);
    folded(login.get(..end).unwrap_or_default())
}

/// The last checks, the ticket and the answer, in one transaction.
fn admit(
    house: &House,
    asked: &Asked,
    kind: &str,
    proven: Proven,
    event: Option<i64>,
    answer: Answer,
) -> Result<Value, Stop> {
    let gate = Gate::enter(house, asked)?;
    // Demo mode that ended while somebody signed in without a password is no way in.
    if proven.user.is_none() && !gate.is_demo {
        return Err(catalogue::wrong_password().into());
    }
    licence(&gate, kind, &proven.login)?;
    house.write(|tx| {
        let user = proven_user(tx, &gate, &proven)?;
        if !gate.is_demo {
            gate.person(tx, &user)?;
            sign_in_attempts::clear(tx, &counted(&proven.login))?;
            if proven.was_counted {
                sign_in_attempts::take_back(tx, &address(asked))?;
            }
        }
        let (ticket, hash) = new_ticket()?;
        let password_version = if gate.is_demo { DEMO_VERSION } else { user.password_version };
        let new = tickets::NewTicket {
            hash,
            user_id: user.id,
            password_version,
            address: asked.client.to_string(),
            kind: kind.to_owned(),
            now: asked.now,
        };
        tickets::create(tx, &new)?;
        answer(tx, &Admitted { asked, user, ticket, is_demo: gate.is_demo, gate: &gate, event })
    })
}

fn proven_user(tx: &mut Tx, gate: &Gate<'_>, proven: &Proven) -> Result<users::User, Stop> {
    if gate.is_demo {
        return match users::by_login(tx, &proven.login)? {
            Some(user) => Ok(user),
            None => first_administrator(tx),
        };
    }
    // The password may have been changed while its hash was computed.
    let user = users::by_login(tx, &proven.login)?;
    let same = user.filter(|user| proven.user == Some((user.id, user.password_version)));
    same.ok_or_else(|| catalogue::wrong_password().into())
}

/// The answer at the agent's endpoint.
fn signed_in(tx: &mut Tx, admitted: &Admitted<'_>) -> Result<SignedIn, Stop> {
    let settings = &admitted.asked.settings;
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
    let mut closed: BTreeMap<String, String> = rights::paths(tx, language)?;
    let components_path = rights::path(tx, AI_COMPONENTS, language)?.unwrap_or_default();
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

/// A person with their options.
pub(crate) fn person(tx: &mut Tx, user: &users::User) -> Result<Person, Stop> {
    let options = users::options(tx, user.id)?;
    Ok(Person { id: user.id, login: user.login.clone(), name: user.name.clone(), options })
}

/// A person's main group.
pub(crate) fn main_group(tx: &mut Tx, user: &users::User, language: &str) -> Result<Option<Group>, Stop> {
    let Some(id) = user.main_group else { return Ok(None) };
    let Some(group) = users::group(tx, id, language)? else { return Ok(None) };
    let options = users::group_options(tx, id)?;
    Ok(Some(Group { id: group.id, skey: group.skey, name: group.name, options }))
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

/// The notes a person's agents see.
pub(crate) fn memory(tx: &mut Tx, user: i64, groups: &[i64]) -> Result<MemoryCount, Stop> {
    Ok(MemoryCount { notes: notes::count(tx, user, groups)?, critical: notes::critical(tx, user, groups)? })
}

/// A person's open tasks, if the scheduler is theirs to see.
pub(crate) fn open_tasks(
    tx: &mut Tx,
    user: i64,
    is_demo: bool,
    language: &str,
) -> Result<Option<Tasks>, Stop> {
    if !is_demo && !rights::is_granted(tx, user, SCHEDULER)? {
        return Ok(None);
    }
    let wire_count = |count: tasks::StateCount| wire::StateCount {
        state: count.state,
        name: count.name,
        count: count.count,
    };
    let waiting = tasks::waiting(tx, user, language)?.into_iter().map(wire_count).collect();
    let given = tasks::given(tx, user, language)?.into_iter().map(wire_count).collect();
    Ok(Some(Tasks { waiting, given }))
}
