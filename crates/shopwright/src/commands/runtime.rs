//! The runtime of commands with many tasks.

/// A runtime for work with many tasks.
pub(super) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}
