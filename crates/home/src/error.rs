//! What can go wrong in the home and in a store folder.

use std::io;
use std::path::{Path, PathBuf};

/// Why the program's home could not be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// The system names no configuration folder.
    #[error("this system names no configuration folder: set SHOPWRIGHT_HOME")]
    NoHome,
    /// A file or folder could not be read or written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is there and is not of its form.
    #[error("`{}` is damaged: {why}", path.display())]
    Broken {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Another program already holds this home; who, as far as it told.
    #[error("the program already runs on this home{0}")]
    InUse(String),
}

impl HomeError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn broken(path: &Path, why: impl ToString) -> Self {
        Self::Broken { path: path.to_owned(), why: why.to_string() }
    }
}

/// Why `Shop.ini` could not be used.
#[derive(Debug, thiserror::Error)]
pub enum IniError {
    /// The file could not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is far too large to be a connection file.
    #[error("the file is larger than a megabyte")]
    TooLarge,
    /// The file is not UTF-8.
    #[error("the file is not UTF-8")]
    NotUtf8,
    /// There is no `[Store]` section.
    #[error("there is no section [Store]")]
    NoSection,
    /// `Url` is missing or empty.
    #[error("[Store] has no `Url`")]
    NoUrl,
    /// A value is not what its key takes.
    #[error("`{key}` in line {line} must be {wanted}")]
    Value {
        /// The key.
        key: &'static str,
        /// Line, from 1.
        line: usize,
        /// What the key takes.
        wanted: &'static str,
    },
}
