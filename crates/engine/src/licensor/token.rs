//! Whether somebody may have a token: the rule, without network or clock.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use licence::{Claims, Keys, proof, sign};
use wire::TokenRequest;

use super::{Customer, LicensorError};
use crate::clock::utc_day;

/// How far the clocks of engines may be off.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_mins(10);

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Denied {
    /// No customer has this domain, or the proof is not made with their secret: the two are not told apart.
    #[error("the proof does not fit the domain, the login and the day")]
    Proof,
    /// The day is neither today nor tomorrow.
    #[error("tokens are given for today and tomorrow (UTC) only")]
    Day,
    /// The licence has ended by then.
    #[error("the licence ended on {0}")]
    Ended(Date),
    /// The login is not licensed.
    #[error("this login is not licensed")]
    Login,
}

/// The token that was request for, or why not.
pub(super) fn token(
    request: &TokenRequest,
    customers: &[Customer],
    keys: &Keys,
    now: Timestamp,
) -> Result<Result<String, Denied>, LicensorError> {
    let claims = match claims(request, customers, now) {
        Ok(claims) => claims,
        Err(denied) => return Ok(Err(denied)),
    };
    Ok(Ok(sign(&claims, &keys.secret)?))
}

fn claims(request: &TokenRequest, customers: &[Customer], now: Timestamp) -> Result<Claims, Denied> {
    let day: Date = request.day.parse().map_err(|_| Denied::Day)?;
    let is_right = |customer: &&Customer| {
        customer.has(&request.domain)
            && proof::is_right(&request.proof, &customer.secret, &request.domain, &request.login, day)
    };
    let customer = customers.iter().find(is_right).ok_or(Denied::Proof)?;
    if !is_near(day, now) {
        return Err(Denied::Day);
    }
    if day > customer.until {
        return Err(Denied::Ended(customer.until));
    }
    if !customer.logins.is_empty() && !customer.logins.contains(&request.login) {
        return Err(Denied::Login);
    }
    Ok(Claims { domain: request.domain.to_ascii_lowercase(), login: request.login.clone(), day })
}

/// Today, tomorrow, or a day that an engine near midnight may still take for today.
fn is_near(day: Date, now: Timestamp) -> bool {
    let first = utc_day(now - CLOCK_TOLERANCE);
    let last = utc_day(now + CLOCK_TOLERANCE).checked_add(1.day());
    last.is_ok_and(|last| first <= day && day <= last)
}
