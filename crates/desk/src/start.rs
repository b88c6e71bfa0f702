//! Starting the program and stopping it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use home::hand_over::{self, Listener};
use home::{Credentials, DeskFile, Home, HomeError, ShopIni, StoreEntry};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::background;
use crate::console::{self, Console, Limits, Secrets};
use crate::program::Program;

/// How long the start waits for the first sign-in before it goes on in the background.
const FIRST_SIGN_IN: Duration = Duration::from_secs(3);
/// How long open pages may take to finish when the program stops.
const LAST_PAGES: Duration = Duration::from_millis(500);

/// The program.
#[derive(Debug)]
pub struct Desk;

/// How the program starts.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the console listens: a loopback address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The store to open; without it the one that was opened last.
    pub open_store: Option<PathBuf>,
    /// The pair to sign in with; without it the saved one.
    pub credentials: Option<Credentials>,
}

/// Why the program did not start.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// The console is for this computer only.
    #[error("the console listens on this computer only, and {0} is not a loopback address")]
    NotLoopback(SocketAddr),
    /// The home cannot be used, or another program holds it.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The console's port cannot be taken.
    #[error("the console cannot listen at {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The named folder is not a store's.
    #[error("`{}` is not a store folder: Shop.ini: {why}", folder.display())]
    NoStore {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with its `Shop.ini`.
        why: String,
    },
    /// A part of the program itself is broken.
    #[error("the program is damaged: {0}")]
    Damaged(String),
}

/// The running program; [`RunningDesk::stop`] ends it in order, dropping it at once.
#[derive(Debug)]
pub struct RunningDesk {
    address: SocketAddr,
    console_url: String,
    home: Home,
    stop: Option<oneshot::Sender<()>>,
    console: JoinHandle<()>,
    others: Vec<JoinHandle<()>>,
}

impl Desk {
    /// Takes the home, opens the store, starts the console, signs in where the pair is known.
    pub async fn start(home: Home, options: Options) -> Result<RunningDesk, DeskError> {
        if !options.listen.ip().is_loopback() {
            return Err(DeskError::NotLoopback(options.listen));
        }
        let socket = hand_over::bind(&home)?;
        let listener = listen(options.listen).await?;
        let address =
            listener.local_addr().map_err(|source| DeskError::Listen { address: options.listen, source })?;
        let secrets = Secrets::draw().map_err(|error| DeskError::Damaged(error.to_string()))?;
        let console_url = format!("http://{address}/start?secret={}", secrets.start());
        let binary = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("shopwright"));
        let address_told = format!("http://{address}/");
        let program = Arc::new(Program::new(home.clone(), binary, socket.socket().to_owned(), address_told));
        let console = Console::new(Arc::clone(&program), secrets, address).map_err(DeskError::Damaged)?;
        open(&program, options.open_store.as_deref())?;
        let (stop, stopped) = oneshot::channel();
        let running = RunningDesk {
            address,
            console_url,
            home,
            stop: Some(stop),
            console: tokio::spawn(console::serve(console, listener, Limits::of_this_process(), stopped)),
            others: vec![hand_over(socket, &program), tokio::spawn(background::run(Arc::clone(&program)))],
        };
        first_sign_in(program, options.credentials).await;
        Ok(running)
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, DeskError> {
    TcpListener::bind(address).await.map_err(|source| DeskError::Listen { address, source })
}

fn hand_over(listener: Listener, program: &Arc<Program>) -> JoinHandle<()> {
    let program = Arc::clone(program);
    tokio::spawn(hand_over::serve(listener, move || program.held()))
}

/// Opens the named store, or the one that was opened last.
fn open(program: &Program, named: Option<&Path>) -> Result<(), DeskError> {
    let list = program.stores()?;
    let entry = match (named, &list.last) {
        (Some(folder), _) => match list.find(folder) {
            Some(entry) => Some(entry.clone()),
            None => Some(newcomer(folder)?),
        },
        (None, Some(last)) => list.find(last).cloned(),
        (None, None) => None,
    };
    match entry {
        Some(entry) => program.open(&entry)?,
        None => program.announce()?,
    }
    Ok(())
}

/// A store that the list does not have yet, but whose folder has a connection.
fn newcomer(folder: &Path) -> Result<StoreEntry, DeskError> {
    let ini = ShopIni::read(folder)
        .map_err(|error| DeskError::NoStore { folder: folder.to_owned(), why: error.to_string() })?;
    let name = if ini.name.is_empty() { ini.url } else { ini.name };
    Ok(StoreEntry { name, folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()) })
}

/// Signs in with the given or the saved pair; a slow engine is waited for in the background.
async fn first_sign_in(program: Arc<Program>, given: Option<Credentials>) {
    let attempt = tokio::spawn(async move {
        match given {
            Some(pair) => program.take(pair),
            None => program.recall().await,
        }
        program.resume().await;
    });
    let _ = tokio::time::timeout(FIRST_SIGN_IN, attempt).await;
}

impl RunningDesk {
    /// Where the console listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The console's address with the secret of this start: whoever has it may use the console.
    pub fn console_url(&self) -> String {
        self.console_url.clone()
    }

    /// Stops: open pages finish, the socket and `desk.json` go.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        let _ = tokio::time::timeout(LAST_PAGES, &mut self.console).await;
        self.end();
        for task in self.others.drain(..) {
            let _ = task.await;
        }
    }

    fn end(&self) {
        // First the file: whoever reads it must not find a program that has gone.
        DeskFile::remove(&self.home);
        self.console.abort();
        for task in &self.others {
            task.abort();
        }
    }
}

impl Drop for RunningDesk {
    fn drop(&mut self) {
        self.end();
    }
}
