//! The limits of a call, and how a script that went over one is stopped.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::allocator::Meter;
use crate::call::{HostError, Limit};
use crate::message::Request;

/// Stack of an interpreter.
pub(super) const STACK: usize = 512 << 10;

/// Why a script is stopped.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// It went over a limit.
    Limit(Limit),
    /// The host said so.
    Host(HostError),
    /// The engine is gone, or says what makes no sense.
    Line,
}

/// What is left to a call.
#[derive(Debug)]
pub(super) struct Budget {
    pub(super) meter: Rc<Meter>,
    pub(super) output: u64,
    until: Instant,
    calls: Cell<u32>,
    stop: RefCell<Option<Stop>>,
    /// The stack of the script where it was stopped.
    stack: RefCell<Option<String>>,
}

impl Budget {
    /// The limits of a call that began then, in an interpreter whose memory this meter counts.
    pub(super) fn new(meter: Rc<Meter>, began: Instant, request: &Request) -> Rc<Self> {
        meter.set_limit(request.memory);
        let until = began + Duration::from_micros(request.microseconds);
        let (calls, output) = (request.calls, request.output);
        Rc::new(Self {
            meter,
            output,
            until,
            calls: Cell::new(calls),
            stop: RefCell::new(None),
            stack: RefCell::new(None),
        })
    }

    /// Whether the script must stop, for whatever cause.
    pub(super) fn is_spent(&self) -> bool {
        if self.stop.borrow().is_some() {
            return true;
        }
        let over = if self.meter.is_over() {
            Limit::Memory
        } else if Instant::now() >= self.until {
            Limit::Time
        } else {
            return false;
        };
        self.stop(Stop::Limit(over), None);
        true
    }

    /// Stops the script: the first cause counts.
    pub(super) fn stop(&self, cause: Stop, stack: Option<String>) {
        self.stop.borrow_mut().get_or_insert(cause);
        if let Some(stack) = stack {
            self.stack.borrow_mut().get_or_insert(stack);
        }
    }

    /// Why the script was stopped, if it was.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.is_spent();
        self.stop.borrow().clone()
    }

    /// Where it was when it was stopped.
    pub(super) fn stack(&self) -> Option<String> {
        self.stack.borrow().clone()
    }

    /// Counts a host call; false if there are none left.
    pub(super) fn call(&self) -> bool {
        match self.calls.get().checked_sub(1) {
            Some(left) => {
                self.calls.set(left);
                true
            }
            None => false,
        }
    }
}
