//! The program's home and the store folder on this computer: lists, connection files, saved passwords, the hand-over.

mod ask;
mod credentials;
mod desk_file;
mod error;
mod files;
pub mod handover;
mod ini;
pub mod passwords;
mod place;
mod stores;

pub use ask::{Pair, Program, ask_pair, program_state, program_store};
pub use credentials::Credentials;
pub use desk_file::DeskFile;
pub use error::{HomeError, IniError};
pub use files::{same_folder, write_atomic};
pub use ini::ShopIni;
pub use passwords::Keyring;
pub use place::Home;
pub use stores::{StoreEntry, StoreList};
