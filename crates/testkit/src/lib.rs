//! Real processes and transcripts for the contract tests.
