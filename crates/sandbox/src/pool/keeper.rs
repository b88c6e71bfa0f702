//! The thread that starts workers. A worker ends when the thread that started it does, so that an
//! engine that was killed leaves none behind; a caller's thread may end any time, this one with the pool.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::process::Worker;
use super::queue::{Job, Queue};

/// The thread, which ends with this value.
#[derive(Debug)]
pub(super) struct Keeper {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub(super) fn start(queue: Arc<Queue>) -> io::Result<Self> {
        let jobs = Arc::clone(&queue);
        let thread = thread::Builder::new().name("unit-workers".to_owned()).spawn(move || keep(&jobs))?;
        Ok(Self { queue, thread: Some(thread) })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Starts workers until the pool shuts.
fn keep(queue: &Queue) {
    loop {
        match queue.next_job() {
            Job::Grow => queue.grown(start(queue)),
            Job::Clean => {
                if !queue.cleaned(start(queue)) {
                    queue.wait_for_want();
                }
            }
            Job::Close => return,
        }
    }
}

fn start(queue: &Queue) -> Result<Worker, super::PoolError> {
    Worker::start(queue.config()).inspect_err(|error| tracing::error!("{error}"))
}
