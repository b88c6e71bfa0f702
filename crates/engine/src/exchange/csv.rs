//! Rows of a CSV file: quoted cells, line ends of every system, and limits on what one row may hold.

use std::io;
use std::path::Path;

use super::broken::Broken;
use super::encoding::{Encoding, Letters};

/// Bytes of one cell at most.
const LARGEST_CELL: usize = 1 << 20;
/// Bytes of one row at most.
const LARGEST_ROW: usize = 4 << 20;
/// Cells of one row at most.
const MOST_CELLS: usize = 2000;

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The line on which it begins, from 1.
    pub(super) line: u64,
    pub(super) cells: Vec<String>,
}

/// The rows of a file.
pub(super) struct Records {
    letters: Letters,
    delimiter: char,
    /// Letters that were looked at already, the next last.
    ahead: Vec<char>,
    line: u64,
}

/// A row on its way.
#[derive(Default)]
struct Growing {
    cells: Vec<String>,
    cell: String,
    bytes: usize,
}

impl Records {
    pub(super) fn open(path: &Path, encoding: Encoding, delimiter: char) -> io::Result<Self> {
        Ok(Self { letters: Letters::open(path, encoding)?, delimiter, ahead: Vec::new(), line: 1 })
    }

    /// Bytes that were read so far.
    pub(super) fn done(&self) -> u64 {
        self.letters.done
    }

    /// The next row that holds anything.
    pub(super) fn next(&mut self) -> Result<Option<Record>, Broken> {
        loop {
            let line = self.line;
            let Some(cells) = self.row(line)? else { return Ok(None) };
            if cells.iter().any(|cell| !cell.trim().is_empty()) {
                return Ok(Some(Record { line, cells }));
            }
        }
    }

    /// The cells of a row; `None` behind the last.
    fn row(&mut self, line: u64) -> Result<Option<Vec<String>>, Broken> {
        let mut row = Growing::default();
        let mut is_first = true;
        loop {
            match self.take()? {
                None if is_first && row.cells.is_empty() && row.cell.is_empty() => return Ok(None),
                None => return row.end(line).map(|()| Some(row.cells)),
                Some('"') if row.cell.is_empty() && is_first => self.quoted(&mut row, line)?,
                Some(letter) if letter == self.delimiter => {
                    row.end(line)?;
                    is_first = true;
                    continue;
                }
                Some('\n') => return row.end(line).map(|()| Some(row.cells)),
                Some(letter) => row.push(letter, line)?,
            }
            is_first = false;
        }
    }

    /// The inside of a quoted cell, to its closing quote.
    fn quoted(&mut self, row: &mut Growing, line: u64) -> Result<(), Broken> {
        let began = self.line;
        loop {
            match self.take()? {
                None => return Err(Broken::OpenQuote(began)),
                Some('"') => match self.take()? {
                    Some('"') => row.push('"', line)?,
                    next => {
                        self.ahead.extend(next);
                        // It is counted when it is taken again.
                        self.line -= u64::from(next == Some('\n'));
                        return Ok(());
                    }
                },
                Some(letter) => row.push(letter, line)?,
            }
        }
    }

    fn raw(&mut self) -> Result<Option<char>, Broken> {
        match self.ahead.pop() {
            Some(letter) => Ok(Some(letter)),
            None => Ok(self.letters.next()?),
        }
    }

    /// The next letter; every line end is `\n`.
    fn take(&mut self) -> Result<Option<char>, Broken> {
        let letter = match self.raw()? {
            Some('\0') => return Err(Broken::Nul),
            Some('\r') => {
                let next = self.raw()?;
                self.ahead.extend(next.filter(|next| *next != '\n'));
                Some('\n')
            }
            other => other,
        };
        self.line += u64::from(letter == Some('\n'));
        Ok(letter)
    }
}

impl Growing {
    fn push(&mut self, letter: char, line: u64) -> Result<(), Broken> {
        self.cell.push(letter);
        self.bytes += letter.len_utf8();
        if self.cell.len() > LARGEST_CELL {
            return Err(Broken::LargeCell(line));
        }
        if self.bytes > LARGEST_ROW {
            return Err(Broken::LargeRow(line));
        }
        Ok(())
    }

    fn end(&mut self, line: u64) -> Result<(), Broken> {
        self.cells.push(std::mem::take(&mut self.cell));
        if self.cells.len() > MOST_CELLS {
            return Err(Broken::ManyCells(line));
        }
        Ok(())
    }
}
