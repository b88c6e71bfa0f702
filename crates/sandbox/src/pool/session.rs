//! Calls in one worker, one in another at most.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::PoolConfig;
use super::process::Worker;
use crate::call::{Call, CallError, HostError, Limit, Place};
use crate::message::{Fault, FromWorker, Request, ToWorker};
use crate::value::Value;

/// What a message has beside the values that the output limit counts.
const SLACK: u64 = 64 << 10;

/// The deepest nesting there is, whatever a call's limits say: the worker's stack is made for it.
const DEEPEST: u32 = 16;

/// How many messages are waited for after the end of the time and the grace.
const LATE: u32 = 3;

/// Answers what a script asks.
pub trait Host {
    /// Answers one host call. `session` lets it run another unit in the same worker, in a context of
    /// its own, so that units that call units never wait for a place in the pool.
    ///
    /// # Errors
    /// The script gets it as an exception; a fatal one ends the call.
    fn call(&mut self, session: &mut Session<'_>, name: &str, args: Vec<Value>) -> Result<Value, HostError>;
}

/// A worker taken for calls, which may lie in each other.
#[derive(Debug)]
pub struct Session<'p> {
    worker: &'p mut Worker,
    config: &'p PoolConfig,
    level: u32,
    /// When the call around this one must be over.
    until: Option<Instant>,
    /// What happened to the worker.
    lost: Option<String>,
}

impl<'p> Session<'p> {
    pub(super) fn new(worker: &'p mut Worker, config: &'p PoolConfig) -> Self {
        Self { worker, config, level: 0, until: None, lost: None }
    }

    /// Number of the worker's process.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.worker.process_id()
    }

    /// How many calls lie in each other just now.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.level
    }

    /// Calls a function; `host` answers what its script asks meanwhile.
    ///
    /// # Errors
    /// If the call has no value, whatever the cause.
    pub fn call(&mut self, call: &Call, host: &mut dyn Host) -> Result<Value, CallError> {
        let Some(entry) = call.modules.first() else {
            return Err(CallError::NoModule { unit: String::new(), name: String::new() });
        };
        if let Some(text) = &self.lost {
            return Err(CallError::WorkerLost { text: text.clone() });
        }
        if self.level >= call.limits.depth.min(DEEPEST) {
            let place = Box::new(Place { unit: entry.name.clone(), ..Place::default() });
            return Err(CallError::Limit { place, which: Limit::Depth, chain: Vec::new() });
        }
        let started = Instant::now();
        let own = started + call.limits.time;
        let around = self.until.replace(self.until.map_or(own, |around| around.min(own)));
        self.level += 1;
        let result = self.carry_out(call, started, host);
        self.level -= 1;
        self.until = around;
        self.worker.served(started.elapsed());
        result.map_err(|error| self.explain(error, &entry.name))
    }

    /// Sends the call and answers until it is over.
    fn carry_out(&mut self, call: &Call, started: Instant, host: &mut dyn Host) -> Result<Value, Trouble> {
        let deadline = self.until.unwrap_or(started + call.limits.time);
        let request = request(call, deadline.saturating_duration_since(started));
        self.worker.send(&ToWorker::Call(Box::new(request)))?;
        let mut asked = 0;
        let mut late = 0;
        loop {
            // A host call may have taken all the time; the worker still says where its script was. One
            // of ours asks for nothing more then; but its time began when it had read the call.
            let now = Instant::now();
            late += u32::from(now > deadline + self.config.grace);
            if late > LATE {
                return Err(Fault::Late.into());
            }
            let until = Some(deadline.max(now) + self.config.grace);
            let longest = call.limits.output.saturating_add(SLACK);
            match self.worker.receive(longest, longest, until)? {
                FromWorker::HostCall { name, args } => {
                    asked += 1;
                    if asked > call.limits.calls {
                        return Err(Trouble::Suspect("it made more host calls than it may"));
                    }
                    self.answer(&name, args, host)?;
                }
                FromWorker::Done(value) => return Ok(value),
                FromWorker::Failed(error) => return Err(Trouble::Failed(error)),
                _ => return Err(Trouble::Suspect("it sent what does not belong to a call")),
            }
        }
    }

    /// Has the host answer.
    fn answer(&mut self, name: &str, args: Vec<Value>, host: &mut dyn Host) -> Result<(), Trouble> {
        let answer = match host.call(self, name, args) {
            Ok(value) => ToWorker::Answer(value),
            Err(error) => ToWorker::Refuse(error),
        };
        match &self.lost {
            // A call in this one lost the worker, which had this one in it too.
            Some(_) => Err(Trouble::AlreadyLost),
            None => Ok(self.worker.send(&answer)?),
        }
    }

    /// Makes of what went wrong what the caller is told; ends a worker that is not to be trusted.
    fn explain(&mut self, trouble: Trouble, unit: &str) -> CallError {
        let text = match trouble {
            Trouble::Failed(error) => return *error,
            Trouble::AlreadyLost => self.lost.clone().unwrap_or_default(),
            Trouble::Suspect(why) => {
                self.worker.suspect(why);
                why.to_owned()
            }
            Trouble::Fault(Fault::Late) => {
                self.lost = Some(self.worker.lost(&Fault::Late));
                let place = Box::new(Place { unit: unit.to_owned(), ..Place::default() });
                return CallError::Limit { place, which: Limit::Time, chain: Vec::new() };
            }
            Trouble::Fault(fault) => self.worker.lost(&fault),
        };
        self.lost = Some(text.clone());
        CallError::WorkerLost { text }
    }

    /// For tests: has the worker make a system call that its filter forbids.
    ///
    /// # Errors
    /// If the worker did not survive it, as it should not.
    #[cfg(feature = "evil")]
    pub fn evil(&mut self, what: &str) -> Result<Value, CallError> {
        let until = Some(Instant::now() + Duration::from_secs(10));
        let sent = self.worker.send(&ToWorker::Evil(what.to_owned()));
        match sent.and_then(|()| self.worker.receive(SLACK, SLACK, until)) {
            Ok(FromWorker::Done(value)) => Ok(value),
            Ok(_) => Err(self.explain(Trouble::Suspect("it sent what does not belong to a call"), "")),
            Err(fault) => Err(self.explain(Trouble::Fault(fault), "")),
        }
    }
}

/// What went wrong in a call.
enum Trouble {
    /// The worker says how the script failed.
    Failed(Box<CallError>),
    /// The worker died, is late, or sends what is no message.
    Fault(Fault),
    /// The worker sends what no worker of ours does.
    Suspect(&'static str),
    /// A call within this one lost the worker.
    AlreadyLost,
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// The call as the worker gets it.
fn request(call: &Call, time: Duration) -> Request {
    Request {
        modules: call
            .modules
            .iter()
            .map(|module| (module.name.clone(), Arc::clone(&module.bytecode)))
            .collect(),
        function: call.function.clone(),
        args: call.args.clone(),
        globals: call.globals.clone(),
        memory: call.limits.memory,
        microseconds: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
        calls: call.limits.calls,
        output: call.limits.output,
    }
}
