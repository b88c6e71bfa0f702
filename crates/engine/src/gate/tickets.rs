//! Sign-in tickets: opaque to the caller, kept as a hash.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use wire::Fault;

/// Kind of the tickets for the agent's endpoint.
pub(crate) const AGENT: &str = "agent";
/// Kind of the tickets for the program's endpoint.
pub(crate) const PROGRAM: &str = "program";

/// Random bytes of a ticket.
const BYTES: usize = 32;

/// A new ticket and the hash that is kept of it.
pub(crate) fn new_ticket() -> Result<(String, [u8; 32]), Fault> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).map_err(|_| Fault::new("no random numbers"))?;
    let ticket = URL_SAFE_NO_PAD.encode(random);
    let hash = hash(&ticket);
    Ok((ticket, hash))
}

/// The hash under which a ticket is kept.
///
/// A plain hash is enough: a ticket holds 256 random bits, there is nothing to guess.
pub(crate) fn hash(ticket: &str) -> [u8; 32] {
    *blake3::hash(ticket.as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn tickets_are_long_unlike_and_safe_in_headers() {
        let tickets: BTreeSet<String> = (0..100).map(|_| new_ticket().unwrap().0).collect();
        assert_eq!(tickets.len(), 100);
        for ticket in tickets {
            assert_eq!(ticket.len(), 43);
            assert!(ticket.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        }
    }
}
