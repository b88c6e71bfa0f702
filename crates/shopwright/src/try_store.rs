//! `try`: a sample store with everything running, in one command.

mod fill;
mod folder;
mod people;
mod print;
mod ready;
mod sample;
mod start;

pub(crate) use ready::{Launch, Ready};
pub(crate) use start::run;
