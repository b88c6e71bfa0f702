//! What came of an import, and why nothing did.

use std::io;

use db::DbError;
use sha2::{Digest as _, Sha256};

use super::broken::Broken;
use super::problem::{Jump, Problem};
use crate::media::AddError;
use crate::settings::ConfigError;

/// Problems, and jumps of prices, that are told one by one.
const MOST_PROBLEMS: usize = 1000;
/// Bytes of a token: enough that no other outcome has it by chance.
const TOKEN: usize = 12;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows of the table, without its header.
    pub rows: u64,
    /// New products, or articles of the supplier.
    pub new: u64,
    /// Changed ones.
    pub changed: u64,
    /// Those that are as the table says.
    pub same: u64,
    /// Rows that name nothing by which a product is found.
    pub keyless: u64,
    /// Articles of the supplier that are none of the store's variants yet.
    pub unmatched: u64,
    /// Pictures that were added.
    pub pictures: u64,
    /// Pictures that are in no folder.
    pub missing_pictures: u64,
    /// What is wrong, in the order of the lines.
    pub problems: Vec<Problem>,
    /// How many things are wrong.
    pub problem_count: u64,
    /// Prices that change by more than they may unseen, in the order of the lines.
    pub jumps: Vec<Jump>,
    /// How many prices do.
    pub jump_count: u64,
    /// A sum over everything that was found and changed, without numbers of rows, which a look uses up.
    pub(super) sum: [u8; 32],
}

impl Report {
    pub(super) fn note(&mut self, problem: Problem) {
        self.problem_count += 1;
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        }
    }

    pub(super) fn note_all(&mut self, problems: impl IntoIterator<Item = Problem>) {
        problems.into_iter().for_each(|problem| self.note(problem));
    }

    /// What a look tells and the import that follows is to find again: the same table, taken in the same way, finds the
    /// store as it was and does the same to it.
    pub fn token(&self) -> String {
        self.sum.iter().take(TOKEN).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Adds to the sum over what is done.
    pub(super) fn add(&mut self, what: &impl std::fmt::Debug) {
        let next = Sha256::new().chain_update(self.sum).chain_update(format!("{what:?}"));
        self.sum = next.finalize().into();
    }

    /// Notes a price that changes by more than so many per cent.
    pub(super) fn note_price(&mut self, percent: u32, change: Jump) {
        self.add(&change);
        if change.is_beyond(percent) {
            self.jump_count += 1;
            if self.jumps.len() < MOST_PROBLEMS {
                self.jumps.push(change);
            }
        }
    }

    pub(super) fn count(&mut self, is_new: bool, is_changed: bool) {
        self.add(&(self.rows, is_new, is_changed));
        match (is_new, is_changed) {
            (true, _) => self.new += 1,
            (false, true) => self.changed += 1,
            (false, false) => self.same += 1,
        }
    }

    pub(super) fn changes_nothing(&self) -> bool {
        self.new + self.changed == 0
    }
}

/// Why nothing was taken.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read as a table.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// The settings cannot be used.
    #[error("config.json {0}")]
    Config(#[from] ConfigError),
    /// The database cannot be used.
    #[error("the store's database did not take it")]
    Db(#[from] DbError),
    /// A picture cannot be written.
    #[error("a picture cannot be written")]
    Picture(#[from] AddError),
    /// The folder of pictures is none.
    #[error("the folder of pictures cannot be read")]
    Folder(#[source] io::Error),
    /// There is no price list in the store's currency, or no location.
    #[error("the store has no {0}")]
    Missing(&'static str),
    /// A price list of nobody.
    #[error("a price list needs --supplier; a key that is not known yet makes a new one")]
    NoSupplier,
    /// What would be done is not what the token stands for.
    #[error(
        "the store or the table is not what the token was told for; nothing was changed; look again with --check"
    )]
    Stale,
    /// Somebody wished to stop.
    #[error("stopped; nothing was changed")]
    Stopped,
    /// Not an error: what was done is taken back, and this is what it was.
    #[error("taken back")]
    TakenBack(Box<Report>),
}
