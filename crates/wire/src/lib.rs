//! The words every process shares: request, envelope, refusal catalogue, names of files.

mod build;
pub mod canonical;
pub mod catalogue;
pub mod env;
mod envelope;
pub mod files;
mod home;
mod lease;
mod licence;
pub mod outgoing;
pub mod paths;
mod refusal;
mod refusal_row;
mod request;
mod session;
mod stop;
pub mod text;

pub use build::Build;
pub use envelope::Envelope;
pub use home::{InWork, ProgramHome};
pub use lease::{LeaseAnswer, LeaseFree, LeaseRenew, LeaseTake};
pub use licence::{DayProof, LicenceProofs, TokenAnswer, TokenRequest};
pub use refusal::Refusal;
pub use refusal_row::{Mender, Row, Speaker};
pub use request::{Origin, Request};
pub use session::{
    Closed, Event, Group, MemoryCount, NotNow, Person, Principal, ProgramSignedIn, Rights, SignIn, SignedIn,
    StateCount, Tasks,
};
pub use stop::{Fault, Stop};

/// The build of everything in this binary.
pub const BUILD: &str = env!("CARGO_PKG_VERSION");

/// A list of rows as every tool answers it: the names once, then the cells.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Table {
    /// Names of the columns, in the order of the cells.
    pub columns: Vec<String>,
    /// One list of cells for each row.
    pub rows: Vec<Vec<serde_json::Value>>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows: Vec::new() }
    }
}

#[cfg(test)]
mod tests;
