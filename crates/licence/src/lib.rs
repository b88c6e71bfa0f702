//! The licence token: its form, signing, checking.
//!
//! A token says: this login may work with the store of this domain on this
//! UTC day. It is a PASETO `v4.public` token, signed by the licence authority
//! and checked by the engine without asking anybody. What proves to the
//! authority that somebody may have a token is a [`proof`], made by the engine.
//! Nothing here reads a clock or the network.

mod claims;
mod error;
mod keys;
pub mod proof;

pub use claims::{Claims, check, read, same_domain, sign};
pub use error::LicenceError;
pub use keys::{Keys, PublicKey, SecretKey};

#[cfg(test)]
mod tests;
