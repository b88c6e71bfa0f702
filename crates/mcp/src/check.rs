//! `shopwright check`: walks sign-in for real, and says what is wrong and who mends it.

use std::path::Path;

use home::{Home, Program, ShopIni};
use tools::Right;
use wire::text::quoted;
use wire::{Mender, Origin, Refusal, SignedIn, Stop};

use crate::client::address::Address;
use crate::server::registry;
use crate::server::state::ServerState;
use crate::session::licence_token;
use crate::session::sign_in::{self, Source};
use crate::session::store_choice::{self, StoreChoice};
use crate::{Options, StorePin};

/// One step of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was looked at.
    pub name: String,
    /// Whether it is well.
    pub ok: bool,
    /// What was found, or what is wrong and who mends it.
    pub said: String,
}

/// Walks from the list of stores to the rights. The way ends at the first step that the next ones need.
pub async fn check(home: &Home, store: Option<&Path>) -> Vec<Step> {
    let pin = store.map(|folder| StorePin::Folder(folder.to_owned()));
    let state = ServerState::new(Options::from_env(home.clone(), pin), registry::entries());
    let mut steps = Steps::default();
    walk(&state, &mut steps).await;
    steps.0
}

/// The steps walked so far.
#[derive(Default)]
struct Steps(Vec<Step>);

impl Steps {
    fn well(&mut self, name: &str, said: impl Into<String>) {
        self.0.push(Step { name: name.to_owned(), ok: true, said: said.into() });
    }

    fn wrong(&mut self, name: &str, said: impl Into<String>) {
        self.0.push(Step { name: name.to_owned(), ok: false, said: said.into() });
    }

    /// The value, or a step that says why there is none.
    fn take<T>(&mut self, name: &str, found: Result<T, Stop>) -> Option<T> {
        match found {
            Ok(value) => Some(value),
            Err(Stop::Refused(refusal)) => {
                self.wrong(name, in_words(&refusal));
                None
            }
            Err(Stop::Broke(fault)) => {
                self.wrong(name, fault.chain());
                None
            }
        }
    }
}

async fn walk(state: &ServerState, steps: &mut Steps) -> Option<()> {
    let home = &state.options.home;
    let list = steps.take("list of stores", store_choice::stores(home))?;
    let stores = list.stores.len();
    steps.well("list of stores", format!("{stores} in `{}`", home.path().display()));
    let store = steps.take("store", store_choice::find(&list, state.options.store.as_ref()))?;
    steps.well("store", format!("{}, `{}`", store.name, store.folder.display()));
    let (connection, address) = steps.take("Shop.ini", connection(&store))?;
    let licensed = if connection.licensed { "licensed" } else { "not licensed" };
    steps.well("Shop.ini", format!("{}, login `{}`, {licensed}", connection.url, connection.login));
    program(home, &store, steps).await;
    let source = sign_in::source(home, &store, &connection).await.map_err(Stop::from);
    let source = steps.take("password", source);
    if let Some(source) = &source {
        let from = if source.from == crate::session::open_session::PasswordSource::Program {
            "the program"
        } else {
            "the saved settings"
        };
        steps.well("password", format!("of `{}`, from {from}", source.pair.login));
        token(&store, &connection, source, steps);
    }
    engine(state, &address, steps).await?;
    let source = source?;
    let signed_in =
        sign_in::sign_in(state, &address, &store, &connection, &source.pair, &Origin::default()).await;
    let signed_in = steps.take("sign-in", signed_in)?;
    if signed_in.demo {
        steps.wrong("sign-in", "demo mode: everyone who signs in is an administrator. The server's owner sets an administrator's password and removes `admin.here`.");
    } else {
        let (name, login) = (quoted(&signed_in.user.name, 100), quoted(&signed_in.user.login, 100));
        steps.well("sign-in", format!("{name} (`{login}`)"));
    }
    rights(&signed_in, steps);
    Some(())
}

/// The connection, and its address where that can be used.
fn connection(store: &StoreChoice) -> Result<(ShopIni, Address), Stop> {
    let connection = store.connection()?;
    let address = sign_in::address(store, &connection)?;
    Ok((connection, address))
}

/// The program is only one of two sources, so its absence is no failure.
async fn program(home: &Home, store: &StoreChoice, steps: &mut Steps) {
    let said = match home::program_state(home, &store.folder).await {
        Program::Running { signed_in: true } => "runs on this store".to_owned(),
        Program::Running { signed_in: false } => "runs on this store, signed out".to_owned(),
        Program::Other { store } => format!("runs on another store, `{}`", store.display()),
        Program::Silent => "holds this store and does not answer".to_owned(),
        Program::Closed => "is not running".to_owned(),
    };
    steps.well("program", said);
}

fn token(store: &StoreChoice, connection: &ShopIni, source: &Source, steps: &mut Steps) {
    if !connection.licensed {
        return steps.well("licence", "none is needed");
    }
    let token = licence_token::token(&store.folder, &source.pair.login).map_err(Stop::from);
    if steps.take("licence", token).is_some() {
        steps.well("licence", "today's token is there");
    }
}

async fn engine(state: &ServerState, address: &Address, steps: &mut Steps) -> Option<()> {
    let mut build = None;
    for (path, wrong) in [
        ("core/health", "is no engine of this kind, or something else answers in front of it"),
        (
            "core/ready",
            "is up but not ready: its database cannot be reached or is being migrated; its log says more",
        ),
    ] {
        match state.client.look(address, path).await {
            Ok((200, page)) => match engines_page(&page) {
                Some(page) => build = build_of(&page).or(build),
                // A storefront, or what protects it, may answer every address with a page.
                None => {
                    steps.wrong("engine", in_words(&wire::catalogue::no_endpoint(&address.shown(), "")));
                    return None;
                }
            },
            Ok((status, _)) => {
                let said = format!(
                    "what answers at {} {wrong} (HTTP {status}). Mended by: {}.",
                    address.shown(),
                    who(Mender::ServerAdmin)
                );
                steps.wrong("engine", said);
                return None;
            }
            Err(trouble) => {
                steps.wrong("engine", in_words(&trouble.refusal));
                return None;
            }
        }
    }
    let build = build.map(|build| format!("build {build} ")).unwrap_or_default();
    steps.well("engine", format!("{build}answers at {} and is ready", address.shown()));
    Some(())
}

/// A page of health, if it is an engine's.
fn engines_page(page: &[u8]) -> Option<serde_json::Value> {
    let page: serde_json::Value = serde_json::from_slice(page).ok()?;
    (page.get("ok") == Some(&true.into())).then_some(page)
}

/// The build an engine tells on its page of health.
fn build_of(page: &serde_json::Value) -> Option<String> {
    page.get("build")?.as_str().map(|build| quoted(build, 40))
}

fn rights(signed_in: &SignedIn, steps: &mut Steps) {
    let may = |command: &str| signed_in.rights.granted.iter().any(|granted| granted == command);
    let (mut granted, mut closed) = (Vec::new(), Vec::new());
    for entry in registry::entries() {
        match entry.spec.right {
            Right::Command(command) if !may(command) => closed.push(entry.spec.name),
            _ => granted.push(entry.spec.name),
        }
    }
    let mut said = format!("may call {}", granted.join(", "));
    if !closed.is_empty() {
        said.push_str(&format!("; not granted: {}", closed.join(", ")));
    }
    steps.well("rights", said);
    for not_now in &signed_in.rights.not_now {
        let refusal = wire::catalogue::received(&not_now.refusal, &quoted(&not_now.error, 200));
        steps.wrong(
            "rights",
            format!("{} is refused now: {}", quoted(&not_now.command, 60), in_words(&refusal)),
        );
    }
}

/// A refusal and who mends it.
fn in_words(refusal: &Refusal) -> String {
    match refusal.row() {
        Some(row) => format!("{} Mended by: {}.", refusal.text().replace('\n', " "), who(row.mender)),
        None => refusal.text(),
    }
}

fn who(mender: Mender) -> &'static str {
    match mender {
        Mender::Agent => "the agent, by another call",
        Mender::Person => "the person at this computer",
        Mender::Owner => "the store's owner",
        Mender::ServerAdmin => "whoever keeps the server",
        Mender::Developer => "the developers",
        Mender::Time => "time: it passes by itself",
    }
}
