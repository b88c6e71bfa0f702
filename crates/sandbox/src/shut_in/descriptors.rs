//! What a worker has open: its socket and nothing else.
#![expect(
    unsafe_code,
    reason = "descriptors that this process inherited have no owner that could close them"
)]

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

/// Where the system lists what this process has open.
#[cfg(target_os = "linux")]
const LIST: &str = "/proc/self/fd";
#[cfg(not(target_os = "linux"))]
const LIST: &str = "/dev/fd";

/// Takes standard input as the socket and closes everything else, whatever was inherited.
pub(super) fn only_socket() -> io::Result<UnixStream> {
    let socket = UnixStream::from(rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?);
    let open: Vec<RawFd> =
        std::fs::read_dir(LIST)?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    // The listing's own was among them.
    let is_open = |descriptor: &RawFd| std::fs::symlink_metadata(format!("{LIST}/{descriptor}")).is_ok();
    for descriptor in open.into_iter().filter(|one| *one != socket.as_raw_fd()).filter(is_open) {
        // SAFETY: this runs first of all in the process: nothing in it owns a descriptor but `socket`,
        // which is left out. Standard input, output and error are closed too; what writes to them later
        // gets an error.
        unsafe { rustix::io::close(descriptor) };
    }
    Ok(socket)
}
