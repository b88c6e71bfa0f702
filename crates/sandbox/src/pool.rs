//! The pool of worker processes: warm, one call each at a time, replaced when anything is wrong.

mod keeper;
mod process;
mod queue;
mod session;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use session::{Host, Session};

use crate::analysis::{Analysis, SyntaxError};
use crate::call::Compiled;
use crate::message::{Fault, FromWorker, ToWorker};
use crate::protection::Protection;

use keeper::Keeper;
use process::Worker;
use queue::Queue;

/// The longest source that is compiled.
const SOURCE: usize = 1 << 20;

/// How long a worker may take to compile or analyse a module.
const COMPILING: Duration = Duration::from_secs(5);

/// The longest answer to that, and the memory it may take.
const COMPILED: u64 = 32 << 20;

/// What the pool is made of.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// The program that is a worker when it is started with `args`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// How many workers there may be.
    pub workers: usize,
    /// How many are started at once and kept ready.
    pub warm: usize,
    /// How many callers may wait for one.
    pub waiting: usize,
    /// How long a caller waits.
    pub wait: Duration,
    /// How long past its time a call's worker may go on, and be silent, before it is killed.
    pub grace: Duration,
    /// After how many calls a worker is replaced.
    pub recycle: u32,
    /// Host calls that are functions of `shop` as they are: `select` is `shop.select(…)`, `cart.add` is
    /// `shop.cart.add(…)`.
    pub functions: Vec<String>,
    /// Source of a module whose default export is called with `shop` (before it is frozen) and
    /// `host(name, …args)`, and adds what is more than a host call. Empty for none.
    pub facade: String,
}

impl PoolConfig {
    /// The usual pool around this program.
    #[must_use]
    pub fn new(program: PathBuf, args: Vec<OsString>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self {
            program,
            args,
            workers: (cores * 2).max(4),
            warm: cores,
            waiting: 1_000,
            wait: Duration::from_secs(10),
            grace: Duration::from_millis(500),
            recycle: 20_000,
            functions: Vec::new(),
            facade: String::new(),
        }
    }
}

/// Why there is no worker.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PoolError {
    /// All workers are taken, and too many callers wait or this one waited too long.
    #[error("all workers for units are taken")]
    Busy,
    /// No worker could be started.
    #[error("no worker for units could be started: {0}")]
    Start(String),
    /// The worker died or did not answer in time.
    #[error("the worker was lost: {0}")]
    Lost(String),
    /// The pool is shut.
    #[error("the pool of workers is shut")]
    Closed,
}

/// Why a module is not compiled.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CompileError {
    /// The source is wrong.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// There is no worker to compile it.
    #[error(transparent)]
    Pool(#[from] PoolError),
}

/// How many workers there are, and who waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolCount {
    /// Workers that live, those being started among them.
    pub live: usize,
    /// Workers that wait for a call.
    pub idle: usize,
    /// Callers that wait for a worker.
    pub waiting: usize,
    /// Workers started since the pool was.
    pub started: u64,
    /// Workers that were lost or had to be killed.
    pub lost: u64,
}

/// A pool of warm workers.
#[derive(Debug)]
pub struct Pool {
    queue: Arc<Queue>,
    /// Ends with the pool, and all workers with it.
    _keeper: Keeper,
    protection: Protection,
    /// One module is compiled at a time.
    compiling: Mutex<()>,
}

impl Pool {
    /// Starts the pool and its first workers.
    ///
    /// # Errors
    /// If a worker cannot be started, or the facade has a mistake.
    pub fn start(config: PoolConfig) -> Result<Self, PoolError> {
        let queue = Arc::new(Queue::new(config));
        let keeper =
            Keeper::start(Arc::clone(&queue)).map_err(|error| PoolError::Start(error.to_string()))?;
        queue.warm_up();
        let first = queue.take_first()?;
        let protection = first.protection().clone();
        queue.give(first);
        if protection.is_whole() {
            tracing::info!(protection = %protection, "Units run in workers shut in by: {protection}");
        } else {
            tracing::warn!(protection = %protection, "Units run in workers shut in only by: {protection}");
        }
        Ok(Self { queue, _keeper: keeper, protection, compiling: Mutex::new(()) })
    }

    /// What shuts the workers in.
    #[must_use]
    pub fn report(&self) -> &Protection {
        &self.protection
    }

    /// How many workers there are just now.
    #[must_use]
    pub fn count(&self) -> PoolCount {
        self.queue.count()
    }

    /// Takes a warm worker for as long as `f` runs. It is given back afterwards, or replaced if
    /// anything was wrong with it.
    ///
    /// # Errors
    /// If there is none to be had.
    pub fn with_session<T>(&self, f: impl FnOnce(&mut Session<'_>) -> T) -> Result<T, PoolError> {
        let mut taken = Taken { queue: &self.queue, worker: Some(self.queue.take()?) };
        let config = self.queue.config();
        let Some(worker) = taken.worker.as_mut() else { return Err(PoolError::Closed) };
        let result = f(&mut Session::new(worker, config));
        taken.give_back();
        Ok(result)
    }

    /// Compiles a module, in a worker that never ran a unit and never will: whoever took over a worker
    /// could otherwise put their own into a module of somebody else.
    ///
    /// # Errors
    /// If the source is wrong, or no worker could compile it.
    pub fn compile(&self, name: &str, source: &str) -> Result<Compiled, CompileError> {
        check(name, source)?;
        let _one_at_a_time = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        let mut worker = self.queue.take_clean()?;
        let message = ToWorker::Compile { name: name.to_owned(), source: source.to_owned() };
        match ask(&mut worker, &message)? {
            FromWorker::Compiled { bytecode, imports, exports } => Ok(Compiled {
                name: name.to_owned(),
                bytecode: bytecode.into(),
                imports,
                exports,
                hash: hash(name, source),
            }),
            FromWorker::Syntax(error) => Err(SyntaxError { unit: name.to_owned(), ..error }.into()),
            _ => Err(PoolError::Lost("it answered something else".to_owned()).into()),
        }
    }

    /// Tells what a module's source says of itself, without running it.
    ///
    /// # Errors
    /// If the source is wrong, or no worker could read it.
    pub fn analyse(&self, name: &str, source: &str) -> Result<Analysis, CompileError> {
        check(name, source)?;
        let mut taken = Taken { queue: &self.queue, worker: Some(self.queue.take()?) };
        let Some(worker) = taken.worker.as_mut() else { return Err(PoolError::Closed.into()) };
        let message = ToWorker::Analyse { name: name.to_owned(), source: source.to_owned() };
        let result = match ask(worker, &message).map_err(|_| too_deep(name))? {
            FromWorker::Analysis(analysis) => Ok(*analysis),
            FromWorker::Syntax(error) => Err(SyntaxError { unit: name.to_owned(), ..error }.into()),
            _ => {
                worker.suspect("it answered an analysis with something else");
                Err(PoolError::Lost("it answered something else".to_owned()).into())
            }
        };
        taken.give_back();
        result
    }
}

/// A worker taken from the pool. Whatever ends its use too early, a panic among it, has it replaced.
struct Taken<'p> {
    queue: &'p Queue,
    worker: Option<Worker>,
}

impl Taken<'_> {
    fn give_back(mut self) {
        if let Some(worker) = self.worker.take() {
            self.queue.give(worker);
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            worker.suspect("its call was given up");
            self.queue.give(worker);
        }
    }
}

/// A source that compiles can still be more than the analysis bears, which follows each operator of a
/// formula to the next: some hundred thousand in one line cost it its worker.
fn too_deep(name: &str) -> SyntaxError {
    let text = "it cannot be analysed: its formulas are too long".to_owned();
    SyntaxError { unit: name.to_owned(), line: 1, column: 1, text }
}

/// Asks a worker for something that is no call.
fn ask(worker: &mut Worker, message: &ToWorker) -> Result<FromWorker, PoolError> {
    let until = Instant::now() + COMPILING;
    let asked = worker.send(message).and_then(|()| worker.receive(COMPILED, COMPILED, Some(until)));
    asked.map_err(|fault: Fault| PoolError::Lost(worker.lost(&fault)))
}

/// Refuses what is not worth a worker's time. Names of our own modules begin with `sandbox/`.
fn check(name: &str, source: &str) -> Result<(), SyntaxError> {
    let wrong = |text: String| Err(SyntaxError { unit: name.to_owned(), line: 1, column: 1, text });
    if name.is_empty()
        || name.len() > 200
        || name.starts_with("sandbox/")
        || name.contains(['\0', '\n', '(', ')'])
    {
        return wrong(format!("`{name}` is no name for a module"));
    }
    if source.len() > SOURCE {
        return wrong(format!("the source has {} bytes; the most is {SOURCE}", source.len()));
    }
    match source.find('\0') {
        Some(_) => wrong("the source has a zero byte".to_owned()),
        None => Ok(()),
    }
}

/// The hash of a module's name and source.
fn hash(name: &str, source: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(name.as_bytes());
    hasher.update(&[0]);
    hasher.update(source.as_bytes());
    *hasher.finalize().as_bytes()
}
