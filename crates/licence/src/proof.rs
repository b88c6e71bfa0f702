//! What proves to the authority that somebody may have a token.
//!
//! The customer's secret is known to two: the store's engine and the
//! authority. The engine, having let a person in, makes the proof; the person's
//! program carries it to the authority. So no workplace holds the secret, a
//! proof is good for one login on one day only, and the engine asks nobody.

use jiff::civil::Date;

/// Words that keep this use of the secret apart from any other.
const CONTEXT: &str = "shopwright licence proof v1";
/// Fewest characters of a customer's secret.
pub const SHORTEST_SECRET: usize = 16;

/// The proof for a domain, a login and a UTC day, in hexadecimal.
pub fn make(secret: &str, domain: &str, login: &str, day: Date) -> String {
    digest(secret, domain, login, day).to_hex().to_string()
}

/// Whether a proof is right; takes the same time wherever it differs.
pub fn is_right(proof: &str, secret: &str, domain: &str, login: &str, day: Date) -> bool {
    let Ok(given) = blake3::Hash::from_hex(proof.trim()) else { return false };
    // Comparing two of these is constant-time.
    secret.len() >= SHORTEST_SECRET && given == digest(secret, domain, login, day)
}

fn digest(secret: &str, domain: &str, login: &str, day: Date) -> blake3::Hash {
    let key = blake3::derive_key(CONTEXT, secret.trim().as_bytes());
    let mut hasher = blake3::Hasher::new_keyed(&key);
    // Lengths go first, so that no two triples give the same bytes.
    for part in [domain.to_ascii_lowercase().as_str(), login, &day.to_string()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize()
}
