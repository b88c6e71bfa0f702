//! Why something was not done with an order, in words.

use db::DbError;
use db::orders::StateError;
use db::refunds::RefundError;
use shop::order::MoveError;

use crate::shopping::NotDone;

/// Why something was not done. Nothing of it happened.
#[derive(Debug, thiserror::Error)]
pub enum StaffError {
    /// There is no such row.
    #[error("there is no {what} {id}")]
    Unknown {
        /// What was looked for: `order`, `line`, `return`, `shipment`, `refund`, `review`, `task`, `product`, ….
        what: &'static str,
        /// Its number.
        id: i64,
    },
    /// Nobody of the store who may work has this login.
    #[error("nobody who may work here has the login {0}")]
    NoColleague(String),
    /// There is no such state.
    #[error("there is no state `{0}`")]
    UnknownState(String),
    /// The rules of states, or what stands in the way.
    #[error(transparent)]
    Hindered(#[from] MoveError),
    /// More pieces than there are.
    #[error("of line {line} there are only {left} pieces")]
    TooMany {
        /// The line.
        line: i64,
        /// How many there are.
        left: i64,
    },
    /// What a refund may not do.
    #[error(transparent)]
    Refund(RefundError),
    /// Nothing was named to be done.
    #[error("nothing is named")]
    Nothing,
    /// The amount is none, or more than numbers hold.
    #[error("an amount is at least one minor unit")]
    Amount,
    /// The key is empty, too long or holds `#`.
    #[error("a key has 1 to 100 letters and no `#`")]
    BadKey,
    /// What the rules of goods or people do not allow, in words.
    #[error("{0}")]
    Wrong(String),
    /// The database failed.
    #[error(transparent)]
    Db(DbError),
    /// Something else failed.
    #[error("{0}")]
    Broke(String),
}

/// What is done, or why not.
pub type StaffDone<T> = Result<T, StaffError>;

impl From<DbError> for StaffError {
    fn from(cause: DbError) -> Self {
        Self::Db(cause)
    }
}

impl From<StateError> for StaffError {
    fn from(cause: StateError) -> Self {
        match cause {
            StateError::Unknown => Self::Broke("there is no such row".to_owned()),
            StateError::Rule(rule) => Self::Hindered(rule),
            StateError::TooMany { line, left } => Self::TooMany { line, left },
            StateError::Db(cause) => Self::Db(cause),
        }
    }
}

impl From<RefundError> for StaffError {
    fn from(cause: RefundError) -> Self {
        match cause {
            RefundError::Db(cause) => Self::Db(cause),
            RefundError::BadKey => Self::BadKey,
            RefundError::Unknown { what, id } => Self::Unknown { what, id },
            other => Self::Refund(other),
        }
    }
}

impl From<NotDone> for StaffError {
    fn from(cause: NotDone) -> Self {
        match cause {
            NotDone::Db(cause) => Self::Db(cause),
            other => Self::Broke(other.cause()),
        }
    }
}
