//! Tests of the Secret Service client, against a keyring played over a real socket.
//!
//! With `SHOPWRIGHT_TEST_KEYRING=1` the session's own keyring is used as well.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::KeyringError;
use super::bus::{Address, parse_address};
use super::message::{Reader, Writer};
use super::service::Service;

type Items = BTreeMap<Vec<u8>, Vec<u8>>;

/// A keyring that keeps items by their attributes and answers like the real one.
struct Keyring {
    items: Items,
    has_service: bool,
}

impl Keyring {
    /// Serves `times` connections.
    fn start(self, folder: &Path, times: usize) -> Address {
        let path = folder.join("bus");
        let listener = UnixListener::bind(&path).unwrap();
        let mut keyring = self;
        std::thread::spawn(move || {
            for stream in listener.incoming().take(times) {
                keyring.serve(stream.unwrap());
            }
        });
        Address::Path(path)
    }

    fn serve(&mut self, mut stream: UnixStream) {
        let mut line = Vec::new();
        let mut byte = [0];
        while !line.ends_with(b"BEGIN\r\n") {
            if stream.read(&mut byte).unwrap_or(0) == 0 {
                return;
            }
            line.push(byte[0]);
            if line.ends_with(b"\r\n") && line.starts_with(b"\0AUTH EXTERNAL ") && !line.contains(&b'B') {
                stream.write_all(b"OK 0123456789abcdef\r\n").unwrap();
            }
        }
        let mut head = [0; 16];
        while stream.read_exact(&mut head).is_ok() {
            let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
            let (body, serial, fields) = (number(4) as usize, number(8), number(12) as usize);
            let mut rest = vec![0; (16 + fields).next_multiple_of(8) + body - 16];
            stream.read_exact(&mut rest).unwrap();
            let (fields, body) = rest.split_at(rest.len() - body);
            let (kind, signature, answer) = self.answer(fields, body);
            stream.write_all(&reply(kind, serial, signature, &answer.bytes)).unwrap();
        }
    }

    fn answer(&mut self, fields: &[u8], body: &[u8]) -> (u8, &'static str, Writer) {
        let called = |name: &str| fields.windows(name.len()).any(|part| part == name.as_bytes());
        let mut answer = Writer::default();
        let mut reader = Reader::new(body, false);
        if called("Hello") {
            answer.text(":1.7");
            return (2, "s", answer);
        }
        if !self.has_service {
            answer.text("nobody offers it");
            return (3, "s", answer);
        }
        if called("OpenSession") {
            answer.signature("s").text("").text("/session/1");
            return (2, "vo", answer);
        }
        if called("ReadAlias") {
            answer.text("/collection/login");
            return (2, "o", answer);
        }
        if called("Unlock") {
            answer.list(4, |_| {}).text("/");
            return (2, "aoo", answer);
        }
        if called("SearchItems") {
            let found = self.items.keys().position(|key| key.as_slice() == dictionary(&mut reader));
            answer.list(4, |list| {
                if let Some(number) = found {
                    list.text(&format!("/item/{number}"));
                }
            });
            answer.list(4, |_| {});
            return (2, "aoao", answer);
        }
        if called("CreateItem") {
            let (attributes, secret) = created(&mut reader);
            self.items.insert(attributes, secret);
            answer.text("/item/0").text("/");
            return (2, "oo", answer);
        }
        if called("GetSecret") {
            let secret = self.items.values().next().unwrap();
            answer.align(8).text("/session/1").list(1, |_| {});
            answer.list(1, |list| list.bytes.extend_from_slice(secret)).text("text/plain");
            return (2, "(oayays)", answer);
        }
        self.items.clear();
        answer.text("/");
        (2, "o", answer)
    }
}

fn dictionary(reader: &mut Reader<'_>) -> Vec<u8> {
    let size = reader.number().unwrap() as usize;
    reader.align(8).unwrap();
    let end = reader.at() + size;
    let mut pairs = Vec::new();
    while reader.at() < end {
        reader.align(8).unwrap();
        pairs.extend_from_slice(reader.text().unwrap().as_bytes());
        pairs.push(b'=');
        pairs.extend_from_slice(reader.text().unwrap().as_bytes());
        pairs.push(b'\n');
    }
    pairs
}

fn created(reader: &mut Reader<'_>) -> (Vec<u8>, Vec<u8>) {
    reader.number().unwrap();
    reader.align(8).unwrap();
    assert_eq!(reader.text(), Some("org.freedesktop.Secret.Item.Label"));
    assert_eq!(reader.signature(), Some("s"));
    reader.text().unwrap();
    reader.align(8).unwrap();
    assert_eq!(reader.text(), Some("org.freedesktop.Secret.Item.Attributes"));
    assert_eq!(reader.signature(), Some("a{ss}"));
    let attributes = dictionary(reader);
    reader.align(8).unwrap();
    assert_eq!(reader.text(), Some("/session/1"));
    assert_eq!(reader.bytes(), Some(b"".as_slice()));
    let secret = reader.bytes().unwrap().to_vec();
    assert_eq!(reader.text(), Some("text/plain; charset=utf8"));
    assert_eq!(reader.number(), Some(1));
    (attributes, secret)
}

fn reply(kind: u8, serial: u32, signature: &str, body: &[u8]) -> Vec<u8> {
    let mut message = Writer::default();
    message.byte(b'l').byte(kind).byte(0).byte(1).number(u32::try_from(body.len()).unwrap()).number(1);
    message.list(8, |fields| {
        fields.align(8).byte(5).signature("u").number(serial);
        if kind == 3 {
            fields.align(8).byte(4).signature("s").text("org.freedesktop.DBus.Error.ServiceUnknown");
        }
        fields.align(8).byte(8).signature("g").signature(signature);
    });
    message.align(8).bytes.extend_from_slice(body);
    std::mem::take(&mut message.bytes)
}

/// Saves, reads, replaces and forgets.
fn walk(mut open: impl FnMut() -> Service) {
    let store = Path::new("/stores/чай");
    assert_eq!(open().saved(store, "irina").unwrap(), None);
    for password in ["green leaf", "пароль \"2\"", ""] {
        open().save(store, "irina", password).unwrap();
        let mut service = open();
        assert_eq!(service.saved(store, "irina").unwrap().unwrap().as_str(), password);
        assert_eq!(service.saved(store, "oleg").unwrap(), None);
    }
    open().forget(store, "irina").unwrap();
    assert_eq!(open().saved(store, "irina").unwrap(), None);
}

#[test]
fn a_keyring_keeps_a_password() {
    let folder = tempfile::tempdir().unwrap();
    let address = Keyring { items: Items::new(), has_service: true }.start(folder.path(), 20);
    walk(|| Service::open(Some(address.clone())).unwrap());
}

#[test]
fn the_keyring_of_this_session_keeps_a_password() {
    if std::env::var_os("SHOPWRIGHT_TEST_KEYRING").is_none() {
        println!("skipped: SHOPWRIGHT_TEST_KEYRING is not set");
        return;
    }
    walk(|| Service::open(super::bus::address()).unwrap());
}

#[test]
fn no_bus_and_no_service_are_no_keyring() {
    let folder = tempfile::tempdir().unwrap();
    let none = |address| matches!(Service::open(address), Err(KeyringError::None));
    assert!(none(None));
    assert!(none(Some(Address::Path(PathBuf::from("/nowhere")))));
    let address = Keyring { items: Items::new(), has_service: false }.start(folder.path(), 1);
    assert!(none(Some(address)));
}

#[test]
fn addresses_are_read() {
    let path = |text: &str| Some(Address::Path(PathBuf::from(text)));
    assert_eq!(parse_address("unix:path=/run/user/1000/bus"), path("/run/user/1000/bus"));
    assert_eq!(parse_address("tcp:host=a;unix:guid=7,path=/a%20b"), path("/a b"));
    assert_eq!(parse_address("unix:abstract=/tmp/x,guid=7"), Some(Address::Abstract("/tmp/x".to_owned())));
    assert_eq!(parse_address("unix:path=/a%2"), None);
    assert_eq!(parse_address(""), None);
}

proptest! {
    #[test]
    fn reading_values_never_fails_badly(bytes in proptest::collection::vec(any::<u8>(), 0..64), big: bool) {
        let mut reader = Reader::new(&bytes, big);
        let _ = (reader.texts(), reader.text(), reader.signature(), reader.bytes(), reader.align(8), reader.texts());
    }

    #[test]
    fn a_bus_that_talks_nonsense_is_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bus");
        let listener = UnixListener::bind(&path).unwrap();
        let talker = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.write_all(b"OK 1\r\n").and_then(|()| stream.write_all(&bytes));
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        });
        prop_assert!(Service::open(Some(Address::Path(path))).is_err());
        talker.join().unwrap();
    }

    #[test]
    fn reading_an_address_never_fails_badly(text in "(unix:|path=|abstract=|[%;,=]|.){0,20}") {
        let _ = parse_address(&text);
    }
}
