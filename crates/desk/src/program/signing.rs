//! Signing in to the open store and out of it.
//!
//! The engine or the keyring may take long over an attempt. Each sign-in and
//! sign-out of a person begins a new turn, and so does each that succeeds; what
//! an attempt of an older turn brings is dropped.

use std::io::ErrorKind;
use std::path::Path;

use home::passwords::{self, Account, SavedIn, same_address};
use home::{Credentials, IniError, ShopIni};
use jiff::Timestamp;
use wire::ProgramSignedIn;

use super::{OpenStore, Program, Signed, logins, number};
use crate::background::licence_tokens;
use crate::engine::{NoAnswer, sign_in_to_engine};
use crate::messages::Message;

/// What an attempt brought.
struct Outcome {
    pair: Credentials,
    answer: ProgramSignedIn,
    /// Where the password is saved.
    saved_in: Option<SavedIn>,
    /// What was left undone.
    said: Option<Message>,
}

impl Program {
    /// Takes the pair that was saved for the open store. The engine is not asked yet.
    pub(crate) async fn recall(&self) {
        let Some((open, login, url)) = self.store().and_then(|open| {
            let ini = open.ini.as_ref().ok()?;
            let (login, url) = (ini.login.clone(), ini.url.clone());
            (!login.is_empty()).then_some((open, login, url))
        }) else {
            return;
        };
        let (home, account) = (self.home.clone(), Account::new(&open.folder, &login, &url));
        let found = tokio::task::spawn_blocking(move || passwords::found(&home, &account)).await;
        match found {
            Ok(Ok(Some((password, saved_in)))) => self.change(open.turn, |open| {
                open.pair = Some(Credentials { login, password });
                open.typed_for = url;
                open.saved_in = Some(saved_in);
            }),
            Ok(Ok(None)) | Err(_) => {}
            Ok(Err(error)) => {
                let said = Message::new("trouble.password_not_read", &[("what", &error.to_string())]);
                self.change(open.turn, |open| open.trouble = Some(said));
            }
        }
    }

    /// Holds this pair, as if it had been saved. The engine is not asked yet.
    pub(crate) fn take(&self, pair: Credentials) {
        if let Some(open) = &mut *self.lock() {
            open.typed_for = open.url().unwrap_or_default().to_owned();
            open.pair = Some(pair);
        }
    }

    /// Opens the open store once more: nobody who is signed in loses anything by it.
    pub(crate) async fn reopen(&self) {
        let Some(open) = self.look_anew() else { return };
        if open.pair.is_none() {
            self.recall().await;
        }
        if open.signed.is_none() {
            self.resume().await;
        }
    }

    /// Signs in with the pair that is held already. A wrong pair is let go.
    pub(crate) async fn resume(&self) {
        let Some(open) = self.look_anew() else { return };
        let (Some(pair), Ok(ini)) = (open.pair.clone(), open.ini.clone()) else { return };
        match self.ask(&open, &ini, &pair).await {
            Ok(answer) => {
                let saved_in = open.saved_in;
                if self.signed_in(&open, ini, Outcome { pair, answer, saved_in, said: None }) {
                    licence_tokens::fetch_soon(self).await;
                }
            }
            Err(no) => {
                // A blocked person's pair is right: it stays, so that agents are told what is wrong.
                let is_final =
                    matches!(&no, NoAnswer::Refused(refusal) if refusal.name() == "wrong_password");
                self.change(open.turn, |open| {
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
    pub(crate) async fn sign_in(&self, pair: Credentials, keep: bool) -> Result<(), Message> {
        self.look_anew();
        let open = self.begin(|_| {}).ok_or_else(|| Message::new("trouble.no_store", &[]))?;
        let ini = open.ini.clone().map_err(|what| Message::new("trouble.no_shop_ini", &[("what", &what)]))?;
        let answer = self.ask(&open, &ini, &pair).await.map_err(Message::from)?;
        // The engine's spelling, after which files are named; in demo mode it stands in for an empty one only.
        let pair = match answer.demo && !pair.login.is_empty() {
            true => pair,
            false => Credentials { login: answer.user.login.clone(), ..pair },
        };
        let settling = self.settling.lock().await;
        let is_void = || self.store().is_none_or(|now| now.turn != open.turn);
        let (mut saved_in, mut said) = (None, None);
        if !is_void() {
            (saved_in, said) = self.settle(&open, &ini, &pair, keep).await;
        }
        let (login, url) = (pair.login.clone(), ini.url.clone());
        if !self.signed_in(&open, ini, Outcome { pair, answer, saved_in, said }) {
            // Whoever signed out meanwhile must not find themself signed in at the next start.
            if saved_in.is_some() {
                self.forget(&open.folder, &url, vec![login], saved_in).await;
            }
            return Err(Message::new("trouble.switched", &[]));
        }
        drop(settling);
        licence_tokens::fetch_soon(self).await;
        Ok(())
    }

    /// Signs out: the pair is let go, the saved password forgotten, the ticket ended.
    pub(crate) async fn sign_out(&self) {
        let mut held = None;
        let now = self.begin(|open| {
            held = Some(open.clone());
            open.pair = None;
            open.signed = None;
            open.saved_in = None;
            open.trouble = None;
            open.no_token = None;
        });
        let (Some(now), Some(before)) = (now, held) else { return };
        let (logins, saved_in) = (logins(Some(&before), before.ini.as_ref().ok()), before.saved_in);
        let url = before.typed_for.clone();
        self.end_ticket(Some(before));
        let settling = self.settling.lock().await;
        let said = self.forget(&now.folder, &url, logins, saved_in).await;
        drop(settling);
        if said.is_some() {
            self.change(now.turn, |open| open.trouble = said);
        }
    }

    /// Begins a new turn of the open store, with this change.
    fn begin(&self, change: impl FnOnce(&mut OpenStore)) -> Option<OpenStore> {
        let mut guard = self.lock();
        let open = guard.as_mut()?;
        open.turn = number();
        change(open);
        Some(open.clone())
    }

    /// The open store with the connection as its file tells it now: a person may have edited it. A file
    /// that cannot be used takes nothing from what is held.
    fn look_anew(&self) -> Option<OpenStore> {
        let open = self.store()?;
        let Ok(ini) = ShopIni::read(&open.folder) else { return Some(open) };
        let mut guard = self.lock();
        let now = guard.as_mut()?;
        if now.opening != open.opening {
            return Some(now.clone());
        }
        let mut before = None;
        if now.url().is_some_and(|url| url != ini.url) {
            // A ticket is ended where it was given and shown nowhere else, and a password goes nowhere
            // but where its person typed it for: whoever can write the file is not its person.
            before = Some(now.clone());
            now.turn = number();
            if now.pair.is_some() && !same_address(&now.typed_for, &ini.url) {
                let values = [("was", now.typed_for.as_str()), ("url", ini.url.as_str())];
                now.trouble = Some(Message::new("trouble.address_changed", &values));
                now.pair = None;
                now.saved_in = None;
            }
            now.signed = None;
            now.no_token = None;
            now.fetched.clear();
        }
        now.ini = Ok(ini);
        let open = now.clone();
        drop(guard);
        self.end_ticket(before);
        Some(open)
    }

    async fn ask(
        &self,
        open: &OpenStore,
        ini: &ShopIni,
        pair: &Credentials,
    ) -> Result<ProgramSignedIn, NoAnswer> {
        let licence = licence_tokens::of_today(&open.folder, &pair.login);
        sign_in_to_engine(&self.engine, &ini.url, pair, licence).await
    }

    /// Saves the password or not, and forgets those that are not wanted any more.
    async fn settle(
        &self,
        open: &OpenStore,
        ini: &ShopIni,
        pair: &Credentials,
        keep: bool,
    ) -> (Option<SavedIn>, Option<Message>) {
        let mut others = logins(Some(open), Some(ini));
        others.retain(|login| !keep || *login != pair.login);
        let said = self.forget(&open.folder, &ini.url, others, open.saved_in).await;
        if !keep {
            return (None, said);
        }
        let (home, account) = (self.home.clone(), Account::new(&open.folder, &pair.login, &ini.url));
        let password = pair.password.clone();
        let save = move || passwords::save(&home, &account, &password);
        match tokio::task::spawn_blocking(save).await {
            Ok(Ok(place)) => (Some(place), said),
            Ok(Err(error)) => {
                let what = error.to_string();
                (None, Some(Message::new("trouble.password_not_saved", &[("what", &what)])))
            }
            Err(_) => (None, said),
        }
    }

    /// Notes a sign-in; `false` where it is void meanwhile, whereupon its ticket is ended.
    fn signed_in(&self, open: &OpenStore, mut ini: ShopIni, outcome: Outcome) -> bool {
        let Outcome { pair, answer, saved_in, said } = outcome;
        let signed = Signed { answer, since: Timestamp::now() };
        let asked = ini.url.clone();
        let mut guard = self.lock();
        let Some(now) = guard.as_mut().filter(|now| now.turn == open.turn) else {
            drop(guard);
            self.end(Some(&ini.url), Some(signed));
            return false;
        };
        let noted = note(&open.folder, &mut ini, |ini| {
            ini.login.clone_from(&pair.login);
            ini.licensed = signed.answer.licensed;
            wire::BUILD.clone_into(&mut ini.build);
            if ini.name.is_empty() {
                ini.name.clone_from(&open.name);
            }
        });
        let not_noted =
            |error: IniError| Message::new("trouble.no_shop_ini", &[("what", &error.to_string())]);
        now.turn = number();
        now.trouble = said.or(noted.err().map(not_noted));
        now.no_token = None;
        now.typed_for.clone_from(&asked);
        now.ini = Ok(ini);
        now.pair = Some(pair);
        now.saved_in = saved_in;
        now.fetched.clear();
        let before = now.signed.replace(signed);
        drop(guard);
        self.end(open.url(), before);
        true
    }

    /// Forgets the passwords of these logins; says what was not forgotten.
    pub(super) async fn forget(
        &self,
        folder: &Path,
        url: &str,
        logins: Vec<String>,
        saved_in: Option<SavedIn>,
    ) -> Option<Message> {
        let mut said = None;
        for login in logins {
            let (home, account) = (self.home.clone(), Account::new(folder, &login, url));
            let forget = move || passwords::forget(&home, &account, saved_in);
            if let Ok(Err(error)) = tokio::task::spawn_blocking(forget).await {
                tracing::warn!(%error, "A saved password was not forgotten");
                said = Some(Message::new("trouble.password_not_forgotten", &[("what", &error.to_string())]));
            }
        }
        said
    }
}

/// Notes in `Shop.ini` what a sign-in told. The rest of the file is the person's, as they edited it last.
fn note(folder: &Path, held: &mut ShopIni, change: impl FnOnce(&mut ShopIni)) -> Result<(), IniError> {
    match ShopIni::read(folder) {
        Ok(ini) if ini.url == held.url => *held = ini,
        // Another address since the engine was asked: the next attempt goes there.
        Ok(_) => {
            change(held);
            return Ok(());
        }
        Err(IniError::Io(error)) if error.kind() == ErrorKind::NotFound => {}
        // An edit that went wrong is not to be lost.
        Err(error) => {
            change(held);
            return Err(error);
        }
    }
    change(held);
    held.write(folder)
}
