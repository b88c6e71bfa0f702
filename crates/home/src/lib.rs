//! The program's home and the store folder on this computer: lists, connection files, saved passwords, the hand-over.

mod approval;
mod credentials;
mod desk_file;
mod error;
mod files;
pub mod hand_over;
mod home_folder;
mod ini;
pub mod passwords;
mod stores;

pub use approval::Approval;
pub use credentials::Credentials;
pub use desk_file::DeskFile;
pub use error::{HomeError, IniError};
pub use files::{lock_file, same_folder, write_atomic};
pub use hand_over::{Pair, Program, ask_pair, program_state, program_store};
pub use home_folder::Home;
pub use ini::ShopIni;
pub use passwords::Keyring;
pub use stores::{StoreEntry, StoreList};
