//! What the program holds: the open store and who is signed in, and every change to it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use home::hand_over::HeldStore;
use home::passwords::SavedIn;
use home::{Approval, Credentials, DeskFile, Home, HomeError, ShopIni, StoreEntry, StoreList, same_folder};
use jiff::Timestamp;
use jiff::civil::Date;
use wire::{ProgramSignedIn, Request};

use crate::agents::{self, Launch};
use crate::engine::{EngineClient, request};
use crate::messages::Message;

mod add;
mod overview;
mod signing;

pub(crate) use add::NewStore;

/// The program, shared by the console, the hand-over socket and the background jobs.
pub(crate) struct Program {
    pub(crate) home: Home,
    pub(crate) engine: EngineClient,
    /// The running binary: agent applications start it.
    pub(crate) binary: PathBuf,
    socket: PathBuf,
    console: String,
    open: Mutex<Option<OpenStore>>,
    /// Held while saved passwords change, so that who began last also saves or forgets last.
    settling: tokio::sync::Mutex<()>,
}

/// The open store.
#[derive(Clone)]
pub(crate) struct OpenStore {
    /// The store folder.
    pub(crate) folder: PathBuf,
    /// Its name in the list.
    pub(crate) name: String,
    /// Its connection, or what is wrong with `Shop.ini`.
    pub(crate) ini: Result<ShopIni, String>,
    /// The pair, as soon as it is known; the engine may still be out of reach.
    pub(crate) pair: Option<Credentials>,
    /// The address that the pair was typed for: it goes to no other.
    pub(crate) typed_for: String,
    /// Where the password was saved.
    pub(crate) saved_in: Option<SavedIn>,
    /// What the engine said, once it answered.
    pub(crate) signed: Option<Signed>,
    /// Why the last sign-in did not succeed, or what it left undone.
    pub(crate) trouble: Option<Message>,
    /// Why the licence token is not there.
    pub(crate) no_token: Option<Message>,
    /// What became of the agent applications' files.
    pub(crate) files: Vec<agents::Report>,
    /// Days whose licence token was fetched since signing in.
    pub(crate) fetched: Vec<Date>,
    /// Tells one opening from the next, also of the same store.
    opening: u64,
    /// Changes with whatever makes void what began before: a sign-in or a sign-out, another address.
    turn: u64,
}

/// A sign-in the engine answered.
#[derive(Clone)]
pub(crate) struct Signed {
    /// Its answer.
    pub(crate) answer: ProgramSignedIn,
    /// When it came.
    pub(crate) since: Timestamp,
}

impl OpenStore {
    /// The store's address.
    pub(crate) fn url(&self) -> Option<&str> {
        self.ini.as_ref().ok().map(|ini| ini.url.as_str())
    }
}

impl Program {
    pub(crate) fn new(home: Home, binary: PathBuf, socket: PathBuf, console: String) -> Self {
        Self {
            home,
            engine: EngineClient::default(),
            binary,
            socket,
            console,
            open: Mutex::default(),
            settling: tokio::sync::Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<OpenStore>> {
        // What is inside is replaced whole, so a panic elsewhere leaves nothing half done.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open store as it is now.
    pub(crate) fn store(&self) -> Option<OpenStore> {
        self.lock().clone()
    }

    /// What the hand-over socket answers from.
    pub(crate) fn held(&self) -> HeldStore {
        match &*self.lock() {
            Some(open) => HeldStore {
                store: Some(open.folder.clone()),
                credentials: open.pair.clone(),
                url: open.typed_for.clone(),
            },
            None => HeldStore::default(),
        }
    }

    /// What an agent application must start for this store.
    pub(crate) fn launch(&self, store: &Path) -> Launch {
        Launch::pinned(&self.binary, &self.home, store)
    }

    /// Keeps whether agent applications ask before each call, and tells them.
    pub(crate) fn choose_approval(&self, approval: Approval) {
        let kept = self.home.save_approval(approval);
        let Some(open) = self.store() else { return };
        let files = agents::write_all(&open.folder, &self.launch(&open.folder));
        self.change(open.turn, |open| match kept {
            Ok(()) => open.files = files,
            Err(error) => {
                open.trouble = Some(Message::new("trouble.home", &[("what", &error.to_string())]));
            }
        });
    }

    /// Tells other processes what is held.
    pub(crate) fn announce(&self) -> Result<(), HomeError> {
        let store = self.lock().as_ref().map(|open| open.folder.clone());
        let pid = i32::try_from(std::process::id()).unwrap_or_default();
        let (socket, console) = (self.socket.clone(), Some(self.console.clone()));
        DeskFile { pid, store, socket, build: wire::BUILD.to_owned(), console }.write(&self.home)
    }

    /// Opens a store: the one before is closed, its pair forgotten in memory. Signs nobody in.
    pub(crate) fn open(&self, entry: &StoreEntry) -> Result<(), HomeError> {
        let folder = std::fs::canonicalize(&entry.folder).unwrap_or_else(|_| entry.folder.clone());
        let mut list = self.home.stores()?;
        list.put(entry.clone());
        list.last = Some(entry.folder.clone());
        self.home.save_stores(&list)?;
        let ini = ShopIni::read(&folder).map_err(|error| error.to_string());
        let files =
            if folder.is_dir() { agents::write_all(&folder, &self.launch(&folder)) } else { Vec::new() };
        let opened = OpenStore {
            folder,
            name: entry.name.clone(),
            ini,
            pair: None,
            typed_for: String::new(),
            saved_in: None,
            signed: None,
            trouble: None,
            no_token: None,
            files,
            fetched: Vec::new(),
            opening: number(),
            turn: number(),
        };
        self.end_ticket(self.lock().replace(opened));
        self.announce()
    }

    /// Takes a store off the list, with what was saved for it; the folder stays.
    /// Says what was not forgotten.
    pub(crate) async fn remove(&self, folder: &Path) -> Result<Option<Message>, HomeError> {
        self.home.stores()?;
        // Closed first: a sign-in that is still under way saves nothing any more.
        let open = self.lock().take_if(|open| same_folder(&open.folder, folder));
        if open.is_some() {
            self.announce()?;
        }
        let ini = ShopIni::read(folder).ok();
        let logins = logins(open.as_ref(), ini.as_ref());
        let url = ini.map(|ini| ini.url).unwrap_or_default();
        let saved_in = open.as_ref().and_then(|open| open.saved_in);
        self.end_ticket(open);
        let settling = self.settling.lock().await;
        let said = self.forget(folder, &url, logins, saved_in).await;
        drop(settling);
        let mut list = self.home.stores()?;
        list.remove(folder);
        self.home.save_stores(&list)?;
        Ok(said)
    }

    /// Changes the open store, if nothing began since that made this turn void.
    pub(crate) fn change(&self, turn: u64, change: impl FnOnce(&mut OpenStore)) {
        if let Some(open) = self.lock().as_mut().filter(|open| open.turn == turn) {
            change(open);
        }
    }

    fn end_ticket(&self, before: Option<OpenStore>) {
        if let Some(before) = before {
            self.end(before.url(), before.signed.clone());
        }
    }

    /// Ends a ticket in the background: whether the engine hears it changes nothing here.
    fn end(&self, url: Option<&str>, signed: Option<Signed>) {
        let (Some(url), Some(signed)) = (url.map(str::to_owned), signed) else { return };
        let engine = self.engine.clone();
        let request = Request { session: Some(signed.answer.ticket), ..request(Request::PROGRAM_SIGN_OUT) };
        tokio::spawn(async move {
            let _ = engine.ask::<serde_json::Value>(&url, &request).await;
        });
    }

    /// The list of stores.
    pub(crate) fn stores(&self) -> Result<StoreList, HomeError> {
        self.home.stores()
    }
}

impl OpenStore {
    /// Which opening this is.
    pub(crate) fn opening(&self) -> u64 {
        self.opening
    }

    /// Which turn this is, for [`Program::change`].
    pub(crate) fn turn(&self) -> u64 {
        self.turn
    }
}

/// A number that no opening and no turn had before.
fn number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Whose passwords may be saved for a store: the one who is signed in, and the one its file names.
fn logins(open: Option<&OpenStore>, ini: Option<&ShopIni>) -> Vec<String> {
    let held = open.and_then(|open| open.pair.as_ref()).map(|pair| &pair.login);
    let mut logins: Vec<String> = held.into_iter().chain(ini.map(|ini| &ini.login)).cloned().collect();
    logins.retain(|login| !login.is_empty());
    logins.dedup();
    logins
}

/// Whether the refusal will not change by itself: the pair is wrong, or its person blocked.
fn is_of_the_pair(name: &str) -> bool {
    matches!(name, "wrong_password" | "access_denied_bare")
}

/// Whether the refusal ends the ticket: the program signs in again first.
pub(crate) fn ends_ticket(name: &str) -> bool {
    name == "ticket_unknown" || is_of_the_pair(name)
}
