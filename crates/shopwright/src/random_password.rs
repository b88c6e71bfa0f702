//! Passwords that are drawn by chance.

use anyhow::Result;

/// Letters and digits without those that look alike.
const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz123456789";
/// Letters of a drawn password: 16 of 5 bits each.
const LENGTH: usize = 16;

/// A password for a new person: 80 random bits, in groups that can be read aloud.
pub(crate) fn draw() -> Result<String> {
    let mut bytes = [0u8; LENGTH];
    getrandom::fill(&mut bytes)?;
    let mut password = String::with_capacity(LENGTH + 3);
    for (count, byte) in bytes.iter().enumerate() {
        if count > 0 && count % 4 == 0 {
            password.push('-');
        }
        password.push(char::from(ALPHABET[usize::from(byte % 32)]));
    }
    Ok(password)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn drawn_passwords_are_long_and_differ() {
        let drawn: BTreeSet<String> = (0..100).map(|_| super::draw().unwrap()).collect();
        assert_eq!(drawn.len(), 100);
        assert!(drawn.iter().all(|password| password.len() == 19));
    }

    #[test]
    fn no_letter_is_drawn_twice_as_often() {
        let letters: BTreeSet<u8> = super::ALPHABET.iter().copied().collect();
        assert_eq!(letters.len(), 32);
    }
}
