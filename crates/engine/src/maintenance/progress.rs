//! How far the work is, told to whoever watches it and may stop it.

use std::ops::ControlFlow;

use db::transfer::{Phase, Progress, TransferError};

use super::error::MaintenanceError;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Rows are copied.
    Rows,
    /// What was copied is read again and compared.
    Check,
    /// Files are copied.
    Files,
    /// A backup is looked through.
    Backup,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// What is being done.
    pub what: Activity,
    /// The table or file.
    pub name: &'a str,
    /// Rows or bytes done.
    pub done: u64,
    /// Rows or bytes there are.
    pub all: u64,
}

/// Watches the work; `Break` stops it, and nothing is changed.
pub type Watch<'a> = &'a mut dyn FnMut(Step<'_>) -> ControlFlow<()>;

/// Tells a step, and whether the work goes on.
pub(super) fn go_on(watch: Watch<'_>, step: Step<'_>) -> Result<(), MaintenanceError> {
    match watch(step) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(MaintenanceError::Stopped),
    }
}

/// A watch as the database's crate wants it.
pub(super) fn rows_watch(watch: Watch<'_>) -> impl FnMut(Progress<'_>) -> Result<(), TransferError> + '_ {
    move |progress| {
        let what = match progress.phase {
            Phase::Copy => Activity::Rows,
            Phase::Check => Activity::Check,
        };
        let step = Step { what, name: progress.table, done: progress.done, all: progress.all };
        go_on(watch, step).map_err(|_| TransferError::Stopped)
    }
}
