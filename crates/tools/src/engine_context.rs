//! What the engine hands to a tool's engine half.

use db::leases::{self, Lease};
use db::{Tx, journal, seconds};
use jiff::Timestamp;
use serde_json::Value;
use wire::{Stop, catalogue};

use crate::{StoreFiles, Units};

/// The person a call runs for.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Number of the user.
    pub id: i64,
    /// Login.
    pub login: String,
    /// Numbers of all groups, the main one first.
    pub groups: Vec<i64>,
    /// Commands granted at this moment, sorted.
    pub commands: Vec<String>,
    /// In demo mode everybody counts as an administrator.
    pub is_demo: bool,
}

/// One call on the engine's side: its transaction, its person, its clock.
///
/// Invariant: everything a tool does goes through `tx`, so that a refusal or
/// a fault after a change takes the change back.
pub struct EngineCx<'a> {
    /// The transaction of this call.
    pub tx: &'a mut Tx,
    /// The database itself, for statements that agents write: they run under a login of their own that only reads.
    pub db: &'a db::Db,
    /// The person.
    pub caller: &'a Caller,
    /// The store's language.
    pub language: &'a str,
    /// The moment of the call.
    pub now: Timestamp,
    /// What the journal says of this call, if it changes something.
    pub entry: journal::Entry,
    /// The store's editable files.
    pub files: &'a mut dyn StoreFiles,
    /// What is known of units' code.
    pub units: &'a dyn Units,
    /// The debugger's code; empty where the store has none.
    pub debug_code: &'a str,
    /// The server that carries the call out.
    pub server: &'a dyn Server,
}

/// What the server tells of itself.
pub trait Server {
    /// The store's default group of templates.
    fn default_group(&self) -> &str;
    /// The settings as agents see them, secrets hidden.
    fn config(&self) -> Value;
    /// The address of the caller as the server sees it.
    fn address(&self) -> String;
    /// Adds a file to a row and answers its number; the inner error says why it is not taken.
    fn add_element_file(&self, tx: &mut Tx, file: &ElementUpload<'_>) -> Result<Result<i64, String>, Stop>;
    /// The content of a row's file; `None` where it is not there.
    fn element_file(&self, stored_name: &str) -> Result<Option<Vec<u8>>, Stop>;
}

/// A file that a row is to have.
#[derive(Clone, Copy, Debug)]
pub struct ElementUpload<'a> {
    /// The row's table.
    pub entity: &'a str,
    /// The row's number.
    pub elem_id: i64,
    /// What it is for; `kImage` for pictures and `kBase` for others where nothing is named.
    pub kind_key: Option<&'a str>,
    /// The name it came with.
    pub real_name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

impl EngineCx<'_> {
    /// Refuses to write a table that somebody has in work: another person, or an open window of the program.
    pub fn refuse_in_work(&mut self, table: &str) -> Result<(), Stop> {
        match leases::held(self.tx, table, self.now)? {
            Some(lease) => Err(catalogue::table_in_work(table, &who(&lease)).into()),
            None => Ok(()),
        }
    }
}

/// Who holds a table, in words.
pub(crate) fn who(lease: &Lease) -> String {
    let what = match lease.what.trim() {
        "" => String::new(),
        what => format!(" ({})", wire::text::quoted(what, 100)),
    };
    let until = seconds(lease.until);
    format!("{} (`{}`) holds it{what} until {until}, if not renewed", lease.name, lease.login)
}
