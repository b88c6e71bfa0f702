//! seccomp: the calls to the system that a worker may make. Any other kills it.

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter_all_threads,
};

/// What needs nothing but the process itself.
const HARMLESS: [i64; 17] = [
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_futex,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_getrandom,
    libc::SYS_sched_yield,
    libc::SYS_getcpu,
    libc::SYS_close,
];

/// `PR_SET_VMA`: the allocator names its memory with it.
const NAME_MEMORY: u64 = 0x5356_4d41;

/// Puts the filter in force for the whole process.
pub(super) fn filter(socket: &UnixStream) -> Result<(), String> {
    let program = program(socket).map_err(|error| error.to_string())?;
    apply_filter_all_threads(&program).map_err(|error| error.to_string())
}

fn program(socket: &UnixStream) -> Result<BpfProgram, seccompiler::BackendError> {
    let socket = u64::try_from(socket.as_raw_fd()).unwrap_or(u64::MAX);
    let on_socket = is(0, socket)?;
    let no_code = SeccompCondition::new(2, SeccompCmpArgLen::Qword, masked(libc::PROT_EXEC), 0)?;
    let anonymous = flag(libc::MAP_ANONYMOUS);
    let of_nothing =
        SeccompCondition::new(3, SeccompCmpArgLen::Qword, masked(libc::MAP_ANONYMOUS), anonymous)?;
    let mut rules: Vec<(i64, Vec<SeccompRule>)> = HARMLESS.iter().map(|call| (*call, Vec::new())).collect();
    rules.extend([
        (libc::SYS_read, vec![SeccompRule::new(vec![on_socket.clone()])?]),
        (libc::SYS_write, vec![SeccompRule::new(vec![on_socket.clone()])?]),
        (libc::SYS_recvfrom, vec![SeccompRule::new(vec![on_socket.clone()])?]),
        (libc::SYS_sendto, vec![SeccompRule::new(vec![on_socket, is(4, 0)?])?]),
        (libc::SYS_mprotect, vec![SeccompRule::new(vec![no_code.clone()])?]),
        (libc::SYS_mmap, vec![SeccompRule::new(vec![no_code, of_nothing])?]),
        // The standard library of a debug build asks this before it closes a descriptor.
        (libc::SYS_fcntl, vec![SeccompRule::new(vec![is(1, flag(libc::F_GETFD))?])?]),
        (libc::SYS_prctl, vec![SeccompRule::new(vec![is(0, NAME_MEMORY)?])?]),
    ]);
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules.into_iter().collect(), SeccompAction::KillProcess, SeccompAction::Allow, arch)?
        .try_into()
}

/// The condition that an argument is this.
fn is(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, value)
}

fn flag(flag: libc::c_int) -> u64 {
    u64::try_from(flag).unwrap_or(0)
}

fn masked(mask: libc::c_int) -> SeccompCmpOp {
    SeccompCmpOp::MaskedEq(flag(mask))
}
