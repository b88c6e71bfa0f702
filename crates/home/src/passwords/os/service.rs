//! The Secret Service: looking up, saving and removing one item.

use std::path::Path;

use zeroize::Zeroizing;

use super::bus::{Address, Body, Bus, Method};
use super::message::Writer;
use super::{KeyringError, PERSON};

const NAME: &str = "org.freedesktop.secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
const ITEM: &str = "org.freedesktop.Secret.Item";
const PROMPT: &str = "org.freedesktop.Secret.Prompt";
const ROOT: &str = "/org/freedesktop/secrets";
/// The path that stands for no object.
const NOTHING: &str = "/";

/// An open session with the keyring.
pub(super) struct Service {
    bus: Bus,
    session: String,
}

impl Service {
    /// Opens a session. The bus is this user's own, so the secret travels plain on it.
    pub(super) fn open(address: Option<Address>) -> Result<Self, KeyringError> {
        let mut bus = Bus::open(&address.ok_or(KeyringError::None)?)?;
        let mut body = Writer::default();
        body.text("plain").signature("s").text("");
        let answer = bus.call(method(ROOT, SERVICE, "OpenSession"), "sv", &body)?;
        let mut reader = answer.reader();
        let session = (|| {
            reader.signature()?;
            reader.text()?;
            reader.text().map(str::to_owned)
        })();
        Ok(Self { bus, session: session.ok_or_else(unreadable)? })
    }

    pub(super) fn saved(
        &mut self,
        store: &Path,
        login: &str,
    ) -> Result<Option<Zeroizing<String>>, KeyringError> {
        let Some(item) = self.items(store, login)?.into_iter().next() else {
            return Ok(None);
        };
        let mut body = Writer::default();
        body.text(&self.session);
        let answer = self.bus.call(method(&item, ITEM, "GetSecret"), "o", &body)?;
        let mut reader = answer.reader();
        let secret = (|| {
            reader.align(8)?;
            reader.text()?;
            reader.bytes()?;
            std::str::from_utf8(reader.bytes()?).ok()
        })();
        secret.map(|secret| Some(Zeroizing::new(secret.to_owned()))).ok_or_else(unreadable)
    }

    pub(super) fn save(&mut self, store: &Path, login: &str, password: &str) -> Result<(), KeyringError> {
        let collection = self.collection()?;
        self.unlock(&collection)?;
        let folder = store.to_string_lossy();
        let mut body = Writer::default();
        body.list(8, |properties| {
            let label = format!("Shopwright: {login} in {folder}");
            properties.align(8).text("org.freedesktop.Secret.Item.Label").signature("s").text(&label);
            properties.align(8).text("org.freedesktop.Secret.Item.Attributes").signature("a{ss}");
            properties.dictionary(&attributes(&folder, login));
        });
        body.align(8).text(&self.session).list(1, |_| {});
        body.list(1, |secret| secret.bytes.extend_from_slice(password.as_bytes()));
        // Replaces an item with the same attributes.
        body.text("text/plain; charset=utf8").number(1);
        let answer = self.bus.call(method(&collection, COLLECTION, "CreateItem"), "a{sv}(oayays)b", &body)?;
        let prompt = second_text(&answer)?;
        self.prompt(&prompt)
    }

    pub(super) fn forget(&mut self, store: &Path, login: &str) -> Result<(), KeyringError> {
        for item in self.items(store, login)? {
            let answer = self.bus.call(method(&item, ITEM, "Delete"), "", &Writer::default())?;
            let prompt = answer.reader().text().ok_or_else(unreadable)?.to_owned();
            self.prompt(&prompt)?;
        }
        Ok(())
    }

    /// The items of this login in this store, unlocked.
    fn items(&mut self, store: &Path, login: &str) -> Result<Vec<String>, KeyringError> {
        let mut body = Writer::default();
        body.dictionary(&attributes(&store.to_string_lossy(), login));
        let answer = self.bus.call(method(ROOT, SERVICE, "SearchItems"), "a{ss}", &body)?;
        let mut reader = answer.reader();
        let (mut open, locked) = (|| Some((reader.texts()?, reader.texts()?)))().ok_or_else(unreadable)?;
        for item in locked {
            self.unlock(&item)?;
            open.push(item);
        }
        Ok(open)
    }

    /// The collection that new items go to; a keyring without one counts as none.
    fn collection(&mut self) -> Result<String, KeyringError> {
        let mut body = Writer::default();
        body.text("default");
        let answer = self.bus.call(method(ROOT, SERVICE, "ReadAlias"), "s", &body)?;
        let path = answer.reader().text().ok_or_else(unreadable)?.to_owned();
        if path == NOTHING { Err(KeyringError::None) } else { Ok(path) }
    }

    fn unlock(&mut self, object: &str) -> Result<(), KeyringError> {
        let mut body = Writer::default();
        body.list(4, |objects| {
            objects.text(object);
        });
        let answer = self.bus.call(method(ROOT, SERVICE, "Unlock"), "ao", &body)?;
        let mut reader = answer.reader();
        let prompt = (|| {
            reader.texts()?;
            reader.text().map(str::to_owned)
        })();
        self.prompt(&prompt.ok_or_else(unreadable)?)
    }

    /// Lets the keyring ask the person, where it wants to.
    fn prompt(&mut self, prompt: &str) -> Result<(), KeyringError> {
        if prompt == NOTHING {
            return Ok(());
        }
        let mut rule = Writer::default();
        rule.text(&format!("type='signal',interface='{PROMPT}',path='{prompt}'"));
        let add = Method {
            to: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            name: "AddMatch",
        };
        self.bus.call(add, "s", &rule)?;
        let mut window = Writer::default();
        window.text("");
        self.bus.call(method(prompt, PROMPT, "Prompt"), "s", &window)?;
        let answer = self.bus.signal(prompt, "Completed", PERSON)?;
        match answer.reader().number() {
            Some(0) => Ok(()),
            _ => Err(KeyringError::Failed("it stays locked".to_owned())),
        }
    }
}

fn attributes<'a>(folder: &'a str, login: &'a str) -> [(&'static str, &'a str); 3] {
    [("application", "shopwright"), ("store", folder), ("login", login)]
}

fn method<'a>(path: &'a str, interface: &'a str, name: &'a str) -> Method<'a> {
    Method { to: NAME, path, interface, name }
}

fn second_text(answer: &Body) -> Result<String, KeyringError> {
    let mut reader = answer.reader();
    reader.text().and_then(|_| reader.text()).map(str::to_owned).ok_or_else(unreadable)
}

fn unreadable() -> KeyringError {
    KeyringError::Failed("its answer cannot be read".to_owned())
}
