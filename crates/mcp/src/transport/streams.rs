//! Standard input and output, driven without threads wherever the system allows it.

use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

/// Where messages come from.
pub(crate) type Source = Pin<Box<dyn AsyncRead + Send>>;
/// Where messages go to.
pub(crate) type Sink = Pin<Box<dyn AsyncWrite + Send>>;

/// Opens both streams of this process.
///
/// Hosts on Node hand out sockets, others pipes; both are read by the reactor.
/// A file or a terminal falls back to the blocking handles.
pub(crate) fn open() -> (Source, Sink) {
    #[cfg(unix)]
    if let Some((source, sink)) = unix::sockets() {
        return (Box::pin(source), Box::pin(sink));
    }
    let (source, sink) = rmcp::transport::stdio_pipes();
    (Box::pin(source), Box::pin(sink))
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::FileTypeExt as _;
    use std::os::unix::net;

    use tokio::net::UnixStream;

    /// Both streams, where both are sockets.
    ///
    /// Non-blocking mode belongs to the open socket, so it is switched on only after both were looked at.
    pub(super) fn sockets() -> Option<(UnixStream, UnixStream)> {
        let source = socket(&std::io::stdin())?;
        let sink = socket(&std::io::stdout())?;
        Some((nonblocking(source)?, nonblocking(sink)?))
    }

    fn socket(stream: &impl AsFd) -> Option<OwnedFd> {
        let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
        file.metadata().ok()?.file_type().is_socket().then(|| file.into())
    }

    fn nonblocking(socket: OwnedFd) -> Option<UnixStream> {
        let stream = net::UnixStream::from(socket);
        stream.set_nonblocking(true).ok()?;
        UnixStream::from_std(stream).ok()
    }
}
