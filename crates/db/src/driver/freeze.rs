//! What the triggers of a write freeze are named and say, the same on both databases.

/// What the triggers' names begin with.
pub(crate) const PREFIX: &str = "closed_";
/// What the triggers say; drivers tell it from other refusals by this.
pub(crate) const WORDS: &str = "shopwright: closed";
