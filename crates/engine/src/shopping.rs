//! Buying: carts, checkout, orders as shoppers see them, customers' accounts, and what staff does with orders.
//!
//! Every function works within the transaction of its caller. An expected no is a
//! [`Problem`], which pages word; whoever gets one ends the transaction without a change.
//! The rules themselves are in `shop`, the rows in `db`.

pub(crate) mod accounts;
pub(crate) mod basis;
pub(crate) mod carts;
pub(crate) mod checkout;
pub(crate) mod fields;
pub(crate) mod jobs;
pub(crate) mod mails;
pub(crate) mod order_page;
pub(crate) mod orders;
pub mod staff;
pub(crate) mod summary;
pub(crate) mod view;

use db::DbError;
use jiff::Timestamp;
use shop::money::MoneyError;

use crate::settings::Settings;
use crate::units::templates::Look;

/// What every step of buying needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Cx<'a> {
    /// The settings.
    pub(crate) settings: &'a Settings,
    /// Language and currency of the page.
    pub(crate) look: &'a Look,
    /// The moment.
    pub(crate) now: Timestamp,
}

/// An expected no, which the page words: `only_left` with 3, `required` of the field `city`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, a key of the page's words.
    pub code: &'static str,
    /// The field of the form.
    pub field: Option<&'static str>,
    /// A number that belongs to it.
    pub value: Option<i64>,
}

impl Problem {
    /// A problem of no field.
    pub(crate) fn of(code: &'static str) -> Self {
        Self { code, field: None, value: None }
    }

    /// A problem with a number.
    pub(crate) fn with(code: &'static str, value: i64) -> Self {
        Self { code, field: None, value: Some(value) }
    }

    /// A problem of a field.
    pub(crate) fn field(field: &'static str, code: &'static str) -> Self {
        Self { code, field: Some(field), value: None }
    }
}

/// Why a step of buying was not done.
#[derive(Debug)]
pub enum NotDone {
    /// Expected: the page says so.
    Problem(Problem),
    /// The database failed.
    Db(DbError),
    /// Something else failed.
    Broke(String),
}

impl NotDone {
    /// What happened, for the log.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Problem(problem) => problem.code.to_owned(),
            Self::Db(cause) => wire::Fault::from(cause).chain().to_owned(),
            Self::Broke(cause) => cause.clone(),
        }
    }
}

impl From<DbError> for NotDone {
    fn from(cause: DbError) -> Self {
        Self::Db(cause)
    }
}

impl From<Problem> for NotDone {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<MoneyError> for NotDone {
    fn from(_: MoneyError) -> Self {
        Self::Problem(Problem::of("too_large"))
    }
}

impl From<wire::Fault> for NotDone {
    fn from(fault: wire::Fault) -> Self {
        Self::Broke(fault.chain().to_owned())
    }
}

impl From<db::stock::ReserveError> for NotDone {
    fn from(cause: db::stock::ReserveError) -> Self {
        use db::stock::ReserveError;
        match cause {
            ReserveError::OutOfStock { cause, .. } => Problem::with("only_left", cause.available).into(),
            ReserveError::Db(cause) => cause.into(),
        }
    }
}

impl From<db::orders::StateError> for NotDone {
    fn from(cause: db::orders::StateError) -> Self {
        use db::orders::StateError;
        match cause {
            StateError::Db(cause) => Self::Db(cause),
            StateError::Rule(_) => Self::Problem(Problem::of("not_now")),
            StateError::TooMany { left, .. } => Self::Problem(Problem::with("only_left", left)),
            StateError::Unknown => Self::Problem(Problem::of("unknown")),
        }
    }
}

impl From<db::refunds::RefundError> for NotDone {
    fn from(cause: db::refunds::RefundError) -> Self {
        match cause {
            db::refunds::RefundError::Db(cause) => Self::Db(cause),
            other => Self::Broke(other.to_string()),
        }
    }
}

/// What is done, or why not.
pub type Done<T> = Result<T, NotDone>;
