//! Waiting for the wish to stop.

/// Returns when the process is asked to stop: Ctrl-C, or SIGTERM where there is one.
pub(crate) async fn asked_to_stop() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        tokio::select! {
            interrupt = tokio::signal::ctrl_c() => interrupt,
            _ = terminate.recv() => Ok(()),
            _ = hang_up.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
