//! The other side of the hand-over: asking the running program whether it holds this store, and for the pair.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use zeroize::Zeroizing;

use super::protocol::{Answer, MOST_BYTES, Question};
use crate::files::{resolved, same_folder};
use crate::{Credentials, DeskFile, Home, ShopIni};

/// How long the program may take to answer. See spec: program.md.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the program looks like from a store's side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// It does not run, or has no store open.
    Closed,
    /// It runs on another store.
    Other {
        /// Folder of that store.
        store: PathBuf,
    },
    /// It holds this store and did not answer within a second.
    Silent,
    /// It runs on this store.
    Running {
        /// Whether it has the login-password pair.
        signed_in: bool,
    },
}

/// What the program gave when asked for the pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pair {
    /// The pair.
    Given(Credentials),
    /// It runs on this store and is signed out.
    SignedOut,
    /// It runs on this store and is signed in at another address than the one named.
    OtherAddress,
    /// It runs on another store.
    Other {
        /// Folder of that store.
        store: PathBuf,
    },
    /// It holds this store and did not answer within a second.
    Silent,
    /// It does not run, or has no store open.
    Closed,
}

/// What the program does, seen from `store`; at most a second.
///
/// Signed in means: at the address that the store's `Shop.ini` names now.
pub async fn program_state(home: &Home, store: &Path) -> Program {
    let url = ShopIni::read(store).map(|ini| ini.url).unwrap_or_default();
    match ask(home, store, &Question::State { url }).await {
        Heard::Closed => Program::Closed,
        Heard::Silent => Program::Silent,
        Heard::Other(store) => Program::Other { store },
        Heard::Answer(Answer::State { store: Some(held), signed_in }) if same_folder(&held, store) => {
            Program::Running { signed_in }
        }
        Heard::Answer(Answer::State { store: Some(held), .. }) => Program::Other { store: held },
        Heard::Answer(_) => Program::Closed,
    }
}

/// Asks the program for the login-password pair of `store`, to be sent to `url`; at most a second.
pub async fn ask_pair(home: &Home, store: &Path, url: &str) -> Pair {
    match ask(home, store, &Question::Pair { store: resolved(store), url: url.to_owned() }).await {
        Heard::Closed => Pair::Closed,
        Heard::Silent => Pair::Silent,
        Heard::Other(store) | Heard::Answer(Answer::Other { store: Some(store) }) => Pair::Other { store },
        Heard::Answer(Answer::Pair { login, password }) => Pair::Given(Credentials { login, password }),
        Heard::Answer(Answer::SignedOut) => Pair::SignedOut,
        Heard::Answer(Answer::OtherAddress) => Pair::OtherAddress,
        Heard::Answer(_) => Pair::Closed,
    }
}

/// Folder of the store that the living program holds. Asks nothing: a file is
/// read and the socket touched, so it may precede every call.
pub fn program_store(home: &Home) -> Option<PathBuf> {
    let desk = DeskFile::read(home)?;
    let store = desk.store.as_ref()?;
    (desk.is_alive() && touch(&desk.socket)).then(|| resolved(store))
}

/// Whether somebody listens on the socket; never waits.
#[cfg(unix)]
fn touch(socket: &Path) -> bool {
    use rustix::io::Errno;
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

    let Ok(address) = SocketAddrUnix::new(socket) else {
        return false;
    };
    // A process that others start must not inherit the line.
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let Ok(line) = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None) else {
        return false;
    };
    // A full queue means that the program lives and does not accept.
    matches!(connect(&line, &address), Ok(()) | Err(Errno::AGAIN))
}

#[cfg(not(unix))]
fn touch(_socket: &Path) -> bool {
    true
}

enum Heard {
    Closed,
    Silent,
    Other(PathBuf),
    Answer(Answer),
}

async fn ask(home: &Home, store: &Path, question: &Question) -> Heard {
    let Some(desk) = DeskFile::read(home).filter(DeskFile::is_alive) else {
        return Heard::Closed;
    };
    let answer = tokio::time::timeout(PATIENCE, exchange(&desk.socket, question)).await;
    match (answer, desk.store) {
        (Ok(Some(answer)), _) => Heard::Answer(answer),
        (Ok(None), _) | (Err(_), None) => Heard::Closed,
        (Err(_), Some(held)) if same_folder(&held, store) => Heard::Silent,
        (Err(_), Some(held)) => Heard::Other(held),
    }
}

/// One line there, one line back; `None` where nobody of ours listens.
#[cfg(unix)]
async fn exchange(socket: &Path, question: &Question) -> Option<Answer> {
    let mut stream = match tokio::net::UnixStream::connect(socket).await {
        Ok(stream) => stream,
        // A full queue: somebody listens and does not accept, which is silence.
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => std::future::pending().await,
        Err(_) => return None,
    };
    // Whoever else listens there is not the program.
    if stream.peer_cred().ok()?.uid() != rustix::process::geteuid().as_raw() {
        return None;
    }
    let mut line = serde_json::to_string(question).ok()?;
    line.push('\n');
    stream.write_all(line.as_bytes()).await.ok()?;
    let answer = read_line(stream.take(MOST_BYTES)).await.ok()?;
    serde_json::from_slice(&answer).ok()
}

/// The line that comes, in a buffer that is wiped and has room from the start: growing would leave copies.
#[cfg(unix)]
async fn read_line(mut from: impl AsyncRead + Unpin) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let mut line = Zeroizing::new(Vec::with_capacity(usize::try_from(MOST_BYTES).unwrap_or_default() + 1));
    while from.read_buf(&mut *line).await? > 0 {
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            line.truncate(end);
            break;
        }
    }
    Ok(line)
}

#[cfg(not(unix))]
async fn exchange(_socket: &Path, _question: &Question) -> Option<Answer> {
    None
}

#[cfg(test)]
mod tests;
