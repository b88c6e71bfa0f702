//! Asking a person for a password.

use std::io::{BufRead, IsTerminal, stdin};

use anyhow::{Result, anyhow, ensure};
use zeroize::Zeroizing;

use crate::{output, signal};

/// A new password: asked for twice on a terminal, else the first line of stdin.
pub(crate) fn ask_new(whose: &str) -> Result<Zeroizing<String>> {
    let password = if stdin().is_terminal() {
        let typed = typed_twice(whose);
        signal::end_when_asked()?;
        typed?
    } else {
        line()?
    };
    ensure!(!password.is_empty(), "an empty password is no password; nothing was changed");
    Ok(password)
}

fn typed_twice(whose: &str) -> Result<Zeroizing<String>> {
    let first = hidden(&format!("New password of {whose}: "))?;
    let second = hidden("The same again: ")?;
    ensure!(*first == *second, "the two passwords differ; nothing was changed");
    Ok(first)
}

/// The first line of stdin. A byte order mark before it, as some editors and shells write one, is no part of it.
fn line() -> Result<Zeroizing<String>> {
    let mut line = Zeroizing::new(String::new());
    stdin().lock().read_line(&mut line)?;
    let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
    Ok(Zeroizing::new(line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Reads a line from the terminal without showing it.
fn hidden(question: &str) -> Result<Zeroizing<String>> {
    let question = question.to_owned();
    // Asked when nothing is shown any more: whoever types at once is not seen either.
    let answer = without_echo(move || {
        output::prompt(&question);
        line()
    });
    output::note("");
    answer
}

/// Reads with the terminal's echo off. Whatever ends the reading, also Ctrl-C, the echo comes back.
#[cfg(unix)]
fn without_echo(
    read: impl FnOnce() -> Result<Zeroizing<String>> + Send + 'static,
) -> Result<Zeroizing<String>> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let before = tcgetattr(stdin())?;
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ECHO);
    let answer = runtime.block_on(async {
        // Heard from here on: a signal ends nothing while the echo is off.
        let stop = signal::asked_to_stop()?;
        tcsetattr(stdin(), OptionalActions::Now, &quiet)?;
        tokio::select! {
            answer = tokio::task::spawn_blocking(read) => answer?,
            () = stop => Err(anyhow!("stopped; nothing was changed")),
        }
    });
    tcsetattr(stdin(), OptionalActions::Now, &before)?;
    // A thread may still wait for a line; the process ends without it.
    runtime.shutdown_background();
    answer
}

#[cfg(not(unix))]
fn without_echo(
    read: impl FnOnce() -> Result<Zeroizing<String>> + Send + 'static,
) -> Result<Zeroizing<String>> {
    read()
}
