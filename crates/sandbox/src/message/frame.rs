//! Frames on the socket: four bytes of length, then the message.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::bytes::{Bad, Message, Reader};

/// Why no message came.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// Nothing came in time.
    #[error("no answer in time")]
    Late,
    /// The other side is gone.
    #[error("it ended")]
    Gone,
    /// The message is longer than allowed.
    #[error("its message is longer than {0} bytes")]
    TooLong(u64),
    /// The bytes are no message.
    #[error("its message cannot be read: {0}")]
    Bad(#[from] Bad),
    /// The socket failed.
    #[error("the socket: {0}")]
    Socket(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock};
        match error.kind() {
            WouldBlock | TimedOut => Self::Late,
            BrokenPipe | ConnectionReset | UnexpectedEof => Self::Gone,
            _ => Self::Socket(error),
        }
    }
}

/// How much of a message is asked for at once: memory is taken as bytes come, never by the length alone.
const STEP: usize = 64 * 1024;

/// How much is asked for at least.
const FIRST: usize = 4 * 1024;

/// Time-outs are set in steps, so that not every read has to set its own.
const TICK: u128 = 100;

/// A buffer that has grown past this is given back after the message.
const KEEP: usize = 256 * 1024;

/// One end of the socket, with its buffers.
#[derive(Debug)]
pub(crate) struct Line {
    socket: UnixStream,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    timeout: Option<Duration>,
}

impl Line {
    /// The line over this socket.
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self { socket, incoming: Vec::new(), outgoing: Vec::new(), timeout: None }
    }

    /// Lets no write wait longer than this for the other side to read.
    pub(crate) fn patience(&self, timeout: Duration) -> Result<(), Fault> {
        Ok(self.socket.set_write_timeout(Some(timeout))?)
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &impl Message) -> Result<(), Fault> {
        self.outgoing.clear();
        self.outgoing.extend_from_slice(&[0; 4]);
        message.put(&mut self.outgoing);
        let length =
            u32::try_from(self.outgoing.len() - 4).map_err(|_| Fault::TooLong(u64::from(u32::MAX)))?;
        self.outgoing[..4].copy_from_slice(&length.to_le_bytes());
        let sent = self.socket.write_all(&self.outgoing);
        if self.outgoing.capacity() > KEEP {
            self.outgoing = Vec::new();
        }
        Ok(sent?)
    }

    /// Waits for a message of at most `longest` bytes, which may take `budget` of memory.
    pub(crate) fn receive<T: Message>(
        &mut self,
        longest: u64,
        budget: u64,
        until: Option<Instant>,
    ) -> Result<T, Fault> {
        self.incoming.clear();
        self.fill(4, until)?;
        let head = self.incoming.first_chunk::<4>().ok_or(Fault::Gone)?;
        let length = u32::from_le_bytes(*head);
        if u64::from(length) > longest {
            return Err(Fault::TooLong(longest));
        }
        let length = usize::try_from(length).map_err(|_| Fault::TooLong(longest))?;
        self.fill(4 + length, until)?;
        if self.incoming.len() > 4 + length {
            return Err(Bad::Long.into());
        }
        let message = Reader::whole(&self.incoming[4..], budget)?;
        if self.incoming.capacity() > KEEP {
            self.incoming = Vec::new();
        }
        Ok(message)
    }

    /// Whether nothing has come yet.
    pub(crate) fn is_silent(&self) -> bool {
        use rustix::net::{RecvFlags, recv};
        let looked = recv(&self.socket, &mut [0_u8; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        matches!(looked, Err(rustix::io::Errno::WOULDBLOCK))
    }

    /// Reads until there are `wanted` bytes. Mostly a whole message comes in one go; each side speaks
    /// in turn, so what follows it is no message of ours.
    fn fill(&mut self, wanted: usize, until: Option<Instant>) -> Result<(), Fault> {
        while self.incoming.len() < wanted {
            self.wait_at_most(until)?;
            let have = self.incoming.len();
            let room = (wanted - have).clamp(FIRST, STEP);
            self.incoming.resize(have + room, 0);
            let read = self.socket.read(&mut self.incoming[have..]);
            self.incoming.truncate(have + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => return Err(Fault::Gone),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sets how long a read may wait, where that is to change.
    fn wait_at_most(&mut self, until: Option<Instant>) -> Result<(), Fault> {
        let timeout = until.map(left).transpose()?;
        if timeout != self.timeout {
            self.socket.set_read_timeout(timeout)?;
            self.timeout = timeout;
        }
        Ok(())
    }
}

/// The time that is left until then, rounded up.
fn left(until: Instant) -> Result<Duration, Fault> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Fault::Late);
    }
    let ticks = u64::try_from(left.as_millis() / TICK + 1).unwrap_or(u64::MAX);
    Ok(Duration::from_millis(ticks.saturating_mul(100)))
}
