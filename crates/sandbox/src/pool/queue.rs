//! Who has a worker, who waits for one, and how many there are.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::process::Worker;
use super::{PoolConfig, PoolCount, PoolError};

/// How long the start of a worker may be waited for.
const STARTING: Duration = Duration::from_secs(30);

/// The workers and those who wait for them.
#[derive(Debug)]
pub(super) struct Queue {
    config: PoolConfig,
    state: Mutex<State>,
    /// Told when there is something to start, or the pool shuts.
    keeper: Condvar,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Worker>,
    waiting: VecDeque<Arc<Waiter>>,
    /// Workers that live or are being started, those that compile not among them.
    live: usize,
    /// Workers to be started for calls.
    to_start: usize,
    /// Those who wait for a worker that never ran anything.
    clean: VecDeque<Arc<Waiter>>,
    /// One such, ready.
    spare: Option<Worker>,
    started: u64,
    lost: u64,
    closed: bool,
}

/// One who waits, and what they get.
#[derive(Debug, Default)]
struct Waiter {
    got: Mutex<Option<Result<Worker, PoolError>>>,
    told: Condvar,
}

impl Waiter {
    fn tell(&self, got: Result<Worker, PoolError>) {
        *lock(&self.got) = Some(got);
        self.told.notify_one();
    }

    fn wait(&self, until: Instant) -> Option<Result<Worker, PoolError>> {
        let mut got = lock(&self.got);
        while got.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            got = self.told.wait_timeout(got, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        got.take()
    }
}

/// What the keeper is to do.
pub(super) enum Job {
    /// Start a worker for calls.
    Grow,
    /// Start a worker for one who waits for a clean one, or as the spare.
    Clean,
    /// End.
    Close,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    pub(super) fn new(config: PoolConfig) -> Self {
        Self { config, state: Mutex::default(), keeper: Condvar::new() }
    }

    pub(super) fn config(&self) -> &PoolConfig {
        &self.config
    }

    /// Has the first workers started.
    pub(super) fn warm_up(&self) {
        let mut state = lock(&self.state);
        let first = self.config.warm.clamp(1, self.most());
        state.live += first;
        state.to_start += first;
        self.keeper.notify_one();
    }

    fn most(&self) -> usize {
        self.config.workers.max(1)
    }

    /// Takes a worker, waiting in order if there is none.
    pub(super) fn take(&self) -> Result<Worker, PoolError> {
        self.take_within(self.config.wait)
    }

    /// Takes the first worker, however long callers may wait later.
    pub(super) fn take_first(&self) -> Result<Worker, PoolError> {
        self.take_within(self.config.wait + STARTING)
    }

    fn take_within(&self, patience: Duration) -> Result<Worker, PoolError> {
        let waiter = {
            let mut state = lock(&self.state);
            if state.closed {
                return Err(PoolError::Closed);
            }
            while let Some(mut worker) = state.idle.pop() {
                if !worker.is_dead() {
                    return Ok(worker);
                }
                state.live -= 1;
                state.lost += 1;
            }
            if state.waiting.len() >= self.config.waiting.max(1) {
                return Err(PoolError::Busy);
            }
            let waiter = Arc::new(Waiter::default());
            state.waiting.push_back(Arc::clone(&waiter));
            self.grow(&mut state);
            waiter
        };
        let until = Instant::now() + patience;
        if let Some(got) = waiter.wait(until) {
            return got;
        }
        lock(&self.state).waiting.retain(|other| !Arc::ptr_eq(other, &waiter));
        // It may have been told between the end of its patience and its leaving the queue.
        lock(&waiter.got).take().unwrap_or(Err(PoolError::Busy))
    }

    /// Takes a worker that never ran anything, and that nobody else will use.
    pub(super) fn take_clean(&self) -> Result<Worker, PoolError> {
        let waiter = Arc::new(Waiter::default());
        {
            let mut state = lock(&self.state);
            if state.closed {
                return Err(PoolError::Closed);
            }
            // The next one is being made while this one works.
            self.keeper.notify_one();
            if let Some(mut worker) = state.spare.take()
                && !worker.is_dead()
            {
                return Ok(worker);
            }
            state.clean.push_back(Arc::clone(&waiter));
        }
        let got = waiter.wait(Instant::now() + self.config.wait + STARTING);
        got.unwrap_or(Err(PoolError::Busy))
    }

    /// Has workers started for those who wait, as far as there may be more.
    fn grow(&self, state: &mut State) {
        while state.to_start < state.waiting.len() && state.live < self.most() {
            state.live += 1;
            state.to_start += 1;
        }
        while state.live < self.config.warm.min(self.most()) && !state.closed {
            state.live += 1;
            state.to_start += 1;
        }
        self.keeper.notify_one();
    }

    /// Gives a worker back; one that is not fit any more is ended and replaced.
    pub(super) fn give(&self, mut worker: Worker) {
        if worker.is_fit(self.config.recycle) {
            self.offer(worker);
            return;
        }
        let suspect = worker.is_suspect() || worker.is_dead();
        drop(worker);
        let mut state = lock(&self.state);
        state.live -= 1;
        state.lost += u64::from(suspect);
        self.grow(&mut state);
    }

    /// Hands a fit worker to who waits longest, or lays it by.
    fn offer(&self, worker: Worker) {
        let mut state = lock(&self.state);
        if state.closed {
            return;
        }
        match state.waiting.pop_front() {
            Some(waiter) => waiter.tell(Ok(worker)),
            None => state.idle.push(worker),
        }
    }

    /// What there is to do for the keeper; waits for it.
    pub(super) fn next_job(&self) -> Job {
        let mut state = lock(&self.state);
        loop {
            if state.closed {
                return Job::Close;
            }
            if state.to_start > 0 {
                state.to_start -= 1;
                return Job::Grow;
            }
            if !state.clean.is_empty() || state.spare.is_none() {
                return Job::Clean;
            }
            state = self.keeper.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes in a worker that was started for calls, or that it could not be.
    pub(super) fn grown(&self, started: Result<Worker, PoolError>) {
        match started {
            Ok(worker) => {
                lock(&self.state).started += 1;
                self.offer(worker);
            }
            Err(error) => {
                let mut state = lock(&self.state);
                state.live -= 1;
                // Whoever waits while others work gets one of theirs.
                if state.live == 0 {
                    for waiter in state.waiting.drain(..) {
                        waiter.tell(Err(error.clone()));
                    }
                }
            }
        }
    }

    /// Takes in a clean worker, or that it could not be started. Tells whether it could.
    pub(super) fn cleaned(&self, started: Result<Worker, PoolError>) -> bool {
        let mut state = lock(&self.state);
        let could = started.is_ok();
        state.started += u64::from(could);
        match (state.clean.pop_front(), started) {
            (Some(waiter), started) => waiter.tell(started),
            (None, Ok(worker)) => state.spare = Some(worker),
            (None, Err(_)) => {}
        }
        could
    }

    /// Waits until somebody wants something, after a start that failed.
    pub(super) fn wait_for_want(&self) {
        let mut state = lock(&self.state);
        while !state.closed && state.to_start == 0 && state.clean.is_empty() {
            state = self.keeper.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Shuts the pool: who waits is told, idle workers end.
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        for waiter in state.waiting.drain(..) {
            waiter.tell(Err(PoolError::Closed));
        }
        for waiter in state.clean.drain(..) {
            waiter.tell(Err(PoolError::Closed));
        }
        state.idle.clear();
        state.spare = None;
        self.keeper.notify_all();
    }

    pub(super) fn count(&self) -> PoolCount {
        let state = lock(&self.state);
        PoolCount {
            live: state.live,
            idle: state.idle.len(),
            waiting: state.waiting.len(),
            started: state.started,
            lost: state.lost,
        }
    }
}
