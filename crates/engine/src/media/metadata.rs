//! Taking out of a picture's file what is not the picture: place and time, camera, comments, what hangs behind its end.
//!
//! The pixels are not touched. A file that does not hold to its format is
//! answered with `None`; it is then written anew from its pixels.

use super::Kind;

/// The file without what is not the picture.
pub(super) fn cleaned(kind: Kind, bytes: &[u8]) -> Option<Vec<u8>> {
    match kind {
        Kind::Jpeg => jpeg(bytes),
        Kind::Png => png(bytes),
        Kind::Webp => webp(bytes),
        Kind::Gif => gif(bytes),
        _ => None,
    }
}

/// A reader that never goes past the end.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let part = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(part)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
}

/// Segments of tables, frames and scans; the profile of colours and the mark of how they are meant.
fn jpeg(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader { bytes, at: 0 };
    let mut out = Vec::with_capacity(bytes.len());
    out.extend_from_slice(reader.take(2).filter(|start| *start == b"\xff\xd8")?);
    loop {
        if reader.byte()? != 0xff {
            return None;
        }
        let mut marker = reader.byte()?;
        while marker == 0xff {
            marker = reader.byte()?;
        }
        if marker == 0xd9 {
            out.extend_from_slice(b"\xff\xd9");
            return Some(out);
        }
        let length: [u8; 2] = reader.number()?;
        let body = reader.take(usize::from(u16::from_be_bytes(length)).checked_sub(2)?)?;
        let is_kept = match marker {
            0xe0 => body.starts_with(b"JFIF\0"),
            0xe2 => body.starts_with(b"ICC_PROFILE\0"),
            0xee => body.starts_with(b"Adobe"),
            0xe1..=0xef | 0xfe => false,
            _ => true,
        };
        if is_kept {
            out.extend_from_slice(&[0xff, marker]);
            out.extend_from_slice(&length);
            out.extend_from_slice(body);
        }
        if marker == 0xda {
            out.extend_from_slice(scan(&mut reader)?);
        }
    }
}

/// The coded pixels behind a scan's head, up to the next marker that is none of theirs.
fn scan<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let rest = reader.bytes.get(reader.at..)?;
    let end = rest
        .windows(2)
        .position(|pair| matches!(pair, [0xff, marker] if *marker != 0 && !(0xd0..=0xd7).contains(marker)))?;
    reader.take(end)
}

/// Chunks without which the picture looks different.
fn png(bytes: &[u8]) -> Option<Vec<u8>> {
    const KEPT: [&[u8; 4]; 11] =
        [b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"sBIT", b"bKGD", b"pHYs", b"acTL", b"fcTL", b"fdAT"];
    let mut reader = Reader { bytes, at: 0 };
    let mut out = Vec::with_capacity(bytes.len());
    out.extend_from_slice(reader.take(8)?);
    loop {
        let start = reader.at;
        let length = usize::try_from(u32::from_be_bytes(reader.number()?)).ok()?;
        let name: [u8; 4] = reader.number()?;
        reader.take(length.checked_add(4)?)?;
        if name[0].is_ascii_uppercase() || KEPT.contains(&&name) {
            out.extend_from_slice(bytes.get(start..reader.at)?);
        }
        if &name == b"IEND" {
            return Some(out);
        }
    }
}

/// Chunks of the picture, and a head that no longer tells of the others.
fn webp(bytes: &[u8]) -> Option<Vec<u8>> {
    const KEPT: [&[u8; 4]; 7] = [b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"];
    let mut reader = Reader { bytes, at: 0 };
    reader.take(4)?;
    let whole = usize::try_from(u32::from_le_bytes(reader.number()?)).ok()?.checked_add(8)?;
    reader.take(4)?;
    let mut out = b"RIFF\0\0\0\0WEBP".to_vec();
    while reader.at < whole.min(bytes.len()) {
        let start = reader.at;
        let name: [u8; 4] = reader.number()?;
        let length = usize::try_from(u32::from_le_bytes(reader.number()?)).ok()?;
        reader.take(length)?;
        // A last odd chunk is found without its filling byte, too.
        if length % 2 == 1 && reader.at < bytes.len() {
            reader.take(1)?;
        }
        if KEPT.contains(&&name) {
            let at = out.len();
            out.extend_from_slice(bytes.get(start..reader.at)?);
            if &name == b"VP8X" {
                *out.get_mut(at + 8)? &= !0b0000_1100;
            }
        }
    }
    let length = u32::try_from(out.len() - 8).ok()?;
    out.get_mut(4..8)?.copy_from_slice(&length.to_le_bytes());
    Some(out)
}

/// Frames, their timing, and how often they are shown.
fn gif(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader { bytes, at: 0 };
    let head = reader.take(13)?;
    table(&mut reader, *head.get(10)?)?;
    let mut out = bytes.get(..reader.at)?.to_vec();
    loop {
        let start = reader.at;
        let is_kept = match reader.byte()? {
            0x3b => {
                out.push(0x3b);
                return Some(out);
            }
            0x2c => {
                let head = reader.take(9)?;
                table(&mut reader, *head.get(8)?)?;
                reader.byte()?;
                blocks(&mut reader)?;
                true
            }
            0x21 => {
                let label = reader.byte()?;
                let first = blocks(&mut reader)?;
                label == 0xf9 || (label == 0xff && [&b"NETSCAPE2.0"[..], b"ANIMEXTS1.0"].contains(&first))
            }
            _ => return None,
        };
        if is_kept {
            out.extend_from_slice(bytes.get(start..reader.at)?);
        }
    }
}

/// Goes past a table of colours, if these flags tell of one.
fn table(reader: &mut Reader<'_>, flags: u8) -> Option<()> {
    if flags & 0x80 != 0 {
        reader.take(3 << ((flags & 7) + 1))?;
    }
    Some(())
}

/// Goes past a chain of blocks; answers the first.
fn blocks<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = usize::from(reader.byte()?);
    let first = reader.take(length)?;
    let mut next = length;
    while next > 0 {
        next = usize::from(reader.byte()?);
        reader.take(next)?;
    }
    Some(first)
}

#[cfg(test)]
mod tests;
