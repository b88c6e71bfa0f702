//! Passwords: Argon2id at rest, checked in a way that tells nothing by its time.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use shop::login::canonical;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wire::Stop;
use zeroize::Zeroizing;

/// A longer password is nobody's: hashing it would only cost time.
const LONGEST: usize = 1024;
/// How many hashes are computed at once; each takes 19 MiB and a core.
const AT_ONCE: usize = 2;

/// Stands in for the hash of a login that does not exist, of the same cost as a real one.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGtub3dzIGl0$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Hashes a password for the users' table.
pub fn hash_password(password: &str) -> Result<String, HashError> {
    if password.is_empty() {
        return Err(HashError::Empty);
    }
    let password = composed(password);
    if password.len() > LONGEST {
        return Err(HashError::TooLong);
    }
    let hash = Argon2::default().hash_password(password.as_bytes()).map_err(|_| HashError::Broke)?;
    Ok(hash.to_string())
}

/// Why a password cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HashError {
    /// It is empty.
    #[error("a password cannot be empty")]
    Empty,
    /// Nobody could sign in with it.
    #[error("a password has at most {LONGEST} bytes")]
    TooLong,
    /// The system gives no random numbers.
    #[error("the password cannot be hashed")]
    Broke,
}

/// Checks passwords, a few at a time.
#[derive(Clone)]
pub(crate) struct Passwords {
    permits: Arc<Semaphore>,
}

impl Passwords {
    pub(crate) fn new() -> Self {
        Self { permits: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Waits for one of the few turns.
    pub(crate) async fn turn(&self) -> Result<PasswordCheck, Stop> {
        Ok(PasswordCheck { _permit: Arc::clone(&self.permits).acquire_owned().await? })
    }
}

/// The turn to check one password; kept until what came of it is written down.
pub(crate) struct PasswordCheck {
    _permit: OwnedSemaphorePermit,
}

impl PasswordCheck {
    /// Whether the password fits the hash. Without a hash the same work is done, for nothing.
    pub(crate) async fn fits(&self, password: Zeroizing<String>, hash: Option<String>) -> Result<bool, Stop> {
        let fits = tokio::task::spawn_blocking(move || {
            let hash = hash.filter(|hash| PasswordHash::new(hash).is_ok());
            is_right(&password, hash.as_deref().unwrap_or(NOBODYS)) && hash.is_some()
        });
        Ok(fits.await?)
    }
}

/// A password in the one spelling in which it is set and checked: keyboards compose letters in their own ways.
fn composed(password: &str) -> Zeroizing<String> {
    Zeroizing::new(canonical(password))
}

/// Whether a password fits a hash; also as it was typed, for one that was set before spelling did not matter.
pub(crate) fn is_right(password: &str, hash: &str) -> bool {
    let composed = composed(password);
    is_right_as_it_is(&composed, hash) || (*composed != password && is_right_as_it_is(password, hash))
}

fn is_right_as_it_is(password: &str, hash: &str) -> bool {
    // The work is the same for a password that is too long to be anybody's.
    let checked = password.get(..LONGEST).unwrap_or(if password.len() > LONGEST { "" } else { password });
    let fits = PasswordHash::new(hash)
        .is_ok_and(|hash| Argon2::default().verify_password(checked.as_bytes(), &hash).is_ok());
    fits && checked.len() == password.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn fits(password: &str, hash: Option<&str>) -> bool {
        let check = Passwords::new().turn().await.unwrap();
        check.fits(Zeroizing::new(password.to_owned()), hash.map(str::to_owned)).await.unwrap()
    }

    #[tokio::test]
    async fn only_the_right_password_fits() {
        let hash = hash_password("correct horse").unwrap();
        let cost = |hash: &str| hash.split('$').take(4).collect::<Vec<_>>().join("$");
        assert_eq!(cost(&hash), cost(NOBODYS), "an unknown login costs the same");
        assert!(PasswordHash::new(NOBODYS).is_ok());
        assert!(fits("correct horse", Some(&hash)).await);
        assert!(!fits("correct horse ", Some(&hash)).await);
        assert!(!fits("", Some(&hash)).await);
        assert!(!fits("anything", None).await);
        assert!(!fits("anything", Some("")).await);
        assert!(!fits("anything", Some("$argon2id$broken")).await);
    }

    #[tokio::test]
    async fn a_password_is_right_however_its_letters_are_composed() {
        let (composed, apart) = ("Ёж-é", "\u{415}\u{308}ж-e\u{301}");
        for set in [composed, apart] {
            let hash = hash_password(set).unwrap();
            assert!(fits(composed, Some(&hash)).await && fits(apart, Some(&hash)).await);
            assert!(!fits("Еж-e", Some(&hash)).await);
        }
        // As builds set it before.
        let old = Argon2::default().hash_password(apart.as_bytes()).unwrap().to_string();
        assert!(fits(apart, Some(&old)).await);
    }

    #[tokio::test]
    async fn a_password_that_is_too_long_is_nobodys() {
        let long = "x".repeat(LONGEST);
        let hash = hash_password(&long).unwrap();
        assert!(fits(&long, Some(&hash)).await);
        assert!(!fits(&format!("{long}y"), Some(&hash)).await);
        assert!(!fits(&"я".repeat(LONGEST), Some(&hash)).await);
        assert_eq!(hash_password(&format!("{long}y")), Err(HashError::TooLong), "so it is not set either");
        assert_eq!(hash_password(""), Err(HashError::Empty));
    }
}
