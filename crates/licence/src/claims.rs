//! What a token claims, and its two ends: signing and checking.

use jiff::civil::Date;
use pasetors::Public;
use pasetors::token::UntrustedToken;
use pasetors::version4::{PublicToken, V4};
use serde::{Deserialize, Serialize};

use crate::{LicenceError, PublicKey, SecretKey};

/// Longer texts are no token of ours.
const LONGEST: usize = 4096;

/// What a token claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Domain of the store.
    pub domain: String,
    /// Login of the person; their agent works under the same.
    pub login: String,
    /// The UTC day it holds on.
    pub day: Date,
}

/// Signs a token.
pub fn sign(claims: &Claims, secret: &SecretKey) -> Result<String, LicenceError> {
    let message = serde_json::to_vec(claims).map_err(|_| LicenceError::Making)?;
    PublicToken::sign(&secret.0, &message, None, None).map_err(|_| LicenceError::Making)
}

/// Checks a token for a domain, a login (where it is known yet) and the days that count as today.
///
/// A token that is signed rightly and names another domain is told apart from the rest.
pub fn check(
    token: &str,
    key: &PublicKey,
    domain: &str,
    login: Option<&str>,
    days: &[Date],
) -> Result<(), LicenceError> {
    let claims = read(token, key)?;
    if !same_domain(&claims.domain, domain) {
        return Err(LicenceError::Domain);
    }
    // One login for all its capitals, as the store takes it.
    let is_same = |login: &str| claims.login.to_lowercase() == login.to_lowercase();
    let fits = login.is_none_or(is_same) && days.contains(&claims.day);
    if fits { Ok(()) } else { Err(LicenceError::Token) }
}

/// Claims of a token whose signature is right.
pub fn read(token: &str, key: &PublicKey) -> Result<Claims, LicenceError> {
    if token.len() > LONGEST {
        return Err(LicenceError::Token);
    }
    let token = UntrustedToken::<Public, V4>::try_from(token.trim()).map_err(|_| LicenceError::Token)?;
    let trusted = PublicToken::verify(&key.0, &token, None, None).map_err(|_| LicenceError::Token)?;
    serde_json::from_str(trusted.payload()).map_err(|_| LicenceError::Token)
}

/// Whether two hosts are the same domain: case, a port and a closing point do not count.
pub fn same_domain(one: &str, other: &str) -> bool {
    let one = bare(one);
    !one.is_empty() && one.eq_ignore_ascii_case(bare(other))
}

fn bare(host: &str) -> &str {
    let host = host.trim();
    let without_port = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(v6),
        None if host.matches(':').count() == 1 => host.split(':').next().unwrap_or(host),
        None => host,
    };
    without_port.strip_suffix('.').unwrap_or(without_port)
}
