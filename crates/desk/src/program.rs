//! What the program holds: the open store and who is signed in, and every change to it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use home::handover::Held;
use home::passwords::{self, Kept};
use home::{Credentials, DeskFile, Home, HomeError, ShopIni, StoreEntry, StoreList, same_folder};
use jiff::Timestamp;
use jiff::civil::Date;
use wire::{ProgramSignedIn, Request};

use crate::agents::{self, Launch};
use crate::engine::{EngineClient, NoAnswer, request, sign_in_to_engine};
use crate::keeper::tokens;
use crate::words::Words;

mod add;
mod waits;

pub(crate) use add::NewStore;

/// The program, shared by the console, the hand-over socket and the keeper.
pub(crate) struct Program {
    pub(crate) home: Home,
    pub(crate) engine: EngineClient,
    /// The running binary: agent applications start it.
    pub(crate) binary: PathBuf,
    socket: PathBuf,
    console: String,
    open: Mutex<Option<OpenStore>>,
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
    /// Where the password was saved.
    pub(crate) kept: Option<Kept>,
    /// What the engine said, once it answered.
    pub(crate) signed: Option<Signed>,
    /// Why the last sign-in or token did not succeed.
    pub(crate) trouble: Option<Words>,
    /// What became of the agent applications' files.
    pub(crate) files: Vec<agents::Report>,
    /// Days whose licence token was fetched since signing in.
    pub(crate) fetched: Vec<Date>,
    /// Tells one opening from the next, also of the same store.
    opening: u64,
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
        Self { home, engine: EngineClient::default(), binary, socket, console, open: Mutex::new(None) }
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
    pub(crate) fn held(&self) -> Held {
        match &*self.lock() {
            Some(open) => Held { store: Some(open.folder.clone()), credentials: open.pair.clone() },
            None => Held::default(),
        }
    }

    /// What an agent application must start for this store.
    pub(crate) fn launch(&self, store: &Path) -> Launch {
        Launch::pinned(&self.binary, &self.home, store)
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
            kept: None,
            signed: None,
            trouble: None,
            files,
            fetched: Vec::new(),
            opening: opening(),
        };
        self.end_ticket(self.lock().replace(opened));
        self.announce()
    }

    /// Takes a store off the list, with what was saved for it; the folder stays.
    pub(crate) async fn remove(&self, folder: &Path) -> Result<(), HomeError> {
        let mut list = self.home.stores()?;
        if let Ok(ini) = ShopIni::read(folder) {
            self.forget(folder, &ini.login).await;
        }
        list.remove(folder);
        self.home.save_stores(&list)?;
        let is_open = self.lock().as_ref().is_some_and(|open| same_folder(&open.folder, folder));
        if is_open {
            self.end_ticket(self.lock().take());
            self.announce()?;
        }
        Ok(())
    }

    /// Takes the pair that was saved for the open store. The engine is not asked yet.
    pub(crate) async fn recall(&self) {
        let Some((open, login)) = self.store().and_then(|open| {
            let login = open.ini.as_ref().ok()?.login.clone();
            (!login.is_empty()).then_some((open, login))
        }) else {
            return;
        };
        let (home, folder, of) = (self.home.clone(), open.folder.clone(), login.clone());
        let found = tokio::task::spawn_blocking(move || passwords::found(&home, &folder, &of)).await;
        match found {
            Ok(Ok(Some((password, kept)))) => self.change(open.opening, |open| {
                open.pair = Some(Credentials { login, password });
                open.kept = Some(kept);
            }),
            Ok(Ok(None)) | Err(_) => {}
            Ok(Err(error)) => {
                let said = Words::new("trouble.password_not_read", &[("what", &error.to_string())]);
                self.change(open.opening, |open| open.trouble = Some(said));
            }
        }
    }

    /// Holds this pair, as if it had been saved. The engine is not asked yet.
    pub(crate) fn take(&self, pair: Credentials) {
        if let Some(open) = &mut *self.lock() {
            open.pair = Some(pair);
        }
    }

    /// Signs in with the pair that is held already. A wrong pair is let go.
    pub(crate) async fn resume(&self) {
        let Some(open) = self.store() else { return };
        let (Some(pair), Ok(ini)) = (open.pair.clone(), open.ini.clone()) else { return };
        match self.ask(&open, &ini, &pair).await {
            Ok(answer) => {
                self.signed_in(&open, ini, pair, answer, open.kept);
                tokens::fetch_soon(self).await;
            }
            Err(no) => {
                // A blocked person's pair is right: it stays, so that agents are told what is wrong.
                let is_final =
                    matches!(&no, NoAnswer::Refused(refusal) if refusal.name() == "wrong_password");
                self.change(open.opening, |open| {
                    if is_final {
                        open.pair = None;
                        open.signed = None;
                    }
                    open.trouble = Some(no.into());
                });
            }
        }
    }

    /// Signs a person in to the open store; `keep` saves the password, else a saved one is forgotten.
    pub(crate) async fn sign_in(&self, pair: Credentials, keep: bool) -> Result<(), Words> {
        let open = self.store().ok_or_else(|| Words::new("trouble.no_store", &[]))?;
        let ini = open.ini.clone().map_err(|what| Words::new("trouble.no_shop_ini", &[("what", &what)]))?;
        let answer = self.ask(&open, &ini, &pair).await.map_err(Words::from)?;
        // The engine's spelling, after which files are named; in demo mode it stands in for an empty one only.
        let pair = match answer.demo && !pair.login.is_empty() {
            true => pair,
            false => Credentials { login: answer.user.login.clone(), ..pair },
        };
        let mut said = None;
        let mut kept = None;
        if !keep || ini.login != pair.login {
            self.forget(&open.folder, &ini.login).await;
        }
        if keep {
            let (home, folder, of) = (self.home.clone(), open.folder.clone(), pair.clone());
            let save = move || passwords::save(&home, &folder, &of.login, &of.password);
            match tokio::task::spawn_blocking(save).await {
                Ok(Ok(place)) => kept = Some(place),
                Ok(Err(error)) => {
                    said = Some(Words::new("trouble.password_not_saved", &[("what", &error.to_string())]));
                }
                Err(_) => {}
            }
        }
        if !self.signed_in(&open, ini, pair, answer, kept) {
            return Err(Words::new("trouble.switched", &[]));
        }
        if said.is_some() {
            self.change(open.opening, |open| open.trouble = said);
        }
        tokens::fetch_soon(self).await;
        Ok(())
    }

    /// Signs out: the pair is let go, the saved password forgotten, the ticket ended.
    pub(crate) async fn sign_out(&self) {
        let Some(before) = self.store() else { return };
        self.change(before.opening, |open| {
            open.pair = None;
            open.signed = None;
            open.kept = None;
            open.trouble = None;
        });
        let login = before.pair.as_ref().map(|pair| pair.login.clone());
        let login = login.or_else(|| before.ini.as_ref().ok().map(|ini| ini.login.clone()));
        self.forget(&before.folder, &login.unwrap_or_default()).await;
        self.end_ticket(Some(before));
    }

    async fn ask(
        &self,
        open: &OpenStore,
        ini: &ShopIni,
        pair: &Credentials,
    ) -> Result<ProgramSignedIn, NoAnswer> {
        let licence = tokens::of_today(&open.folder, &pair.login);
        sign_in_to_engine(&self.engine, &ini.url, pair, licence).await
    }

    /// Notes a sign-in; `false` where another store was opened meanwhile.
    fn signed_in(
        &self,
        open: &OpenStore,
        mut ini: ShopIni,
        pair: Credentials,
        answer: ProgramSignedIn,
        kept: Option<Kept>,
    ) -> bool {
        ini.login.clone_from(&pair.login);
        ini.licensed = answer.licensed;
        wire::BUILD.clone_into(&mut ini.build);
        if ini.name.is_empty() {
            ini.name.clone_from(&open.name);
        }
        let mut guard = self.lock();
        let Some(now) = guard.as_mut().filter(|now| now.opening == open.opening) else {
            return false;
        };
        now.trouble = ini
            .write(&open.folder)
            .err()
            .map(|error| Words::new("trouble.no_shop_ini", &[("what", &error.to_string())]));
        now.ini = Ok(ini);
        now.pair = Some(pair);
        now.kept = kept;
        now.fetched.clear();
        let before = now.signed.replace(Signed { answer, since: Timestamp::now() });
        drop(guard);
        self.end(open.url(), before);
        true
    }

    /// Changes the open store, if it is still that opening.
    pub(crate) fn change(&self, opening: u64, change: impl FnOnce(&mut OpenStore)) {
        if let Some(open) = self.lock().as_mut().filter(|open| open.opening == opening) {
            change(open);
        }
    }

    async fn forget(&self, folder: &Path, login: &str) {
        let (home, folder, login) = (self.home.clone(), folder.to_owned(), login.to_owned());
        let forget = move || passwords::forget(&home, &folder, &login);
        if let Ok(Err(error)) = tokio::task::spawn_blocking(forget).await {
            tracing::warn!(%error, "A saved password was not forgotten");
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
    /// Which opening this is, for [`Program::change`].
    pub(crate) fn opening(&self) -> u64 {
        self.opening
    }
}

fn opening() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Whether the refusal will not change by itself: the pair is wrong, or its person blocked.
fn is_of_the_pair(name: &str) -> bool {
    matches!(name, "wrong_password" | "access_denied_bare")
}

/// Whether the refusal ends the ticket: the program signs in again first.
pub(crate) fn ends_ticket(name: &str) -> bool {
    name == "ticket_unknown" || is_of_the_pair(name)
}
