//! Asking a person for a password.

use std::io::{BufRead, IsTerminal, stdin};

use anyhow::{Result, ensure};
use zeroize::Zeroizing;

use crate::output;

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
    output::prompt(question);
    let answer = without_echo(line);
    output::note("");
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
