//! What an open session remembers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tools::{LocalContext, NoteRead, Right, ToolSpec};
use wire::Origin;
use zeroize::Zeroizing;

use crate::client::address::Address;
use crate::hosts::quirks;
use crate::session::store_choice::StoreChoice;

/// Where the login and password of a session came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PasswordSource {
    /// The running program.
    Program,
    /// The saved settings.
    Settings,
}

/// An open session. Everything but `memory` is fixed at sign-in.
pub(crate) struct Session {
    /// The store.
    pub(crate) store: StoreChoice,
    /// Where its engine answers.
    pub(crate) address: Address,
    /// The person's login.
    pub(crate) login: String,
    /// Where login and password came from.
    pub(crate) from: PasswordSource,
    /// Whether requests carry a licence token.
    pub(crate) licensed: bool,
    /// Who works, for the journal.
    pub(crate) origin: Origin,
    /// The application's folder name.
    pub(crate) application: String,
    /// The conversation folder.
    pub(crate) folder: PathBuf,
    /// Granted commands.
    pub(crate) granted: BTreeSet<String>,
    /// Where every other command is granted.
    pub(crate) closed: BTreeMap<String, String>,
    /// Key of the rules' codes, drawn at sign-in.
    pub(crate) secret: [u8; 32],
    /// Held while a stale ticket is replaced, so that only one call signs in.
    pub(crate) renewing: tokio::sync::Mutex<()>,
    /// What changes while the session is open.
    pub(crate) progress: Progress,
}

/// What changes while a session is open.
pub(crate) struct Progress(Mutex<State>);

struct State {
    ticket: Zeroizing<String>,
    unread: BTreeSet<i64>,
    /// How far a note was read that came in parts: the version it was read in, and the characters.
    partly_read: BTreeMap<i64, (String, usize)>,
    accepted: BTreeSet<String>,
}

impl Progress {
    /// As sign-in leaves it: no critical note read, no rules accepted.
    pub(crate) fn new(ticket: Zeroizing<String>, critical: Vec<i64>) -> Self {
        let unread = critical.into_iter().collect();
        Self(Mutex::new(State { ticket, unread, partly_read: BTreeMap::new(), accepted: BTreeSet::new() }))
    }
}

impl Session {
    /// Whether the person may call this tool, as sign-in told.
    pub(crate) fn may(&self, spec: &ToolSpec) -> bool {
        match spec.right {
            Right::Free => true,
            Right::Command(command) => self.granted.contains(command),
        }
    }

    /// Critical notes not read yet.
    pub(crate) fn unread(&self) -> Vec<i64> {
        self.state().unread.iter().copied().collect()
    }

    /// These notes were in an answer, whole or in part. One counts as read when all of it was, from its beginning.
    pub(crate) fn read(&self, notes: &[NoteRead]) {
        let mut state = self.state();
        for note in notes {
            let before = state.partly_read.get(&note.id).filter(|(version, _)| *version == note.version);
            let reached = before.map_or(0, |(_, reached)| *reached);
            // A part that leaves a gap before it adds nothing.
            let reached = if note.from <= reached { reached.max(note.until) } else { reached };
            if reached >= note.length {
                state.unread.remove(&note.id);
                state.partly_read.remove(&note.id);
            } else {
                state.partly_read.insert(note.id, (note.version.clone(), reached));
            }
        }
    }

    /// Whether these rules were accepted.
    pub(crate) fn has_accepted(&self, rules: &str) -> bool {
        self.state().accepted.contains(rules)
    }

    /// These rules are accepted to the end of the session.
    pub(crate) fn accept(&self, rules: &str) {
        self.state().accepted.insert(rules.to_owned());
    }

    /// The sign-in ticket.
    pub(crate) fn ticket(&self) -> Zeroizing<String> {
        self.state().ticket.clone()
    }

    /// A new ticket in place of a stale one.
    pub(crate) fn renew(&self, ticket: Zeroizing<String>) {
        self.state().ticket = ticket;
    }

    /// This computer, as the tools' local halves see it.
    pub(crate) fn local(&self) -> LocalContext {
        LocalContext {
            store: self.store.folder.clone(),
            conversation: self.folder.clone(),
            room: quirks::room(&self.application),
            trip: std::time::Duration::ZERO,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.progress.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
