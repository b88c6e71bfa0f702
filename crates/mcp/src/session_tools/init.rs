//! `session_init`: what there is to sign in to, without going anywhere.

use home::{Home, Program, ShopIni};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tools::{Presented, Right, tool};
use wire::Stop;

use crate::server::state::ServerState;
use crate::session::sign_in;
use crate::session::store_choice::{self, StoreChoice};

tool!("session_init", right: Right::Free, effect: Reads, refuses: []);

/// Looks around before signing in: which store, is the program running. Changes nothing; call it first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {}

/// What there is to sign in to.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Stores in the program's list.
    pub stores: Vec<Store>,
    /// Folder of the store a session would open, or of a pin that is wrong; empty where there is none.
    pub store: String,
    /// Whether this server is pinned to it.
    pub pinned: bool,
    /// The program on this computer.
    pub program: ProgramState,
    /// Whether there is a store to sign in to.
    pub connect: bool,
}

/// A store in the program's list.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Store {
    /// Name.
    pub name: String,
    /// The store folder.
    pub folder: String,
}

/// The program on this computer.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ProgramState {
    /// `running` (on this store), `other`, `silent` or `closed`.
    pub state: String,
    /// The other store's folder, where the state is `other`.
    pub store: String,
}

/// Answers whatever the state of this computer is.
pub(crate) async fn run(state: &ServerState) -> Result<Presented, Stop> {
    let home = &state.options.home;
    let list = store_choice::stores(home);
    let (stores, found) = match list {
        Ok(list) => {
            let found = store_choice::find(&list, state.options.store.as_ref());
            (list.stores, found)
        }
        Err(stop) => (Vec::new(), Err(stop)),
    };
    let folder = match (&found, &state.options.store) {
        (Ok(store), _) => store.folder.clone(),
        (Err(_), Some(crate::StorePin::Folder(folder))) => folder.clone(),
        (Err(_), _) => std::path::PathBuf::new(),
    };
    let program = home::program_state(home, &folder).await;
    let text = match &found {
        Ok(store) => what_follows(home, store, &program).await,
        Err(Stop::Refused(refusal)) => Some(format!("`session_connect` would refuse: {}", refusal.text())),
        Err(Stop::Broke(fault)) => Some(format!("`session_connect` would fail: {}.", fault.chain())),
    };
    let answer = Answer {
        stores: stores
            .into_iter()
            .map(|store| Store { name: store.name, folder: store.folder.display().to_string() })
            .collect(),
        store: folder.display().to_string(),
        pinned: state.options.store.is_some(),
        program: program_state(&program),
        connect: found.is_ok(),
    };
    Ok(Presented { data: Some(serde_json::to_value(answer)?), text, ..Presented::default() })
}

fn program_state(program: &Program) -> ProgramState {
    let (state, store) = match program {
        Program::Running { .. } => ("running", String::new()),
        Program::Other { store } => ("other", store.display().to_string()),
        Program::Silent => ("silent", String::new()),
        Program::Closed => ("closed", String::new()),
    };
    ProgramState { state: state.to_owned(), store }
}

/// A sentence where something other than the usual sign-in follows.
async fn what_follows(home: &Home, store: &StoreChoice, program: &Program) -> Option<String> {
    let connection = match ShopIni::read(&store.folder) {
        Ok(connection) => connection,
        Err(error) => {
            let refusal = store.no_shop_ini(&error.to_string());
            return Some(format!("`session_connect` would refuse: {}", refusal.text()));
        }
    };
    let seen = match program {
        Program::Running { signed_in: true } => return None,
        Program::Running { signed_in: false } => {
            "The program runs on this store, but is signed out".to_owned()
        }
        Program::Other { store } => format!("The program runs on another store (`{}`)", store.display()),
        Program::Silent => "The program holds this store, but does not answer".to_owned(),
        Program::Closed => "The program is not running".to_owned(),
    };
    Some(match sign_in::saved(home, &store.folder, &connection.login, &connection.url).await {
        Ok(Some(pair)) => {
            format!("{seen}: `session_connect` will sign in as `{}` with the saved password.", pair.login)
        }
        Err(why) => format!(
            "{seen}, and the saved password cannot be used: {why}. Before `session_connect` the person mends that, or opens the store `{}` in the program (`shopwright desk`) and signs in there.",
            store.name
        ),
        Ok(None) => format!(
            "{seen}, and no password is saved: before `session_connect` the person must open the store `{}` in the program (`shopwright desk`) and sign in there.",
            store.name
        ),
    })
}
