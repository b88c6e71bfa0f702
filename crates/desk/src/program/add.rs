//! Adding a store: an address and a folder become a line of the list.

use std::path::{Component, Path, PathBuf};

use home::{IniError, ShopIni, StoreEntry, same_folder};
use reqwest::Url;

use super::Program;
use crate::engine::is_loopback;
use crate::messages::Message;

/// What a person typed.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewStore {
    /// The store's address; empty where the folder has a connection already.
    pub(crate) url: String,
    /// The store folder; empty takes one named after the store.
    pub(crate) folder: String,
    /// The name; empty takes the host's.
    pub(crate) name: String,
}

impl Program {
    /// Makes the folder and its connection, and puts the store into the list.
    pub(crate) fn add(&self, new: &NewStore) -> Result<StoreEntry, Message> {
        let url = match new.url.trim() {
            "" => None,
            text => Some(address(text).ok_or_else(|| Message::new("trouble.bad_address", &[]))?),
        };
        let folder = self.folder(new.folder.trim(), url.as_ref())?;
        let ini = connection(&folder, url.as_ref(), new.name.trim())?;
        let said = |error: &dyn std::fmt::Display| {
            let folder = folder.to_string_lossy();
            Message::new("trouble.folder", &[("folder", &folder), ("what", &error.to_string())])
        };
        std::fs::create_dir_all(&folder).map_err(|error| said(&error))?;
        ini.write(&folder).map_err(|error| said(&error))?;
        let entry = StoreEntry { name: ini.name, folder: folder.clone() };
        let mut list = self.home.stores().map_err(|error| said(&error))?;
        list.put(entry.clone());
        self.home.save_stores(&list).map_err(|error| said(&error))?;
        Ok(entry)
    }

    fn folder(&self, text: &str, url: Option<&Url>) -> Result<PathBuf, Message> {
        let folder = match (text, url) {
            ("", None) => return Err(Message::new("trouble.nothing_named", &[])),
            ("", Some(url)) => user_home().map(|home| home.join("shopwright").join(host(url))),
            (text, _) => match text.strip_prefix("~/") {
                Some(rest) => user_home().map(|home| home.join(rest)),
                None => Some(PathBuf::from(text)),
            },
        };
        let folder = folder
            .filter(|folder| is_plain(folder))
            .ok_or_else(|| Message::new("trouble.bad_folder", &[]))?;
        if same_folder(&folder, self.home.path()) {
            return Err(Message::new("trouble.folder_is_home", &[]));
        }
        Ok(folder)
    }
}

/// The connection of the folder: the one that is there, or a new one to this address.
fn connection(folder: &Path, url: Option<&Url>, name: &str) -> Result<ShopIni, Message> {
    let there = ShopIni::read(folder);
    let mut ini = match (there, url) {
        (Ok(ini), Some(url)) if !same_address(&ini.url, url) => {
            return Err(Message::new("trouble.folder_taken", &[("url", &ini.url)]));
        }
        (Ok(ini), _) => ini,
        (Err(_), Some(url)) => ShopIni::new(&host(url), url.as_str().trim_end_matches('/')),
        (Err(IniError::Io(error)), None) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Message::new("trouble.nothing_named", &[]));
        }
        (Err(error), None) => {
            return Err(Message::new("trouble.no_shop_ini", &[("what", &error.to_string())]));
        }
    };
    if !name.is_empty() {
        name.clone_into(&mut ini.name);
    } else if ini.name.is_empty() {
        ini.name = address(&ini.url).map(|url| host(&url)).unwrap_or_default();
    }
    Ok(ini)
}

/// An address as people write it: without a scheme it is https, on this computer http.
fn address(text: &str) -> Option<Url> {
    let parse = |text: &str| {
        let url = Url::parse(text).ok()?;
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        // A login or a query in the address is a mistake, and would be kept readable.
        let is_bare = url.username().is_empty() && url.password().is_none();
        (is_web && is_bare && url.query().is_none() && url.fragment().is_none()).then_some(url)
    };
    if text.contains("://") {
        return parse(text);
    }
    let local = parse(&format!("http://{text}")).filter(is_loopback);
    local.or_else(|| parse(&format!("https://{text}")))
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).replace(':', "_");
    match url.port() {
        Some(port) => format!("{host}-{port}"),
        None => host,
    }
}

fn same_address(one: &str, other: &Url) -> bool {
    address(one).is_some_and(|one| one.as_str().trim_end_matches('/') == other.as_str().trim_end_matches('/'))
}

/// An absolute path below some folder, without steps back.
fn is_plain(folder: &Path) -> bool {
    folder.is_absolute()
        && folder.parent().is_some()
        && !folder.components().any(|part| part == Component::ParentDir)
        && !folder.to_string_lossy().chars().any(char::is_control)
}

fn user_home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

#[cfg(test)]
mod tests;
