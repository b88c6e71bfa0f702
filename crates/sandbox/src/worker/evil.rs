//! Only in test builds: what native code that was taken over would try.
#![expect(unsafe_code, reason = "raw calls to the system, made to be forbidden")]

use crate::value::Value;

/// Makes a system call by name; the number it gave, if it came back.
pub(super) fn evil(what: &str) -> Value {
    let path = c"/etc/passwd".as_ptr();
    let nothing = std::ptr::null::<libc::c_char>();
    // SAFETY: each call gets valid pointers or null; what they do to this process is what is tested.
    let result = unsafe {
        match what {
            "openat" => libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, libc::O_RDONLY),
            "socket" => libc::syscall(libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0),
            "connect" => libc::syscall(libc::SYS_connect, 3, path, 16),
            "clone" => libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0),
            "ptrace" => libc::syscall(libc::SYS_ptrace, libc::PTRACE_TRACEME, 0, 0, 0),
            "kill" => libc::syscall(libc::SYS_kill, 1, 0),
            "kill all" => libc::syscall(libc::SYS_kill, -1, libc::SIGKILL),
            "execve" => libc::syscall(libc::SYS_execve, path, nothing, nothing),
            "memory as code" => libc::syscall(
                libc::SYS_mmap,
                0,
                4096,
                libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            ),
            "write elsewhere" => libc::syscall(libc::SYS_write, 2, path, 4),
            "nothing" => 0,
            _ => -1,
        }
    };
    Value::Int(result)
}
