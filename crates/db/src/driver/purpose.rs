//! What a transaction is for, which decides how a driver begins it.

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Write,
    /// Changes by statements of a unit, between which its script runs.
    Unit,
    /// All tables anew: long, and without a look at every link at once.
    Bulk,
}
