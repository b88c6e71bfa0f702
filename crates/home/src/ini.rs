//! `Shop.ini`: the connection of a store folder, written by the program, editable by people.

use std::fs;
use std::io;
use std::path::Path;

use wire::paths;

use crate::IniError;
use crate::files::write_atomic;

const SECTION: &str = "Store";
/// Largest file that is read.
const MOST_BYTES: u64 = 1024 * 1024;
/// `MaxFileSize` where the file names none: 64 MiB.
const MAX_FILE_SIZE_KB: u64 = 64 * 1024;

/// The connection of a store folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShopIni {
    /// The store's name.
    pub name: String,
    /// The store's address, `http` or `https`.
    pub url: String,
    /// The person's login; empty before the first sign-in.
    pub login: String,
    /// Build of the program that wrote the file.
    pub build: String,
    /// Whether the store is licensed.
    pub licensed: bool,
    /// Largest file that is copied, in KB.
    pub max_file_size_kb: u64,
}

impl ShopIni {
    /// A connection to this address, before the first sign-in.
    pub fn new(name: &str, url: &str) -> Self {
        Self {
            name: name.to_owned(),
            url: url.to_owned(),
            login: String::new(),
            build: wire::BUILD.to_owned(),
            licensed: false,
            max_file_size_kb: MAX_FILE_SIZE_KB,
        }
    }

    /// Reads the file of a store folder.
    pub fn read(folder: &Path) -> Result<Self, IniError> {
        Self::parse(&read_text(&folder.join(paths::SHOP_INI))?)
    }

    /// Reads the text of the file; a BOM and CRLF are accepted.
    pub fn parse(text: &str) -> Result<Self, IniError> {
        let lines = Lines::of(text);
        if !lines.has_section() {
            return Err(IniError::NoSection);
        }
        let text_of = |key| lines.value(key).map(|(_, value)| value).unwrap_or_default();
        let url = text_of("Url");
        if url.is_empty() {
            return Err(IniError::NoUrl);
        }
        lines.check(
            "Url",
            "an address that begins with http:// or https:// and holds no login or password",
            is_address,
        )?;
        let licensed = lines.check("Licensed", "1 or 0", |value| flag(value).is_some())?;
        let size =
            lines.check("MaxFileSize", "a number of kilobytes", |value| value.parse::<u64>().is_ok())?;
        Ok(Self {
            name: text_of("Name"),
            url,
            login: text_of("Login"),
            build: text_of("Build"),
            licensed: licensed.and_then(|value| flag(&value)).unwrap_or(false),
            max_file_size_kb: size.and_then(|value| value.parse().ok()).unwrap_or(MAX_FILE_SIZE_KB),
        })
    }

    /// Writes the file. Comments, order, other keys and other sections of an existing one stay; one
    /// that is not text is kept beside as `Shop.ini.bak`.
    pub fn write(&self, folder: &Path) -> Result<(), IniError> {
        let path = folder.join(paths::SHOP_INI);
        let before = match read_text(&path) {
            Ok(text) => text,
            Err(IniError::Io(error)) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(IniError::Io(error)) => return Err(error.into()),
            Err(_) => {
                fs::rename(&path, path.with_extension("ini.bak"))?;
                String::new()
            }
        };
        Ok(write_atomic(&path, self.write_into(&before).as_bytes())?)
    }

    /// The text `before` with this connection in it.
    pub fn write_into(&self, before: &str) -> String {
        let licensed = if self.licensed { "1" } else { "0" };
        let size = self.max_file_size_kb.to_string();
        let mut lines = Lines::of(before);
        for (key, value) in [
            ("Name", self.name.as_str()),
            ("Url", &self.url),
            ("Login", &self.login),
            ("Build", &self.build),
            ("Licensed", licensed),
            ("MaxFileSize", &size),
        ] {
            lines.set(key, value);
        }
        lines.text()
    }

    /// Address of an endpoint below the store's address.
    pub fn endpoint(&self, path: &str) -> String {
        format!("{}/{path}", self.url.trim_end_matches('/'))
    }
}

fn read_text(path: &Path) -> Result<String, IniError> {
    let bytes = wire::files::read_regular(path, MOST_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => IniError::TooLarge,
        _ => IniError::Io(error),
    })?;
    String::from_utf8(bytes).map_err(|_| IniError::NotUtf8)
}

fn is_address(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let rest = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    // A backslash ends the host for whoever asks there.
    let host = rest.and_then(|rest| rest.split(['/', '\\', '?', '#']).next()).unwrap_or_default();
    // The address is shown to agents: nothing secret may be in it.
    !host.is_empty() && !host.contains('@') && !value.chars().any(|c| c.is_whitespace() || c.is_control())
}

fn flag(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "" | "0" | "no" | "false" | "off" => Some(false),
        "1" | "yes" | "true" | "on" => Some(true),
        _ => None,
    }
}

/// The file line by line, so that what people wrote survives a rewrite.
struct Lines {
    bom: bool,
    crlf: bool,
    lines: Vec<String>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let (bom, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let crlf = text.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r'));
        Self { bom, crlf, lines: text.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect() }
    }

    fn text(&self) -> String {
        let end = if self.crlf { "\r\n" } else { "\n" };
        let mut out = String::from(if self.bom { "\u{feff}" } else { "" });
        for line in &self.lines {
            out.push_str(line);
            out.push_str(end);
        }
        out
    }

    fn has_section(&self) -> bool {
        self.lines.iter().any(|line| section(line).is_some_and(|name| name.eq_ignore_ascii_case(SECTION)))
    }

    /// Lines of the section, with their numbers from 0.
    fn inside(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut inside = false;
        self.lines.iter().enumerate().filter_map(move |(number, line)| match section(line) {
            Some(name) => {
                inside = name.eq_ignore_ascii_case(SECTION);
                None
            }
            None => inside.then_some((number, line.as_str())),
        })
    }

    /// Line number (from 0) and value of a key; the first one counts.
    fn value(&self, key: &str) -> Option<(usize, String)> {
        self.inside().find_map(|(number, line)| {
            let (name, value) = pair(line)?;
            name.eq_ignore_ascii_case(key).then(|| (number, unquoted(value).to_owned()))
        })
    }

    fn check(
        &self,
        key: &'static str,
        wanted: &'static str,
        fits: impl Fn(&str) -> bool,
    ) -> Result<Option<String>, IniError> {
        match self.value(key) {
            Some((line, value)) if !fits(&value) => Err(IniError::Value { key, line: line + 1, wanted }),
            found => Ok(found.map(|(_, value)| value)),
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        let line = format!("{key}={}", quoted(value));
        if let Some((number, old)) = self.value(key) {
            if old != clean(value) {
                self.lines[number] = line;
            }
            return;
        }
        if !self.has_section() {
            if self.lines.last().is_some_and(|last| !last.trim().is_empty()) {
                self.lines.push(String::new());
            }
            self.lines.push(format!("[{SECTION}]"));
            self.lines.push(line);
            return;
        }
        // After the section's last line that says something, or right under its head.
        let last = self.inside().filter(|(_, text)| !text.trim().is_empty()).map(|(number, _)| number).last();
        let head =
            self.lines.iter().position(|l| section(l).is_some_and(|n| n.eq_ignore_ascii_case(SECTION)));
        let at = last.or(head).map_or(self.lines.len(), |number| number + 1);
        self.lines.insert(at, line);
    }
}

/// The name of the section that a line begins; a comment may stand behind it.
fn section(line: &str) -> Option<&str> {
    let (name, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
    let rest = rest.trim_start();
    (rest.is_empty() || rest.starts_with([';', '#'])).then_some(name.trim())
}

fn pair(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if line.starts_with([';', '#']) {
        return None;
    }
    line.split_once('=').map(|(key, value)| (key.trim(), value.trim()))
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
}

/// A value as one line can hold it.
fn clean(value: &str) -> String {
    value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn quoted(value: &str) -> String {
    let value = clean(value);
    if value.trim() != value || value.starts_with('"') { format!("\"{value}\"") } else { value }
}

#[cfg(test)]
mod tests;
