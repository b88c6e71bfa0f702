//! Where the program's home is.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use wire::{env, paths};

use crate::files::private_folder;
use crate::{Approval, HomeError, Keyring, StoreList};

/// The program's home: one folder with everything the program keeps on this computer.
#[derive(Clone, Debug)]
pub struct Home {
    path: PathBuf,
    keyring: Keyring,
}

impl Home {
    /// The home named by `SHOPWRIGHT_HOME`, else the platform's usual place. The folder need not exist yet.
    pub fn find() -> Result<Self, HomeError> {
        if let Some(named) = std::env::var_os(env::HOME).filter(|value| !value.is_empty()) {
            return Ok(Self::at(PathBuf::from(named)));
        }
        usual().map(Self::at)
    }

    /// A home on a system that names none: nothing can be read or kept there, and asking for stores says so.
    pub fn nowhere() -> Self {
        // No system takes this name, so nothing is ever looked for in the current folder.
        Self { path: PathBuf::from("\0"), keyring: Keyring::from_env() }
    }

    fn is_nowhere(&self) -> bool {
        self.path.as_os_str() == "\0"
    }

    /// Whether other processes find this home without any variable of ours.
    ///
    /// An agent application may hand on nothing but the home directory, so a place that
    /// `XDG_CONFIG_HOME` or the like decides is not found.
    pub fn is_found_by_itself(&self) -> bool {
        let usual = etcetera::home_dir().ok().and_then(|home| unaided(&home));
        usual.is_some_and(|usual| usual == self.path)
    }

    /// The home in this folder.
    pub fn at(path: PathBuf) -> Self {
        let path = std::path::absolute(&path).unwrap_or(path);
        Self { path, keyring: Keyring::from_env() }
    }

    /// The same home with passwords kept there instead of where `SHOPWRIGHT_KEYRING` says.
    #[must_use]
    pub fn with_keyring(self, keyring: Keyring) -> Self {
        Self { keyring, ..self }
    }

    /// The folder, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where passwords are kept.
    pub fn keyring(&self) -> Keyring {
        self.keyring
    }

    /// The list of stores; no file is an empty list.
    pub fn stores(&self) -> Result<StoreList, HomeError> {
        if self.is_nowhere() {
            return Err(HomeError::NoHome);
        }
        StoreList::read(&self.path.join(paths::STORES))
    }

    /// Writes the list of stores.
    pub fn save_stores(&self, list: &StoreList) -> Result<(), HomeError> {
        self.make()?;
        list.write(&self.path.join(paths::STORES))
    }

    /// Whether agent applications ask before each call, as the person chose; `None` while nothing is chosen.
    pub fn approval(&self) -> Option<Approval> {
        Approval::read(&self.path.join(paths::AGENTS))
    }

    /// Keeps the choice.
    pub fn save_approval(&self, approval: Approval) -> Result<(), HomeError> {
        self.make()?;
        approval.write(&self.path.join(paths::AGENTS))
    }

    /// Makes the folder where it is missing, for this user only.
    pub fn make(&self) -> Result<(), HomeError> {
        private_folder(&self.path).map_err(|source| HomeError::io(&self.path, source))
    }
}

/// The platform's usual place.
fn usual() -> Result<PathBuf, HomeError> {
    let base = etcetera::base_strategy::choose_native_strategy().map_err(|_| HomeError::NoHome)?;
    Ok(base.config_dir().join("shopwright"))
}

/// The platform's usual place for this home directory, where no variable says otherwise.
fn unaided(home: &Path) -> Option<PathBuf> {
    if cfg!(windows) {
        // Asked of the system itself, not of a variable.
        return usual().ok();
    }
    let folder = if cfg!(target_os = "macos") { "Library/Preferences" } else { ".config" };
    Some(home.join(folder).join("shopwright"))
}
