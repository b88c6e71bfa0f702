//! How the letters of a file are written, and its text.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use encoding_rs::{
    CoderResult, Decoder, DecoderResult, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1251, WINDOWS_1252,
};
use sha2::{Digest as _, Sha256};

use super::broken::Broken;
use crate::media::hex;

/// Bytes that are read at once.
const AT_ONCE: usize = 64 * 1024;

/// How letters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, the lower byte first.
    Utf16Le,
    /// UTF-16, the higher byte first.
    Utf16Be,
    /// Cyrillic of Windows.
    Windows1251,
    /// Latin of Windows.
    Windows1252,
}

impl Encoding {
    fn decoder(self) -> Decoder {
        let of = match self {
            Self::Utf8 => UTF_8,
            Self::Utf16Le => UTF_16LE,
            Self::Utf16Be => UTF_16BE,
            Self::Windows1251 => WINDOWS_1251,
            Self::Windows1252 => WINDOWS_1252,
        };
        // A mark at the beginning says the same again and is left out.
        of.new_decoder_with_bom_removal()
    }
}

/// What a look through the whole file found.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) encoding: Encoding,
    pub(super) sha256: String,
    pub(super) bytes: u64,
}

/// Looks through a file: by its mark, else UTF-8 where it is that, else one of Windows.
pub(super) fn look(path: &Path, given: Option<Encoding>) -> Result<Look, Broken> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Broken::NoFile);
    }
    let mut seen = Seen::new();
    let mut buffer = vec![0; AT_ONCE];
    loop {
        let count = file.read(&mut buffer)?;
        let part = buffer.get(..count).unwrap_or_default();
        if part.is_empty() {
            break;
        }
        seen.add(part)?;
    }
    let encoding = match given {
        Some(given) => given,
        None => seen.encoding()?,
    };
    let sha256 = hex(&seen.hash.finalize());
    Ok(Look { encoding, sha256, bytes: seen.bytes })
}

struct Seen {
    hash: Sha256,
    utf8: Decoder,
    scratch: String,
    is_utf8: bool,
    bytes: u64,
    start: Vec<u8>,
    zeros: [u64; 2],
    high: u64,
    pairs: u64,
    was_letter: bool,
}

impl Seen {
    fn new() -> Self {
        Self {
            hash: Sha256::new(),
            utf8: UTF_8.new_decoder_with_bom_removal(),
            scratch: String::with_capacity(AT_ONCE * 3 + 16),
            is_utf8: true,
            bytes: 0,
            start: Vec::new(),
            zeros: [0; 2],
            high: 0,
            pairs: 0,
            was_letter: false,
        }
    }

    fn add(&mut self, part: &[u8]) -> Result<(), Broken> {
        if self.start.len() < 8 {
            self.start.extend(part.iter().take(8));
            archive(&self.start)?;
        }
        self.hash.update(part);
        for (at, byte) in part.iter().enumerate() {
            if *byte == 0 {
                let odd = (self.bytes + at as u64) % 2 == 1;
                self.zeros[usize::from(odd)] += 1;
            }
            // Letters of Windows-1251, which stand beside each other in Cyrillic words and seldom in Latin ones.
            let is_letter = *byte >= 0xC0 || *byte == 0xA8 || *byte == 0xB8;
            self.high += u64::from(*byte >= 0x80);
            self.pairs += u64::from(is_letter && self.was_letter);
            self.was_letter = is_letter;
        }
        self.bytes += part.len() as u64;
        if self.is_utf8 {
            self.scratch.clear();
            let (result, ..) = self.utf8.decode_to_string_without_replacement(part, &mut self.scratch, false);
            self.is_utf8 = !matches!(result, DecoderResult::Malformed(..));
        }
        Ok(())
    }

    fn encoding(&mut self) -> Result<Encoding, Broken> {
        if self.start.starts_with(&[0xFF, 0xFE]) {
            return Ok(Encoding::Utf16Le);
        }
        if self.start.starts_with(&[0xFE, 0xFF]) {
            return Ok(Encoding::Utf16Be);
        }
        let [even, odd] = self.zeros;
        if even + odd > 0 {
            // Commas, quotes, digits and line ends of UTF-16 have a zero on one side each.
            return match (even, odd) {
                (even, odd) if odd * 10 > self.bytes && even * 20 < odd => Ok(Encoding::Utf16Le),
                (even, odd) if even * 10 > self.bytes && odd * 20 < even => Ok(Encoding::Utf16Be),
                _ => Err(Broken::Nul),
            };
        }
        self.scratch.clear();
        let (result, ..) = self.utf8.decode_to_string_without_replacement(b"", &mut self.scratch, true);
        if self.is_utf8 && !matches!(result, DecoderResult::Malformed(..)) {
            return Ok(Encoding::Utf8);
        }
        let is_cyrillic = self.pairs * 2 > self.high;
        Ok(if is_cyrillic { Encoding::Windows1251 } else { Encoding::Windows1252 })
    }
}

/// Files that are no text at all, by how they begin.
fn archive(start: &[u8]) -> Result<(), Broken> {
    let known: [&[u8]; 7] =
        [b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0", b"7z\xbc\xaf", b"Rar!", b"%PDF", b"\x89PNG"];
    match known.iter().any(|known| start.starts_with(known)) {
        true => Err(Broken::NotCsv),
        false => Ok(()),
    }
}

/// The letters of a file, one after the other.
pub(super) struct Letters {
    file: BufReader<File>,
    decoder: Decoder,
    bytes: Vec<u8>,
    text: String,
    at: usize,
    is_over: bool,
    /// Bytes that were read.
    pub(super) done: u64,
}

impl Letters {
    pub(super) fn open(path: &Path, encoding: Encoding) -> io::Result<Self> {
        Ok(Self {
            file: BufReader::new(File::open(path)?),
            decoder: encoding.decoder(),
            bytes: vec![0; AT_ONCE],
            text: String::with_capacity(AT_ONCE * 3 + 16),
            at: 0,
            is_over: false,
            done: 0,
        })
    }

    pub(super) fn next(&mut self) -> io::Result<Option<char>> {
        loop {
            if let Some(letter) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
                self.at += letter.len_utf8();
                return Ok(Some(letter));
            }
            if self.is_over {
                return Ok(None);
            }
            let count = self.file.read(&mut self.bytes)?;
            self.done += count as u64;
            self.is_over = count == 0;
            self.text.clear();
            self.at = 0;
            let part = self.bytes.get(..count).unwrap_or_default();
            // There is room for whatever so many bytes can become.
            let (result, ..) = self.decoder.decode_to_string(part, &mut self.text, self.is_over);
            if result == CoderResult::OutputFull {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }
}
