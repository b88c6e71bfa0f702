//! Why a file cannot be read as a table.

use std::io;

/// Why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// It cannot be opened or read.
    #[error("the file cannot be read")]
    Io(#[from] io::Error),
    /// It is a folder or a device.
    #[error("that is no file")]
    NoFile,
    /// An archive, a workbook, a picture.
    #[error(
        "that is no CSV file but an archive, a workbook or the like; save the table as CSV and give that"
    )]
    NotCsv,
    /// Zero bytes between the letters.
    #[error("the file holds zero bytes, as text never does")]
    Nul,
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// A quote that nothing closes.
    #[error("line {0}: a quoted cell begins here and nothing closes it")]
    OpenQuote(u64),
    /// A cell out of all proportion.
    #[error("line {0}: a cell is larger than 1 MiB")]
    LargeCell(u64),
    /// A row out of all proportion.
    #[error("line {0}: a row is larger than 4 MiB")]
    LargeRow(u64),
    /// More cells than any table has.
    #[error("line {0}: a row has more than 2000 cells")]
    ManyCells(u64),
    /// Columns that no layout has.
    #[error("the header row is of no known layout; say it with --format. Its columns: {0}")]
    UnknownLayout(String),
    /// A column without which there is nothing to go by.
    #[error("there is no column `{0}`")]
    NoColumn(&'static str),
}
