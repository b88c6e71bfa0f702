//! Signing in to the engine, with the pair from wherever it comes.

use std::path::Path;
use std::time::Duration;

use home::passwords::{self, Account};
use home::{Credentials, Home, Pair, ShopIni};
use tokio::time::Instant;
use wire::{Origin, Refusal, Request, SignIn, SignedIn, Stop, catalogue};
use zeroize::Zeroizing;

use crate::client::address::Address;
use crate::client::messages::{self, Attempt, CallKind};
use crate::client::request::request;
use crate::server::state::ServerState;
use crate::session::licence_token;
use crate::session::open_session::{PasswordSource, Session};
use crate::session::store_choice::StoreChoice;

/// How long the system's keyring may take; it may be asking the person to unlock it.
const KEYRING: Duration = Duration::from_secs(10);

/// A login-password pair and where it came from.
pub(crate) struct Source {
    /// The pair.
    pub(crate) pair: Credentials,
    /// Where it came from.
    pub(crate) from: PasswordSource,
}

/// The pair for this store: from the running program, else from the saved settings.
pub(crate) async fn source(
    home: &Home,
    store: &StoreChoice,
    connection: &ShopIni,
) -> Result<Source, Refusal> {
    let seen = match home::ask_pair(home, &store.folder, &connection.url).await {
        Pair::Given(pair) => return Ok(Source { pair, from: PasswordSource::Program }),
        Pair::SignedOut => "the program runs on this store, but is signed out".to_owned(),
        Pair::OtherAddress => {
            format!(
                "the program is signed in at another address than {}",
                wire::text::quoted(&connection.url, 300)
            )
        }
        Pair::Other { store } => format!("the program runs on another store (`{}`)", store.display()),
        Pair::Silent => "the program holds this store, but did not answer within a second".to_owned(),
        Pair::Closed => "the program is not running".to_owned(),
    };
    match saved(home, &store.folder, &connection.login, &connection.url).await {
        Ok(Some(pair)) => Ok(Source { pair, from: PasswordSource::Settings }),
        Ok(None) => Err(catalogue::no_settings(&format!("{seen}, and no password is saved for this store"))),
        Err(why) => {
            Err(catalogue::no_settings(&format!("{seen}, and the saved password cannot be used: {why}")))
        }
    }
}

/// The saved pair. A keyring may wait for the person, so it is asked on a thread of its own.
pub(crate) async fn saved(
    home: &Home,
    store: &Path,
    login: &str,
    url: &str,
) -> Result<Option<Credentials>, String> {
    if login.is_empty() {
        return Ok(None);
    }
    let (home, account, login) = (home.clone(), Account::new(store, login, url), login.to_owned());
    let asked = tokio::task::spawn_blocking(move || {
        let found = passwords::saved(&home, &account).map_err(|error| error.to_string())?;
        Ok(found.map(|password| Credentials { login, password }))
    });
    match tokio::time::timeout(KEYRING, asked).await {
        Ok(Ok(found)) => found,
        Ok(Err(_)) => Err("asking for them failed".to_owned()),
        Err(_) => Err("the system's keyring does not answer".to_owned()),
    }
}

/// Signs in. In demo mode there is no password, and no licence is asked for.
pub(crate) async fn sign_in(
    state: &ServerState,
    address: &Address,
    store: &StoreChoice,
    connection: &ShopIni,
    pair: &Credentials,
    origin: &Origin,
) -> Result<SignedIn, Stop> {
    let mut request = request(Request::SIGN_IN, "session_connect", origin);
    match licence_token::token(&store.folder, &pair.login) {
        Ok(token) => request.licence = Some(token),
        Err(refusal) if connection.licensed && !pair.password.is_empty() => return Err(refusal.into()),
        Err(_) => {}
    }
    let params =
        SignIn { login: pair.login.clone(), password: pair.password.to_string(), event: origin.event };
    if let serde_json::Value::Object(params) = serde_json::to_value(params)? {
        request.params = params;
    }
    let mut asked = Attempt { kind: CallKind::SignsIn, sent: false };
    let until = Instant::now() + state.options.timeout;
    let envelope = match state.client.call(address, &request, &mut asked, until).await {
        Ok(envelope) => envelope,
        Err(trouble) => return Err(trouble.refusal.into()),
    };
    let answer = messages::data(envelope)?;
    Ok(serde_json::from_value(answer).map_err(|error| {
        let what = format!("the sign-in's answer is not of its form ({error}).");
        catalogue::unexpected_answer(&wire::text::quoted(&what, 300))
    })?)
}

/// Where the store's engine answers.
pub(crate) fn address(store: &StoreChoice, connection: &ShopIni) -> Result<Address, Refusal> {
    Address::parse(&connection.url).map_err(|why| store.no_shop_ini(&why))
}

/// Replaces the ticket `stale` of an open session, once, with the pair from where it came before.
///
/// Everything else of the session stays: rights, read notes, accepted rules.
pub(crate) async fn renew(state: &ServerState, session: &Session, stale: &str) -> Result<(), Stop> {
    let _one_at_a_time = session.renewing.lock().await;
    if session.ticket().as_str() != stale {
        return Ok(());
    }
    let home = &state.options.home;
    let pair = match session.from {
        PasswordSource::Program => {
            match home::ask_pair(home, &session.store.folder, &session.address.url()).await {
                Pair::Given(pair) => Some(pair),
                _ => None,
            }
        }
        PasswordSource::Settings => {
            saved(home, &session.store.folder, &session.login, &session.address.url()).await.unwrap_or(None)
        }
    };
    // Another login would be another person's session.
    let Some(pair) = pair.filter(|pair| pair.login == session.login) else {
        return Err(catalogue::ticket_unknown().into());
    };
    let connection = session.store.connection()?;
    // Where the session is, even if `Shop.ini` names another address by now: a ticket of that one is of no use.
    let address = &session.address;
    let signed_in = sign_in(state, address, &session.store, &connection, &pair, &session.origin).await?;
    tracing::info!(login = session.login, "Signed in again: the ticket had run out");
    session.renew(Zeroizing::new(signed_in.ticket));
    Ok(())
}
