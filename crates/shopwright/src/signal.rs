//! Waiting for the wish to stop.

use std::io;

/// Listens for the wish to stop: Ctrl-C, and SIGTERM and SIGHUP where there are such.
///
/// It listens from this call on, not only while it is awaited, so that a wish
/// during the start is not lost and ends nothing half-way.
#[cfg(unix)]
pub(crate) fn asked_to_stop() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    })
}

/// Listens for the wish to stop: Ctrl-C.
#[cfg(not(unix))]
pub(crate) fn asked_to_stop() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// From here on a wish to stop ends the process at once, as where nobody ever listened: whoever did
/// listen keeps the signals for good.
pub(crate) fn end_when_asked() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let stop = runtime.block_on(async { asked_to_stop() })?;
    std::thread::spawn(move || {
        runtime.block_on(stop);
        // As a shell tells a command that Ctrl-C ended.
        std::process::exit(130);
    });
    Ok(())
}
