//! Why rows did not come out or go in.

use crate::DbError;

/// Why a whole database did not come out or go in.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The database did not do it.
    #[error(transparent)]
    Db(#[from] DbError),
    /// A value that does not fit its column. It is not repeated.
    #[error("table `{table}`, row {row}, column `{column}`: {what}")]
    Value {
        /// The table.
        table: String,
        /// The row's primary key.
        row: String,
        /// The column.
        column: String,
        /// What is wrong.
        what: &'static str,
    },
    /// What was written reads differently.
    #[error("table `{table}` is not the same on both sides: {wanted} rows were read, {got} are there")]
    Differs {
        /// The table.
        table: String,
        /// Rows that went in.
        wanted: u64,
        /// Rows that came out.
        got: u64,
    },
    /// A line that is no row of its table.
    #[error("table `{table}`, line {line}: {what}")]
    Line {
        /// The table.
        table: String,
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The caller wished to stop.
    #[error("stopped in the middle; nothing was changed")]
    Stopped,
    /// The caller's own trouble with the rows it took or gave.
    #[error(transparent)]
    Caller(Box<dyn std::error::Error + Send + Sync>),
}
