//! D-Bus values as bytes: just the types that the Secret Service uses.

use zeroize::Zeroize as _;

/// Longest value that is read.
pub(super) const MOST_BYTES: usize = 1024 * 1024;

/// Writes values in this machine's little-endian form, aligned from the start of the message.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

// It may hold a password.
impl Drop for Writer {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl Writer {
    pub(super) fn align(&mut self, to: usize) -> &mut Self {
        while !self.bytes.len().is_multiple_of(to) {
            self.bytes.push(0);
        }
        self
    }

    pub(super) fn byte(&mut self, value: u8) -> &mut Self {
        self.bytes.push(value);
        self
    }

    pub(super) fn number(&mut self, value: u32) -> &mut Self {
        self.align(4).bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A string or an object path.
    pub(super) fn text(&mut self, value: &str) -> &mut Self {
        self.number(length(value.len())).bytes.extend_from_slice(value.as_bytes());
        self.byte(0)
    }

    pub(super) fn signature(&mut self, value: &str) -> &mut Self {
        self.byte(u8::try_from(value.len()).unwrap_or(u8::MAX)).bytes.extend_from_slice(value.as_bytes());
        self.byte(0)
    }

    /// A list; `element` is the alignment of its elements.
    pub(super) fn list(&mut self, element: usize, fill: impl FnOnce(&mut Self)) -> &mut Self {
        self.number(0);
        let at = self.bytes.len();
        self.align(element);
        let start = self.bytes.len();
        fill(self);
        let size = length(self.bytes.len() - start).to_le_bytes();
        self.bytes[at - 4..at].copy_from_slice(&size);
        self
    }

    /// A dictionary of strings.
    pub(super) fn dictionary(&mut self, pairs: &[(&str, &str)]) -> &mut Self {
        self.list(8, |list| {
            for (key, value) in pairs {
                list.align(8).text(key).text(value);
            }
        })
    }
}

fn length(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// Reads values; `None` for anything that does not fit, never a panic.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    big_endian: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], big_endian: bool) -> Self {
        Self { bytes, at: 0, big_endian }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn align(&mut self, to: usize) -> Option<()> {
        self.at = self.at.next_multiple_of(to);
        (self.at <= self.bytes.len()).then_some(())
    }

    fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(size)?)?;
        self.at += size;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        self.align(4)?;
        let bytes: [u8; 4] = self.take(4)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|size| *size <= MOST_BYTES)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let size = self.size()?;
        let text = std::str::from_utf8(self.take(size)?).ok()?;
        self.take(1)?;
        Some(text)
    }

    pub(super) fn signature(&mut self) -> Option<&'a str> {
        let size = usize::from(self.byte()?);
        let text = std::str::from_utf8(self.take(size)?).ok()?;
        self.take(1)?;
        Some(text)
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let size = self.size()?;
        self.take(size)
    }

    pub(super) fn texts(&mut self) -> Option<Vec<String>> {
        let end = self.size()?.checked_add(self.at)?;
        let mut texts = Vec::new();
        while self.at < end {
            texts.push(self.text()?.to_owned());
        }
        Some(texts)
    }
}
