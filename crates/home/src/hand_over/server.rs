//! The program's side of the hand-over: a Unix domain socket that answers this user only.
//!
//! The pair is given for the store that is open and for no other.
//! See spec: program.md.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::protocol::{Answer, HeldStore, MOST_BYTES, Question};
use crate::files::lock_file;
use crate::{DeskFile, Home, HomeError};

/// Name of the socket.
const SOCKET: &str = "desk.sock";
/// Longest socket path every system takes.
const LONGEST_PATH: usize = 100;
/// Room for an answer.
const ROOM: usize = 4 * 1024;
/// How many ask at once.
const MOST_LINES: usize = 64;
/// How long a question may take to arrive.
const PATIENCE: Duration = Duration::from_secs(5);

/// The bound socket. While it lives, this process holds the home.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    socket: PathBuf,
    _folder: Option<TempDir>,
    _lock: HomeLock,
}

impl Listener {
    /// Path of the socket, for `desk.json`.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.socket);
    }
}

/// The lock that lets one program hold a home; the system frees it when the process ends.
#[derive(Debug)]
struct HomeLock {
    _file: fs::File,
}

/// Takes the home for this process and binds the socket in it.
///
/// A second program on the same home gets [`HomeError::InUse`]. Needs a tokio runtime.
pub fn bind(home: &Home) -> Result<Listener, HomeError> {
    home.make()?;
    let lock = take_lock(home)?;
    let (socket, folder) = socket_path(home)?;
    // The lock is ours, so whatever lies here is left from a program that was killed.
    let _ = fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).map_err(|error| HomeError::io(&socket, error))?;
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))
        .map_err(|error| HomeError::io(&socket, error))?;
    Ok(Listener { listener, socket, _folder: folder, _lock: lock })
}

fn take_lock(home: &Home) -> Result<HomeLock, HomeError> {
    let path = home.path().join("desk.lock");
    let file = lock_file(&path).map_err(|error| HomeError::io(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(HomeLock { _file: file }),
        Err(fs::TryLockError::WouldBlock) => {
            let who = DeskFile::read(home).filter(DeskFile::is_alive);
            Err(HomeError::InUse(who.map(|who| who.told()).unwrap_or_default()))
        }
        Err(fs::TryLockError::Error(error)) => Err(HomeError::io(&path, error)),
    }
}

/// Where the socket goes: the home, or a fresh private folder where that path is too long for a socket.
fn socket_path(home: &Home) -> Result<(PathBuf, Option<TempDir>), HomeError> {
    let inside = home.path().join(SOCKET);
    if inside.as_os_str().len() <= LONGEST_PATH {
        return Ok((inside, None));
    }
    let base = std::env::temp_dir();
    let folder = tempfile::Builder::new()
        .prefix("shopwright-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(&base)
        .map_err(|error| HomeError::io(&base, error))?;
    Ok((folder.path().join(SOCKET), Some(folder)))
}

/// Answers until the future is dropped. `held` tells what the program holds at the moment of asking.
pub async fn serve(listener: Listener, held: impl Fn() -> HeldStore + Send + Sync + 'static) {
    let held = Arc::new(held);
    let lines = Arc::new(Semaphore::new(MOST_LINES));
    loop {
        let Ok(line) = Arc::clone(&lines).acquire_owned().await else {
            return;
        };
        match listener.listener.accept().await {
            Ok((stream, _)) => {
                let held = Arc::clone(&held);
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(PATIENCE, answer(stream, held.as_ref())).await;
                    drop(line);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "The hand-over socket did not accept");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn answer(stream: UnixStream, held: &(impl Fn() -> HeldStore + Sync)) -> std::io::Result<()> {
    let peer = stream.peer_cred()?;
    if peer.uid() != rustix::process::geteuid().as_raw() {
        tracing::warn!(uid = peer.uid(), "Another user of this computer asked for the pair and got nothing");
        return Ok(());
    }
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    BufReader::new(read.take(MOST_BYTES)).read_line(&mut line).await?;
    if line.is_empty() {
        return Ok(());
    }
    let answer = match serde_json::from_str::<Question>(&line) {
        Ok(question) => held().answer(&question),
        Err(_) => Answer::Unknown,
    };
    // With room from the start: growing would leave copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(ROOM));
    serde_json::to_writer(&mut *bytes, &answer)?;
    bytes.push(b'\n');
    write.write_all(&bytes).await
}
