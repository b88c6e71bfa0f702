//! Limits of the operating system.

use rustix::process::{Resource, Rlimit, setrlimit};

/// What the address space may grow to beyond what it is at the start. Scripts have limits of their own
/// far below; this one is for what goes wrong.
#[cfg(target_os = "linux")]
const ADDRESS_SPACE: u64 = 1536 << 20;

/// Processor time in seconds over a worker's life; the engine replaces it long before.
const PROCESSOR: u64 = 2 * 3600;

/// Sets each limit; tells which could be.
pub(super) fn set() -> Vec<(&'static str, Result<(), String>)> {
    let mut limits = vec![
        ("core files", limit(Resource::Core, 0)),
        ("processor time", limit(Resource::Cpu, PROCESSOR)),
        ("file size", limit(Resource::Fsize, 0)),
    ];
    #[cfg(target_os = "linux")]
    limits.push(("address space", address_space()));
    limits
}

/// What would also forbid this process its second thread.
pub(super) fn set_last() -> Vec<(&'static str, Result<(), String>)> {
    vec![("open files", limit(Resource::Nofile, 0)), ("processes", limit(Resource::Nproc, 0))]
}

fn limit(resource: Resource, most: u64) -> Result<(), String> {
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
        .map_err(|error| error.to_string())
}

/// Limits the address space to what it is now and some more.
#[cfg(target_os = "linux")]
fn address_space() -> Result<(), String> {
    let pages = std::fs::read_to_string("/proc/self/statm").map_err(|error| error.to_string())?;
    let pages: u64 =
        pages.split(' ').next().and_then(|pages| pages.parse().ok()).ok_or("statm has no size")?;
    let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
    limit(Resource::As, pages.saturating_mul(page).saturating_add(ADDRESS_SPACE))
}

/// Ends the process with the thread that started it, and lets nobody look into it.
#[cfg(target_os = "linux")]
pub(super) fn bind_to_parent() -> Result<(), String> {
    use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|error| error.to_string())
}

/// No program that it could start would have more rights than it has.
#[cfg(target_os = "linux")]
pub(super) fn no_new_privileges() -> Result<(), String> {
    rustix::thread::set_no_new_privs(true).map_err(|error| error.to_string())
}
