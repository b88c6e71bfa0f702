//! The authority's pair of keys, written as PASERK: `k4.public.…` and `k4.secret.…`.

use std::fmt;
use std::str::FromStr;

use pasetors::keys::{AsymmetricKeyPair, AsymmetricPublicKey, AsymmetricSecretKey, Generate};
use pasetors::paserk::FormatAsPaserk;
use pasetors::version4::V4;

use crate::LicenceError;

/// The authority's pair of keys.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Checks tokens; stores keep it in their configuration.
    pub public: PublicKey,
    /// Signs tokens; never leaves the authority.
    pub secret: SecretKey,
}

impl Keys {
    /// A new pair.
    pub fn generate() -> Result<Self, LicenceError> {
        let pair = AsymmetricKeyPair::<V4>::generate().map_err(|_| LicenceError::Making)?;
        Ok(Self { public: PublicKey(pair.public), secret: SecretKey(pair.secret) })
    }

    /// The pair of a secret key.
    pub fn of(secret: SecretKey) -> Result<Self, LicenceError> {
        let public =
            AsymmetricPublicKey::try_from(&secret.0).map_err(|_| LicenceError::Key("k4.secret.…"))?;
        Ok(Self { public: PublicKey(public), secret })
    }
}

/// Checks tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicKey(pub(crate) AsymmetricPublicKey<V4>);

impl FromStr for PublicKey {
    type Err = LicenceError;

    fn from_str(text: &str) -> Result<Self, LicenceError> {
        AsymmetricPublicKey::try_from(text.trim()).map(Self).map_err(|_| LicenceError::Key("k4.public.…"))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.0.fmt(&mut text)?;
        f.write_str(&text)
    }
}

/// Signs tokens. It prints as dots; [`SecretKey::reveal`] is for writing it to its file.
#[derive(Clone)]
pub struct SecretKey(pub(crate) AsymmetricSecretKey<V4>);

impl SecretKey {
    /// The key in words.
    pub fn reveal(&self) -> Result<String, LicenceError> {
        let mut text = String::new();
        self.0.fmt(&mut text).map_err(|_| LicenceError::Making)?;
        Ok(text)
    }
}

impl FromStr for SecretKey {
    type Err = LicenceError;

    fn from_str(text: &str) -> Result<Self, LicenceError> {
        AsymmetricSecretKey::try_from(text.trim()).map(Self).map_err(|_| LicenceError::Key("k4.secret.…"))
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}
