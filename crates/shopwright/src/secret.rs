//! Passwords that a person types and passwords that are drawn.

use std::io::{BufRead, IsTerminal, stdin};

use anyhow::{Result, ensure};
use zeroize::Zeroizing;

use crate::say;

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

/// A new password: asked for twice on a terminal, else the first line of stdin.
pub(crate) fn ask_new(whose: &str) -> Result<Zeroizing<String>> {
    let password = if stdin().is_terminal() {
        let first = hidden(&format!("New password of {whose}: "))?;
        let second = hidden("The same again: ")?;
        ensure!(*first == *second, "the two passwords differ; nothing was changed");
        first
    } else {
        line()?
    };
    ensure!(!password.is_empty(), "an empty password is no password; nothing was changed");
    Ok(password)
}

fn line() -> Result<Zeroizing<String>> {
    let mut line = Zeroizing::new(String::new());
    stdin().lock().read_line(&mut line)?;
    Ok(Zeroizing::new(line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Reads a line from the terminal without showing it.
fn hidden(question: &str) -> Result<Zeroizing<String>> {
    say::ask(question);
    let answer = without_echo(line);
    say::note("");
    answer
}

#[cfg(unix)]
fn without_echo<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let before = tcgetattr(stdin())?;
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ECHO);
    tcsetattr(stdin(), OptionalActions::Now, &quiet)?;
    let answer = read();
    tcsetattr(stdin(), OptionalActions::Now, &before)?;
    answer
}

#[cfg(not(unix))]
fn without_echo<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    read()
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
