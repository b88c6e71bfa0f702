//! A line to the session's message bus: signing in, calls, one kind of signal.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::message::{MOST_BYTES, Reader, Writer};
use super::{KeyringError, PATIENCE};

const CALL: u8 = 1;
const RETURN: u8 = 2;
const ERROR: u8 = 3;
const SIGNAL: u8 = 4;

const PATH: u8 = 1;
const INTERFACE: u8 = 2;
const MEMBER: u8 = 3;
const ERROR_NAME: u8 = 4;
const REPLY_SERIAL: u8 = 5;
const DESTINATION: u8 = 6;
const SIGNATURE: u8 = 8;

/// Where the bus listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Path(PathBuf),
    Abstract(String),
}

/// The session bus of this user, where there is one.
pub(super) fn address() -> Option<Address> {
    if let Ok(text) = std::env::var("DBUS_SESSION_BUS_ADDRESS") {
        return parse_address(&text);
    }
    let path = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR")?).join("bus");
    path.exists().then_some(Address::Path(path))
}

/// Reads `unix:path=/run/user/1000/bus,guid=…`; the first address this system can use.
pub(super) fn parse_address(text: &str) -> Option<Address> {
    text.split(';').filter_map(|address| address.strip_prefix("unix:")).find_map(|rest| {
        rest.split(',').find_map(|part| match part.split_once('=')? {
            ("path", value) => Some(Address::Path(PathBuf::from(decoded(value)?))),
            ("abstract", value) => Some(Address::Abstract(decoded(value)?)),
            _ => None,
        })
    })
}

fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first == b'%' {
            let (digits, tail) = tail.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = tail;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

fn connect(address: &Address) -> io::Result<UnixStream> {
    match address {
        Address::Path(path) => UnixStream::connect(path),
        #[cfg(target_os = "linux")]
        Address::Abstract(name) => {
            use std::os::linux::net::SocketAddrExt as _;
            UnixStream::connect_addr(&std::os::unix::net::SocketAddr::from_abstract_name(name)?)
        }
        #[cfg(not(target_os = "linux"))]
        Address::Abstract(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// What is called: whose object, which method.
#[derive(Clone, Copy)]
pub(super) struct Method<'a> {
    pub(super) to: &'a str,
    pub(super) path: &'a str,
    pub(super) interface: &'a str,
    pub(super) name: &'a str,
}

/// The values of an answer or a signal.
pub(super) struct Body {
    // It may hold a password.
    bytes: Zeroizing<Vec<u8>>,
    start: usize,
    big_endian: bool,
}

impl Body {
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader::new(self.bytes.get(self.start..).unwrap_or_default(), self.big_endian)
    }
}

struct Message {
    kind: u8,
    reply_to: Option<u32>,
    path: String,
    member: String,
    error: String,
    body: Body,
}

/// An open line to the bus.
pub(super) struct Bus {
    stream: UnixStream,
    serial: u32,
}

impl Bus {
    /// Connects and says hello; no bus at all is [`KeyringError::None`].
    pub(super) fn open(address: &Address) -> Result<Self, KeyringError> {
        let stream = connect(address).map_err(|_| KeyringError::None)?;
        let mut bus = Self { stream, serial: 0 };
        bus.sign_in().map_err(|error| failed(&error))?;
        let hello = Method {
            to: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            name: "Hello",
        };
        bus.call(hello, "", &Writer::default())?;
        Ok(bus)
    }

    fn sign_in(&mut self) -> io::Result<()> {
        self.stream.set_read_timeout(Some(PATIENCE))?;
        self.stream.set_write_timeout(Some(PATIENCE))?;
        let uid = rustix::process::geteuid().as_raw().to_string();
        let hex: String = uid.bytes().map(|byte| format!("{byte:02x}")).collect();
        self.stream.write_all(format!("\0AUTH EXTERNAL {hex}\r\n").as_bytes())?;
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte)?;
            line.push(byte[0]);
            if line.len() > 1024 {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        if !line.starts_with(b"OK ") {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the message bus refused this user"));
        }
        self.stream.write_all(b"BEGIN\r\n")
    }

    /// Calls a method and waits for its answer.
    pub(super) fn call(
        &mut self,
        method: Method<'_>,
        signature: &str,
        body: &Writer,
    ) -> Result<Body, KeyringError> {
        let serial = self.send(method, signature, body).map_err(|error| failed(&error))?;
        let until = Instant::now() + PATIENCE;
        loop {
            let message = self.receive(until)?;
            if message.reply_to != Some(serial) {
                continue;
            }
            match message.kind {
                RETURN => return Ok(message.body),
                ERROR if is_absence(&message.error) => return Err(KeyringError::None),
                ERROR => {
                    let words = message.body.reader().text().unwrap_or_default().to_owned();
                    return Err(KeyringError::Failed(
                        format!("{} {words}", message.error).trim_end().to_owned(),
                    ));
                }
                _ => {}
            }
        }
    }

    /// Waits for a signal of this object.
    pub(super) fn signal(
        &mut self,
        path: &str,
        member: &str,
        patience: Duration,
    ) -> Result<Body, KeyringError> {
        let until = Instant::now() + patience;
        loop {
            let message = self.receive(until)?;
            if message.kind == SIGNAL && message.path == path && message.member == member {
                return Ok(message.body);
            }
        }
    }

    fn send(&mut self, method: Method<'_>, signature: &str, body: &Writer) -> io::Result<u32> {
        self.serial += 1;
        let mut message = Writer::default();
        message.byte(b'l').byte(CALL).byte(0).byte(1);
        message.number(u32::try_from(body.bytes.len()).unwrap_or(u32::MAX)).number(self.serial);
        message.list(8, |fields| {
            for (code, kind, value) in [
                (PATH, "o", method.path),
                (INTERFACE, "s", method.interface),
                (MEMBER, "s", method.name),
                (DESTINATION, "s", method.to),
            ] {
                fields.align(8).byte(code).signature(kind).text(value);
            }
            if !signature.is_empty() {
                fields.align(8).byte(SIGNATURE).signature("g").signature(signature);
            }
        });
        message.align(8).bytes.extend_from_slice(&body.bytes);
        self.stream.write_all(&message.bytes)?;
        Ok(self.serial)
    }

    fn receive(&mut self, until: Instant) -> Result<Message, KeyringError> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(KeyringError::Failed("it did not answer in time".to_owned()));
        }
        let read = self.stream.set_read_timeout(Some(left)).and_then(|()| self.read_message());
        let (bytes, big_endian, fields_end, start) = read.map_err(|error| failed(&error))?;
        parse(bytes, big_endian, fields_end, start).ok_or_else(|| {
            KeyringError::Failed("the message bus sent a message that cannot be read".to_owned())
        })
    }

    /// One whole message: its bytes, their order, where the fields end and the body starts.
    fn read_message(&mut self) -> io::Result<(Zeroizing<Vec<u8>>, bool, usize, usize)> {
        let mut bytes = Zeroizing::new(vec![0; 16]);
        self.stream.read_exact(&mut bytes)?;
        let big_endian = bytes[0] == b'B';
        let mut head = Reader::new(&bytes[4..], big_endian);
        let mut size = || head.number().and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX);
        let (body, _serial, fields) = (size(), size(), size());
        if body > MOST_BYTES || fields > MOST_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let start = (16 + fields).next_multiple_of(8);
        bytes.resize(start + body, 0);
        self.stream.read_exact(&mut bytes[16..])?;
        Ok((bytes, big_endian, 16 + fields, start))
    }
}

fn parse(bytes: Zeroizing<Vec<u8>>, big_endian: bool, fields_end: usize, start: usize) -> Option<Message> {
    let mut message = Message {
        kind: *bytes.get(1)?,
        reply_to: None,
        path: String::new(),
        member: String::new(),
        error: String::new(),
        body: Body { bytes: Zeroizing::default(), start, big_endian },
    };
    let mut reader = Reader::new(bytes.get(..fields_end)?, big_endian);
    for _ in 0..16 {
        reader.byte()?;
    }
    while reader.at() < fields_end {
        reader.align(8)?;
        let code = reader.byte()?;
        match (reader.signature()?, code) {
            ("u", REPLY_SERIAL) => message.reply_to = Some(reader.number()?),
            ("u", _) => drop(reader.number()?),
            ("g", _) => drop(reader.signature()?),
            ("o", PATH) => reader.text()?.clone_into(&mut message.path),
            ("s", MEMBER) => reader.text()?.clone_into(&mut message.member),
            ("s", ERROR_NAME) => reader.text()?.clone_into(&mut message.error),
            ("s" | "o", _) => drop(reader.text()?),
            _ => return None,
        }
    }
    message.body.bytes = bytes;
    Some(message)
}

/// Errors that mean that nobody offers a keyring here.
fn is_absence(name: &str) -> bool {
    ["ServiceUnknown", "NameHasNoOwner", "UnknownInterface", "UnknownObject"]
        .iter()
        .any(|absence| name == format!("org.freedesktop.DBus.Error.{absence}"))
        || name.starts_with("org.freedesktop.DBus.Error.Spawn.")
}

fn failed(error: &io::Error) -> KeyringError {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            KeyringError::Failed("it did not answer in time".to_owned())
        }
        _ => KeyringError::Failed(error.to_string()),
    }
}
