//! Every environment variable that Shopwright reads.

/// The program's home; without it the platform's configuration folder.
pub const HOME: &str = "SHOPWRIGHT_HOME";
/// Number of the event that launched this session; the Dispatcher sets it.
pub const EVENT: &str = "SHOPWRIGHT_EVENT";
/// What the log tells, in the form of `tracing`'s filters; `warn` without it.
pub const LOG: &str = "SHOPWRIGHT_LOG";
/// Where passwords are saved: `os` (the system's keyring), `file`, or `auto`, which is the default.
pub const KEYRING: &str = "SHOPWRIGHT_KEYRING";
/// Largest time to wait for the engine's answer, in seconds; 60 without it.
pub const TIMEOUT: &str = "SHOPWRIGHT_TIMEOUT";
/// `1` allows plain http to addresses other than this computer.
pub const PLAIN_HTTP: &str = "SHOPWRIGHT_ALLOW_PLAIN_HTTP";
