//! Writing a backup's file.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};

use db::transfer::row_line::hex;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use super::super::error::MaintenanceError;
use super::super::file_tree::Found;
use super::{HEAD, Head, MANIFEST, MANIFEST_MOST, Manifest, PART, Part, ROW_MOST, ROWS};

/// Fast rather than small: most of a large backup is pictures.
const LEVEL: u32 = 3;

/// A backup that is being written.
pub(in super::super) struct Writer {
    /// The backup's name, for words about it.
    path: PathBuf,
    tar: tar::Builder<GzEncoder<BufWriter<File>>>,
    parts: Vec<Part>,
    /// When it is made, for parts that have no time of their own.
    time: u64,
}

impl Writer {
    pub(in super::super) fn new(
        out: File,
        path: &Path,
        head: &Head,
        now: jiff::Timestamp,
    ) -> Result<Self, MaintenanceError> {
        let packed = GzEncoder::new(BufWriter::with_capacity(1 << 18, out), Compression::new(LEVEL));
        let time = u64::try_from(now.as_second()).unwrap_or_default();
        let mut writer =
            Self { path: path.to_owned(), tar: tar::Builder::new(packed), parts: Vec::new(), time };
        writer.begin(head).map_err(|error| writer.unwritten(error))?;
        Ok(writer)
    }

    fn begin(&mut self, head: &Head) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(head)?;
        text.push(b'\n');
        self.append(HEAD, &text)?;
        // From the first moment the file says whose it is, whenever it is cut off.
        self.tar.get_mut().flush()
    }

    /// Says that it is the backup, and not what goes into it, that failed.
    fn unwritten(&self, error: io::Error) -> MaintenanceError {
        MaintenanceError::Unwritten(self.path.clone(), error)
    }

    /// Adds a part that is in memory.
    pub(in super::super) fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), MaintenanceError> {
        self.append(name, bytes).map_err(|error| self.unwritten(error))
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut header = header(bytes.len() as u64, 0o600, self.time);
        self.tar.append_data(&mut header, name, bytes)?;
        self.parts.push(Part {
            name: name.to_owned(),
            size: bytes.len() as u64,
            sha256: hex(&Sha256::digest(bytes)),
        });
        Ok(())
    }

    /// Adds a file. `false` if it has another length than when it was looked at; then nothing can be added any more.
    pub(in super::super) fn add_file(&mut self, found: &Found) -> Result<bool, MaintenanceError> {
        let file = match File::open(&found.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(MaintenanceError::File(found.path.clone(), error)),
        };
        let mut summed =
            Summed { inner: file.take(found.size), digest: Sha256::new(), size: 0, is_unreadable: false };
        let mut header = header(found.size, found.mode, found.modified);
        if let Err(error) = self.tar.append_data(&mut header, &found.name, &mut summed) {
            return Err(match summed.is_unreadable {
                true => MaintenanceError::File(found.path.clone(), error),
                false => self.unwritten(error),
            });
        }
        self.parts.push(Part {
            name: found.name.clone(),
            size: summed.size,
            sha256: hex(&summed.digest.finalize()),
        });
        Ok(summed.size == found.size)
    }

    /// Adds the manifest and ends the file.
    pub(in super::super) fn finish(self, manifest: Manifest) -> Result<File, MaintenanceError> {
        let path = self.path.clone();
        self.end(manifest).map_err(|error| MaintenanceError::Unwritten(path, error))
    }

    fn end(mut self, mut manifest: Manifest) -> io::Result<File> {
        manifest.parts = std::mem::take(&mut self.parts);
        let text = serde_json::to_vec(&manifest)?;
        if text.len() as u64 > MANIFEST_MOST {
            let words = "the store has more files than a backup can list; keep some of them elsewhere";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
        }
        self.append(MANIFEST, &text)?;
        let packed = self.tar.into_inner()?;
        let file = packed.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(file)
    }
}

fn header(size: u64, mode: u32, time: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(time);
    header
}

/// Sums what is read through it.
struct Summed<R> {
    inner: R,
    digest: Sha256,
    size: u64,
    /// Reading failed, rather than writing what was read.
    is_unreadable: bool,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer);
        self.is_unreadable = read.is_err();
        let count = read?;
        self.digest.update(&buffer[..count]);
        self.size += count as u64;
        Ok(count)
    }
}

/// Rows of a table on their way into parts.
pub(in super::super) struct Rows<'a> {
    writer: &'a mut Writer,
    table: &'a str,
    lines: Vec<u8>,
    count: u32,
}

impl<'a> Rows<'a> {
    pub(in super::super) fn new(writer: &'a mut Writer, table: &'a str) -> Self {
        Self { writer, table, lines: Vec::new(), count: 0 }
    }

    /// Adds a row's line.
    pub(in super::super) fn add(&mut self, line: &[u8]) -> Result<(), MaintenanceError> {
        if line.len() as u64 > ROW_MOST {
            let words = "a row of it is longer than a backup takes";
            let error = io::Error::new(io::ErrorKind::FileTooLarge, words);
            return Err(MaintenanceError::File(format!("{ROWS}{}", self.table).into(), error));
        }
        self.lines.extend_from_slice(line);
        if self.lines.len() >= PART { self.flush() } else { Ok(()) }
    }

    /// Writes what is not written yet.
    pub(in super::super) fn flush(&mut self) -> Result<(), MaintenanceError> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.count += 1;
        let name = format!("{ROWS}{}/{:05}.jsonl", self.table, self.count);
        let added = self.writer.add(&name, &self.lines);
        self.lines.clear();
        added
    }
}
