//! Signing in at either endpoint: the password, and the ticket with the answer in one transaction.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use db::{Tx, sign_in_attempts, tickets, users};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use shop::address::network;
use shop::login::folded;
use wire::{SignIn, Stop, catalogue};
use zeroize::Zeroizing;

use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::gate::passwords::PasswordCheck;
use crate::gate::tickets::{AGENT, new_ticket};
use crate::gate::{DEMO_VERSION, Gate, first_administrator};
use crate::request_context::RequestContext;

/// A longer login is nobody's, and is cut where it is counted.
const LONGEST_LOGIN: usize = 200;

/// Somebody who was let in, in the transaction that lets them in.
pub(crate) struct Admitted<'a> {
    pub(crate) context: &'a RequestContext,
    pub(crate) user: users::User,
    pub(crate) ticket: String,
    pub(crate) is_demo: bool,
    /// The gate they came through.
    pub(crate) gate: &'a Gate<'a>,
    /// Number of the event that launched the session.
    pub(crate) event: Option<i64>,
}

/// How an endpoint makes its answer.
type Answer = fn(&mut Tx, &Admitted<'_>) -> Result<Value, Stop>;

/// Lets somebody in, or not.
pub(crate) async fn sign_in(
    state: Arc<AppState>,
    mut context: RequestContext,
    kind: &'static str,
    answer: Answer,
) -> Result<Value, Stop> {
    let params = parse::<SignIn>(std::mem::take(&mut context.request.params));
    let context = Arc::new(context);
    let SignIn { login, password, event } = match params {
        // Nobody has a login with a zero byte, which not every database takes; the empty login is nobody's too.
        Ok(params) if params.login.contains('\0') => SignIn { login: String::new(), ..params },
        Ok(params) => params,
        Err(stop) => {
            blocking(move || Ok(Gate::enter(&state, &context).map(|_| ())?)).await?;
            return Err(stop);
        }
    };
    let proven = prove(&state, &context, kind, login, Zeroizing::new(password)).await?;
    blocking(move || admit(&state, &context, kind, proven, event, answer)).await
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
    state: &Arc<AppState>,
    context: &Arc<RequestContext>,
    kind: &'static str,
    login: String,
    password: Zeroizing<String>,
) -> Result<Proven, Stop> {
    let known = {
        let (state, context, login) = (Arc::clone(state), Arc::clone(context), login.clone());
        blocking(move || known(&state, &context, kind, &login)).await?
    };
    let Known::Somebody { user, has_to_wait } = known else {
        return Ok(Proven { login, user: None, was_counted: false });
    };
    let (check, was_counted) = turn(state, context, &login, has_to_wait).await?;
    let (hash, user) = user.map(|(hash, id, version)| (hash, (id, version))).unzip();
    if check.fits(password, hash).await? {
        return Ok(Proven { login, user, was_counted });
    }
    if !was_counted {
        // Before the place is given up, so that the next one sees it; and with the time of now, since of
        // many tries at once the later ones came long before they were checked.
        let (state, context) = (Arc::clone(state), Arc::clone(context));
        blocking(move || {
            let now = state.clock.now();
            Ok(state
                .db
                .write(|tx| sign_in_attempts::record(tx, &counted(&login), &address(&context), now))?)
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

fn known(state: &AppState, context: &RequestContext, kind: &str, login: &str) -> Result<Known, Stop> {
    let gate = Gate::enter(state, context)?;
    if gate.is_demo {
        return Ok(Known::Demo);
    }
    licence(&gate, kind, login)?;
    state.db.read(|tx| {
        let user = users::by_login(tx, login)?;
        let has_to_wait =
            sign_in_attempts::delay_until(tx, &counted(login), &address(context), context.now)?.is_some();
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
    state: &Arc<AppState>,
    context: &Arc<RequestContext>,
    login: &str,
    mut has_to_wait: bool,
) -> Result<(PasswordCheck, bool), Stop> {
    if !has_to_wait {
        let check = state.passwords.turn().await?;
        let (state, context, login) = (Arc::clone(state), Arc::clone(context), login.to_owned());
        has_to_wait = blocking(move || {
            let now = state.clock.now();
            Ok(state
                .db
                .read(|tx| sign_in_attempts::delay_until(tx, &counted(&login), &address(&context), now))?
                .is_some())
        })
        .await?;
        if !has_to_wait {
            return Ok((check, false));
        }
    }
    wait_for_turn(state, context, login).await?;
    Ok((state.passwords.turn().await?, true))
}

/// Waits until a login and an address, of which wrong passwords came, have their next turn.
async fn wait_for_turn(
    state: &Arc<AppState>,
    context: &Arc<RequestContext>,
    login: &str,
) -> Result<(), Stop> {
    let turn = {
        let (state, context, login) = (Arc::clone(state), Arc::clone(context), login.to_owned());
        blocking(move || {
            let now = state.clock.now();
            let turn = state
                .db
                .write(|tx| sign_in_attempts::take_turn(tx, &counted(&login), &address(&context), now))?;
            Ok(turn.map(|turn| turn.duration_since(now)))
        })
        .await?
    };
    let Some(wait) = turn else { return Err(catalogue::too_many_attempts().into()) };
    tokio::time::sleep(Duration::try_from(wait).unwrap_or_default()).await;
    Ok(())
}

/// The address as it is counted: who has one address of IPv6 has a whole network of them.
fn address(context: &RequestContext) -> String {
    match network(context.client) {
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
    state: &AppState,
    context: &RequestContext,
    kind: &str,
    proven: Proven,
    event: Option<i64>,
    answer: Answer,
) -> Result<Value, Stop> {
    let gate = Gate::enter(state, context)?;
    // Demo mode that ended while somebody signed in without a password is no way in.
    if proven.user.is_none() && !gate.is_demo {
        return Err(catalogue::wrong_password().into());
    }
    licence(&gate, kind, &proven.login)?;
    state.write(|tx| {
        let user = proven_user(tx, &gate, &proven)?;
        if !gate.is_demo {
            gate.person(tx, &user)?;
            sign_in_attempts::clear(tx, &counted(&proven.login))?;
            if proven.was_counted {
                sign_in_attempts::take_back(tx, &address(context))?;
            }
        }
        let (ticket, hash) = new_ticket()?;
        let password_version = if gate.is_demo { DEMO_VERSION } else { user.password_version };
        let new = tickets::NewTicket {
            hash,
            user_id: user.id,
            password_version,
            address: context.client.to_string(),
            kind: kind.to_owned(),
            now: context.now,
        };
        tickets::create(tx, &new)?;
        answer(tx, &Admitted { context, user, ticket, is_demo: gate.is_demo, gate: &gate, event })
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
