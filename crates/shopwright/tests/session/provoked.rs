//! Which refusals are provoked by tests of this folder rather than by a transcript.

/// Name of the catalogue's row, name of the test.
pub(crate) const ELSEWHERE: &[(&str, &str)] = &[];
