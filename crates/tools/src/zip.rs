//! A small archive in the form ZIP, made in memory: what units and their index need.

use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use sha2::{Digest as _, Sha256};
use wire::{Fault, Stop};

/// Names are UTF-8.
const UTF8: u16 = 1 << 11;
/// How files are packed.
const DEFLATED: u16 = 8;
/// What an unpacker must know: packed files.
const VERSION: u16 = 20;
/// 1 January 1980, midnight: the same tools make the same archive.
const DAY: u16 = (1 << 5) | 1;

/// An archive that is being made.
#[derive(Default)]
pub(crate) struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

impl Zip {
    /// Adds a file; answers its SHA-256.
    pub(crate) fn add(&mut self, path: &str, content: &[u8]) -> Result<String, Stop> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content)?;
        let packed = encoder.finish()?;
        let mut crc = Crc::new();
        crc.update(content);
        let offset = size(self.bytes.len())?;
        let mut head = Vec::new();
        for part in [VERSION, UTF8, DEFLATED, 0, DAY] {
            head.extend(part.to_le_bytes());
        }
        for part in [crc.sum(), size(packed.len())?, size(content.len())?] {
            head.extend(part.to_le_bytes());
        }
        let name = u16::try_from(path.len()).map_err(|_| too_large())?;
        head.extend(name.to_le_bytes());
        head.extend(0_u16.to_le_bytes());
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(&head);
        self.bytes.extend(path.as_bytes());
        self.bytes.extend(&packed);
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(VERSION.to_le_bytes());
        self.directory.extend(&head);
        // No comment, one disk, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(path.as_bytes());
        self.count = self.count.checked_add(1).ok_or_else(too_large)?;
        Ok(Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The whole archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let (at, length) = (self.bytes.len() as u32, self.directory.len() as u32);
        self.bytes.append(&mut self.directory);
        self.bytes.extend(b"PK\x05\x06\0\0\0\0");
        for _ in 0..2 {
            self.bytes.extend(self.count.to_le_bytes());
        }
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(at.to_le_bytes());
        self.bytes.extend([0; 2]);
        self.bytes
    }
}

fn size(length: usize) -> Result<u32, Stop> {
    u32::try_from(length).map_err(|_| too_large())
}

fn too_large() -> Stop {
    Fault::new("too large for this form of archive").into()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::Zip;

    #[test]
    fn what_went_in_comes_out() {
        let mut zip = Zip::default();
        let text = "лист ".repeat(500);
        let hash = zip.add("units/a.js", text.as_bytes()).unwrap();
        zip.add("empty", b"").unwrap();
        assert_eq!(hash.len(), 64);
        let bytes = zip.finish();
        // The end tells two files and where their directory lies, the directory where each begins.
        let end = &bytes[bytes.len() - 22..];
        assert_eq!((&end[..4], &end[10..12]), (b"PK\x05\x06".as_slice(), [2, 0].as_slice()));
        let directory = u32::from_le_bytes(end[16..20].try_into().unwrap()) as usize;
        assert_eq!(&bytes[directory..directory + 4], b"PK\x01\x02");
        let packed = u32::from_le_bytes(bytes[18..22].try_into().unwrap()) as usize;
        let from = 30 + "units/a.js".len();
        let mut out = String::new();
        flate2::read::DeflateDecoder::new(&bytes[from..from + packed]).read_to_string(&mut out).unwrap();
        assert_eq!(out, text);
        assert!(packed < text.len() / 10);
    }
}
