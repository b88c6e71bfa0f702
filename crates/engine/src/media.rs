//! Pictures and other files of the shop's rows: checked when they come, made smaller when they are asked for.
//!
//! What lies below `files/` was looked at by its content, holds no data of the
//! camera and stands upright. Sizes are made once each, by few threads, and kept
//! in a folder of bounded size that may be emptied at any time.

mod add;
mod check;
mod decode;
mod kind;
mod metadata;
mod refused;
mod shelf;
mod sizes;
mod svg;

pub use add::{AddError, NewFile, add, described};
pub use check::{Checked, check};
pub use kind::Kind;
pub use refused::Refused;

pub(crate) use add::hex;
pub(crate) use decode::{Encoding, make};
pub(crate) use shelf::Shelf;
pub(crate) use sizes::{Fit, Size, address, main_address, srcset};
