//! The line to the engine.

use std::cell::RefCell;
use std::os::unix::net::UnixStream;
use std::rc::Rc;

use crate::message::{Fault, FromWorker, Line, ToWorker};

/// The longest message of the engine.
const LONGEST: u64 = 256 << 20;

/// The line to the engine, shared by the calls that lie in each other.
#[derive(Clone)]
pub(super) struct Engine(Rc<RefCell<Line>>);

impl Engine {
    /// The engine at the other end of this socket.
    pub(super) fn new(socket: UnixStream) -> Self {
        Self(Rc::new(RefCell::new(Line::new(socket))))
    }

    /// Tells the engine something.
    pub(super) fn tell(&self, message: &FromWorker) -> Result<(), Fault> {
        self.0.borrow_mut().send(message)
    }

    /// Whether the engine has sent nothing yet.
    pub(super) fn is_silent(&self) -> bool {
        self.0.borrow().is_silent()
    }

    /// Waits for what the engine wants.
    pub(super) fn hear(&self) -> Result<ToWorker, Fault> {
        self.0.borrow_mut().receive(LONGEST, u64::MAX, None)
    }
}
