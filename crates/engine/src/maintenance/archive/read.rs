//! Reading a backup's file: all of it, and nothing that was not written here.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use db::transfer::row_line::{self, Summing, hex};
use db::transfer::{Table, TableSum};
use flate2::bufread::GzDecoder;
use sha2::{Digest as _, Sha256};

use super::super::error::MaintenanceError;
use super::super::progress::{Activity, Step, Watch, go_on};
use super::{
    Head, MANIFEST_MOST, Manifest, PART, Part, PartKind, ROW_MOST, TableEntry, are_apart, columns,
    is_in_store, part_kind,
};

/// Largest head, settings.
const SMALL: u64 = 16 << 20;
/// Longest name of a part.
const NAME: u64 = 16 << 10;

/// The bytes of the tar.
type Packed = GzDecoder<BufReader<Counted>>;

/// A part as it comes out of the file.
pub(in super::super) struct Entry<'a> {
    pub(in super::super) name: String,
    pub(in super::super) size: u64,
    pub(in super::super) mode: u32,
    pub(in super::super) modified: u64,
    bytes: tar::Entry<'a, Packed>,
    digest: Sha256,
    read: u64,
}

impl Entry<'_> {
    /// The part, once all of it was read; its bytes are checked against the manifest by this.
    pub(in super::super) fn part(self) -> Result<Part, MaintenanceError> {
        if self.read != self.size {
            return Err(cut());
        }
        Ok(Part { name: self.name, size: self.size, sha256: hex(&self.digest.finalize()) })
    }

    pub(in super::super) fn whole(&mut self, most: u64) -> Result<Vec<u8>, MaintenanceError> {
        if self.size > most {
            return Err(broken(format!("`{}` is too large", self.name)));
        }
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes).map_err(unread)?;
        Ok(bytes)
    }

    fn skip(&mut self) -> Result<(), MaintenanceError> {
        io::copy(self, &mut io::sink()).map_err(unread)?;
        Ok(())
    }

    /// Hands over line after line.
    pub(in super::super) fn lines(
        &mut self,
        take: &mut dyn FnMut(&[u8]) -> Result<(), MaintenanceError>,
    ) -> Result<(), MaintenanceError> {
        let mut reader = BufReader::with_capacity(1 << 16, self);
        let mut line = Vec::new();
        loop {
            line.clear();
            let count = (&mut reader).take(ROW_MOST + 1).read_until(b'\n', &mut line).map_err(unread)?;
            if count == 0 {
                return Ok(());
            }
            if count as u64 > ROW_MOST {
                return Err(broken("a row is too long"));
            }
            take(&line)?;
        }
    }
}

impl Read for Entry<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.digest.update(&buffer[..count]);
        self.read += count as u64;
        Ok(count)
    }
}

/// Hands over the parts of a backup, one after the other, to its very end.
pub(in super::super) fn each(
    file: &Path,
    take: &mut dyn FnMut(Entry<'_>, u64) -> Result<(), MaintenanceError>,
) -> Result<(), MaintenanceError> {
    let opened = open(file).map_err(|error| MaintenanceError::File(file.to_owned(), error))?;
    if !opened.metadata().is_ok_and(|meta| meta.is_file()) {
        return Err(broken("it is no file"));
    }
    let read = Progress::default();
    let counted = BufReader::with_capacity(1 << 18, Counted { file: opened, read: read.clone() });
    let mut archive = tar::Archive::new(GzDecoder::new(counted));
    let mut long = None;
    // Raw: a tar program reads names and what else belongs to an entry into memory, however long they say they are.
    for entry in archive.entries().map_err(unread)?.raw(true) {
        let mut bytes = entry.map_err(unread)?;
        if bytes.header().entry_type().is_gnu_longname() && long.is_none() {
            long = Some(long_name(&mut bytes)?);
            continue;
        }
        // Long names are written the GNU way; what other writers add to an entry is not looked at, so not taken.
        if !bytes.header().entry_type().is_file() {
            return Err(broken("it holds something that is no plain file"));
        }
        let name = long.take().unwrap_or_else(|| bytes.path_bytes().into_owned());
        let name = String::from_utf8(name).map_err(|_| broken("a name is no text"))?;
        let header = bytes.header();
        let entry = Entry {
            size: bytes.size(),
            mode: header.mode().map_err(unread)? & 0o777,
            modified: header.mtime().map_err(unread)?,
            name,
            bytes,
            digest: Sha256::new(),
            read: 0,
        };
        take(entry, read.get())?;
    }
    if long.is_some() {
        return Err(cut());
    }
    end(archive.into_inner())
}

/// Opens the file, without waiting where it is a pipe.
fn open(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, wire::files::without_waiting());
    options.open(file)
}

/// The name of the next entry, where it is too long for its header.
fn long_name(bytes: &mut tar::Entry<'_, Packed>) -> Result<Vec<u8>, MaintenanceError> {
    if bytes.size() > NAME {
        return Err(broken("a name is too long"));
    }
    let mut name = Vec::new();
    bytes.read_to_end(&mut name).map_err(unread)?;
    // It ends with a zero.
    if name.last() == Some(&0) {
        name.pop();
    }
    Ok(name)
}

/// Reads to the end, so that the sum of the packed bytes is looked at; nothing may follow.
fn end(mut packed: Packed) -> Result<(), MaintenanceError> {
    let mut rest = [0; 4096];
    loop {
        match packed.read(&mut rest).map_err(unread)? {
            0 => break,
            count if rest[..count].iter().all(|byte| *byte == 0) => {}
            _ => return Err(broken("something follows its end")),
        }
    }
    match packed.into_inner().fill_buf() {
        Ok([]) => Ok(()),
        Ok(_) => Err(broken("something follows its end")),
        Err(error) => Err(unread(error)),
    }
}

/// Bytes of the file read so far.
#[derive(Clone, Default)]
struct Progress(std::rc::Rc<std::cell::Cell<u64>>);

impl Progress {
    fn get(&self) -> u64 {
        self.0.get()
    }
}

struct Counted {
    file: File,
    read: Progress,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read.0.set(self.read.0.get() + count as u64);
        Ok(count)
    }
}

/// A backup that was read to its end and is whole.
pub(in super::super) struct Checked {
    pub(in super::super) head: Head,
    pub(in super::super) manifest: Manifest,
    /// The tables of its step, with what it holds of them.
    pub(in super::super) tables: Vec<(Table, TableSum)>,
    /// The settings.
    pub(in super::super) config: String,
}

impl Checked {
    /// The part of this name as it was when it was checked.
    pub(in super::super) fn is_same(&self, part: &Part) -> Result<(), MaintenanceError> {
        let parts = &self.manifest.parts;
        let found = parts.binary_search_by(|known| known.name.cmp(&part.name));
        match found.ok().and_then(|at| parts.get(at)) {
            Some(known) if known == part => Ok(()),
            _ => Err(broken("it changes while it is read")),
        }
    }
}

/// Reads the head alone.
pub(in super::super) fn head(file: &Path) -> Result<Head, MaintenanceError> {
    let mut head = None;
    let read = each(file, &mut |mut entry, _| {
        head = Some(parse_head(&mut entry)?);
        // Enough.
        Err(MaintenanceError::Stopped)
    });
    match (head, read) {
        (Some(head), _) => Ok(head),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => Err(broken("it is empty")),
    }
}

fn parse_head(entry: &mut Entry<'_>) -> Result<Head, MaintenanceError> {
    if part_kind(&entry.name) != Some(PartKind::Head) {
        return Err(broken("it is no backup of a store"));
    }
    let head: Head =
        serde_json::from_slice(&entry.whole(SMALL)?).map_err(|_| broken("its head is not understood"))?;
    head.check().map_err(broken)?;
    Ok(head)
}

/// Reads the manifest piece by piece, so that its text is not held beside what it says.
fn parse_manifest(entry: &mut Entry<'_>) -> Result<Manifest, MaintenanceError> {
    if entry.size > MANIFEST_MOST {
        return Err(broken("its manifest is too large"));
    }
    serde_json::from_reader(BufReader::with_capacity(1 << 16, entry)).map_err(|error| {
        match error.io_error_kind() {
            Some(kind) => unread(kind.into()),
            None => broken("its manifest is not understood"),
        }
    })
}

/// Reads a backup from end to end: every part, every row, every sum.
pub(in super::super) fn check(file: &Path, watch: Watch<'_>) -> Result<Checked, MaintenanceError> {
    let all = std::fs::metadata(file).map(|meta| meta.len()).unwrap_or_default();
    let mut looking = Looking::default();
    each(file, &mut |mut entry, done| {
        go_on(watch, Step { what: Activity::Backup, name: &entry.name, done, all })?;
        looking.take(&mut entry)?;
        let part = entry.part()?;
        // The manifest does not tell its own sum.
        if looking.manifest.is_none() {
            looking.parts.add(&part);
        }
        Ok(())
    })?;
    looking.finish()
}

/// What was seen so far.
#[derive(Default)]
struct Looking {
    head: Option<Head>,
    /// Tables of the head's step, with the lines of their parts.
    tables: Vec<(Table, Summing)>,
    /// The table whose parts come now.
    at: usize,
    config: Option<String>,
    manifest: Option<Manifest>,
    parts: PartsSum,
}

/// A sum over parts, in their order: a file may hold more of them than memory does.
#[derive(Default)]
struct PartsSum(Sha256);

impl PartsSum {
    fn add(&mut self, part: &Part) {
        for text in [&part.name, &part.sha256] {
            self.0.update((text.len() as u64).to_le_bytes());
            self.0.update(text);
        }
        self.0.update(part.size.to_le_bytes());
    }

    fn of(parts: &[Part]) -> Self {
        let mut sum = Self::default();
        parts.iter().for_each(|part| sum.add(part));
        sum
    }
}

impl Looking {
    fn take(&mut self, entry: &mut Entry<'_>) -> Result<(), MaintenanceError> {
        if self.manifest.is_some() {
            return Err(broken("something follows its manifest"));
        }
        if self.head.is_none() {
            let head = parse_head(entry)?;
            let tables = db::transfer::tables_of(head.step)?;
            self.tables = tables.into_iter().map(|table| (table, Summing::default())).collect();
            self.head = Some(head);
            return Ok(());
        }
        let name = entry.name.clone();
        match part_kind(&name) {
            Some(PartKind::Rows(table)) => self.rows(entry, table),
            Some(PartKind::File | PartKind::Version(_)) => entry.skip(),
            Some(PartKind::Config) => {
                let text =
                    String::from_utf8(entry.whole(SMALL)?).map_err(|_| broken("its settings are no text"))?;
                self.config = Some(text);
                Ok(())
            }
            Some(PartKind::Manifest) => {
                self.manifest = Some(parse_manifest(entry)?);
                Ok(())
            }
            Some(PartKind::Head) | None => {
                Err(broken(format!("it holds `{}`", wire::text::quoted(&name, 100))))
            }
        }
    }

    fn rows(&mut self, entry: &mut Entry<'_>, name: &str) -> Result<(), MaintenanceError> {
        if entry.size > ROW_MOST + PART as u64 {
            return Err(broken(format!("`{}` is too large", entry.name)));
        }
        let rest = self.tables.get(self.at..).unwrap_or_default();
        let found = rest.iter().position(|(table, _)| table.name == name);
        self.at += found
            .ok_or_else(|| broken(format!("rows of `{name}` in a place where they are not expected")))?;
        let Some((table, summing)) = self.tables.get_mut(self.at) else { return Ok(()) };
        entry.lines(&mut |text| {
            summing.add(text);
            let wrong = |what| broken(format!("table `{name}`, row {}: {what}", summing.rows()));
            row_line::parse(text, table).map(drop).map_err(wrong)
        })
    }

    fn finish(mut self) -> Result<Checked, MaintenanceError> {
        let mut manifest = self.manifest.take().ok_or_else(cut)?;
        if self.parts.0.finalize() != PartsSum::of(&manifest.parts).0.finalize() {
            return Err(broken("its parts are not those of its manifest"));
        }
        let files = manifest.parts.iter().filter(|part| part_kind(&part.name) == Some(PartKind::File));
        let folders_are_ours = manifest
            .folders
            .iter()
            .all(|folder| is_in_store(&folder.name) || super::FOLDERS.contains(&folder.name.as_str()));
        if !folders_are_ours || !are_apart(files.map(|part| part.name.as_str()), &manifest.folders) {
            return Err(broken("its files do not fit into a store"));
        }
        if self.tables.len() != manifest.tables.len() {
            return Err(broken("its tables are not those of its build"));
        }
        let tables = self.tables.into_iter().zip(&manifest.tables);
        let tables =
            tables.map(|((table, summing), entry)| fits(table, summing, entry)).collect::<Result<_, _>>()?;
        let head = self.head.ok_or_else(cut)?;
        let config = self.config.ok_or_else(|| broken("it has no settings"))?;
        manifest.parts.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Checked { head, manifest, tables, config })
    }
}

fn fits(table: Table, summing: Summing, entry: &TableEntry) -> Result<(Table, TableSum), MaintenanceError> {
    if entry.last_id < 0 || (entry.name != table.name) || entry.columns != columns(&table) {
        return Err(broken(format!("table `{}` is not that of its build", table.name)));
    }
    let sum = summing.finish(entry.last_id);
    if sum.rows != entry.rows || sum.hex() != entry.sha256 {
        return Err(broken(format!("table `{}` is not that of its manifest", table.name)));
    }
    Ok((table, sum))
}

fn broken(what: impl Into<String>) -> MaintenanceError {
    MaintenanceError::Archive(what.into())
}

fn cut() -> MaintenanceError {
    broken("it is cut off")
}

fn unread(error: io::Error) -> MaintenanceError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => cut(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::Other => {
            broken(format!("it is broken, or no backup of a store ({error})"))
        }
        _ => broken(format!("it cannot be read ({error})")),
    }
}
