//! A whole database: every row of every table out of it and into it, the same for both databases.
//!
//! Tables come in an order in which each stands behind those it points to,
//! rows in the order of their primary key, and a row as one line of JSON, byte
//! for byte the same from either database. So the sum over a table's lines
//! tells whether two databases hold the same, and the lines are what a backup
//! is made of.

mod access;
mod copy;
mod error;
pub mod row_line;
pub(crate) mod table;
mod table_loader;
mod tables;

pub use copy::{
    Contents, OnProgress, OnRow, Phase, Progress, compare, contents, copy, read, refuse_newer, rows,
};
pub use error::TransferError;
pub use row_line::TableSum;
pub use table::{Column, Kind, Table};
pub use table_loader::{TableLoader, check_links, clear};
pub(crate) use tables::shapes;
pub use tables::{newest_step, tables, tables_of};
