//! Requests that wait for their answer.
//!
//! Each request gets a number of ours, so that the protocol crate always sees
//! distinct whole numbers, whatever the host uses: strings, big numbers, or the
//! same id twice. Answers go out under the host's own id, in batches where the
//! request came in one.

use std::collections::HashMap;

use serde_json::Value;

/// Requests that wait for their answer.
#[derive(Default)]
pub(crate) struct PendingRequests {
    last: i64,
    waiting: HashMap<i64, Waiting>,
    batches: HashMap<u64, Batch>,
    last_batch: u64,
}

struct Waiting {
    id: Value,
    batch: Option<u64>,
}

#[derive(Default)]
struct Batch {
    waiting: usize,
    answers: Vec<Vec<u8>>,
}

impl PendingRequests {
    /// Registers a request; the number it is known by inside.
    pub(crate) fn open(&mut self, id: Value, batch: Option<u64>) -> i64 {
        self.last += 1;
        if let Some(batch) = batch.and_then(|batch| self.batches.get_mut(&batch)) {
            batch.waiting += 1;
        }
        self.waiting.insert(self.last, Waiting { id, batch });
        self.last
    }

    /// Opens a batch. It is held open until [`PendingRequests::seal`].
    pub(crate) fn open_batch(&mut self) -> u64 {
        self.last_batch += 1;
        self.batches.insert(self.last_batch, Batch { waiting: 1, answers: Vec::new() });
        self.last_batch
    }

    /// Adds a ready answer to a batch.
    pub(crate) fn add(&mut self, batch: u64, answer: Vec<u8>) {
        if let Some(batch) = self.batches.get_mut(&batch) {
            batch.answers.push(answer);
        }
    }

    /// Every message of the batch is registered; the bytes to send, where nothing is waited for.
    pub(crate) fn seal(&mut self, batch: u64) -> Option<Vec<u8>> {
        self.settle(batch, None)
    }

    /// The request's answer is known; the bytes to send now. `member` makes the answer out of the host's id.
    pub(crate) fn close(&mut self, number: i64, member: impl FnOnce(&Value) -> Vec<u8>) -> Option<Vec<u8>> {
        let waiting = self.waiting.remove(&number)?;
        let answer = member(&waiting.id);
        match waiting.batch {
            None => Some(answer),
            Some(batch) => self.settle(batch, Some(answer)),
        }
    }

    /// The host gave up on this id: the numbers it stands for, and batches that are complete without them.
    pub(crate) fn cancel(&mut self, id: &Value) -> (Vec<i64>, Vec<Vec<u8>>) {
        let numbers: Vec<i64> =
            self.waiting.iter().filter(|(_, waiting)| waiting.id == *id).map(|(number, _)| *number).collect();
        let mut complete = Vec::new();
        for number in &numbers {
            let batch = self.waiting.remove(number).and_then(|waiting| waiting.batch);
            complete.extend(batch.and_then(|batch| self.settle(batch, None)));
        }
        (numbers, complete)
    }

    fn settle(&mut self, number: u64, answer: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let batch = self.batches.get_mut(&number)?;
        batch.answers.extend(answer);
        batch.waiting -= 1;
        if batch.waiting > 0 {
            return None;
        }
        let answers = self.batches.remove(&number)?.answers;
        // A batch of nothing but notifications has no answer.
        (!answers.is_empty()).then(|| {
            let mut bytes = vec![b'['];
            bytes.extend(answers.join(&b','));
            bytes.push(b']');
            bytes
        })
    }
}

#[cfg(test)]
mod tests;
