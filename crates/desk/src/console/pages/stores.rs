//! The list of stores: open, add, remove, switch.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use home::{ShopIni, StoreEntry, same_folder};
use minijinja::{Value, context};
use serde::Deserialize;

use crate::console::state::{Console, go_to};
use crate::messages::Message;
use crate::program::{NewStore, OpenStore};

#[derive(Deserialize)]
pub(crate) struct AddForm {
    #[serde(default)]
    url: String,
    #[serde(default)]
    folder: String,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
pub(crate) struct FolderForm {
    folder: PathBuf,
}

pub(crate) async fn show(State(console): State<Arc<Console>>, headers: HeaderMap) -> Response {
    list(&console, &headers, None, &NewStore::default())
}

pub(crate) async fn add(
    State(console): State<Arc<Console>>,
    headers: HeaderMap,
    Form(sent): Form<AddForm>,
) -> Response {
    let new = NewStore { url: sent.url, folder: sent.folder, name: sent.name };
    match console.program.add(&new) {
        Ok(entry) => open_entry(&console, &headers, &entry).await,
        Err(message) => list(&console, &headers, Some(&message), &new),
    }
}

pub(crate) async fn open(
    State(console): State<Arc<Console>>,
    headers: HeaderMap,
    Form(sent): Form<FolderForm>,
) -> Response {
    let entry = console.program.stores().ok().and_then(|list| list.find(&sent.folder).cloned());
    match entry {
        Some(entry) => open_entry(&console, &headers, &entry).await,
        None => {
            list(&console, &headers, Some(&Message::new("trouble.not_listed", &[])), &NewStore::default())
        }
    }
}

/// Opens a store; where its password is saved, the person is signed in at once.
async fn open_entry(console: &Console, headers: &HeaderMap, entry: &StoreEntry) -> Response {
    let is_open = console.program.store().is_some_and(|open| same_folder(&open.folder, &entry.folder));
    if is_open && console.program.store().is_some_and(|open| open.ini.is_ok()) {
        console.program.reopen().await;
    } else {
        if let Err(error) = console.program.open(entry) {
            let message = Message::new("trouble.home", &[("what", &error.to_string())]);
            return list(console, headers, Some(&message), &NewStore::default());
        }
        console.program.recall().await;
        console.program.resume().await;
    }
    go_to("/")
}

pub(crate) async fn remove(
    State(console): State<Arc<Console>>,
    headers: HeaderMap,
    Form(sent): Form<FolderForm>,
) -> Response {
    match console.program.remove(&sent.folder).await {
        Ok(None) => go_to("/stores"),
        Ok(said) => list(&console, &headers, said.as_ref(), &NewStore::default()),
        Err(error) => {
            let message = Message::new("trouble.home", &[("what", &error.to_string())]);
            list(&console, &headers, Some(&message), &NewStore::default())
        }
    }
}

fn list(console: &Console, headers: &HeaderMap, trouble: Option<&Message>, typed: &NewStore) -> Response {
    let language = console.language(headers);
    let open = console.program.store();
    let (stores, damaged) = match console.program.stores() {
        Ok(list) => (list.stores, None),
        Err(error) => (Vec::new(), Some(Message::new("trouble.home", &[("what", &error.to_string())]))),
    };
    let values = context! {
        page => "stores",
        stores => stores.iter().map(|entry| row(entry, open.as_ref())).collect::<Vec<_>>(),
        trouble => trouble.or(damaged.as_ref()).map(|message| message.text(&console.locales, language)),
        typed => context! { url => &typed.url, folder => &typed.folder, name => &typed.name },
    };
    console.page("stores.html", language, StatusCode::OK, values)
}

fn row(entry: &StoreEntry, open: Option<&OpenStore>) -> Value {
    let ini = ShopIni::read(&entry.folder);
    context! {
        name => entry.name.clone(),
        folder => entry.folder.to_string_lossy(),
        url => ini.as_ref().ok().map(|ini| ini.url.clone()),
        problem => ini.err().map(|error| error.to_string()),
        open => open.is_some_and(|open| same_folder(&open.folder, &entry.folder)),
    }
}
