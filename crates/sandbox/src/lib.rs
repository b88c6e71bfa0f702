//! Runs units' scripts in worker processes with limits on time, memory and calls, seeing only the host functions they are handed.
//!
//! A [`Pool`] keeps warm worker processes of the same binary, each with nothing but a socket. A caller
//! takes one for a [`Session`], makes calls in it and answers what the script asks through its [`Host`].
//! What comes from a worker is never trusted: its length, depth and text are checked before it is used.

mod analysis;
mod call;
mod message;
mod pool;
mod protection;
mod shut_in;
mod value;
mod worker;

pub use analysis::{Analysis, Import, Mention, Parameter, Signature, SyntaxError};
pub use call::{Call, CallError, Compiled, HostError, Limit, Limits, Place};
pub use pool::{CompileError, Host, Pool, PoolConfig, PoolCount, PoolError, Session};
pub use protection::Protection;
pub use value::Value;
pub use worker::worker_main;

/// What tests of other kinds need to see: the decoder of what a worker sends.
#[doc(hidden)]
pub mod testing {
    pub use crate::message::testing::{decode_from_worker, hello_frame};
}
