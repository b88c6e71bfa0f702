//! Kinds of files that the shop hands out, told by what is in them and never by their names.

use image::ImageFormat;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A photo.
    Jpeg,
    /// A picture without loss.
    Png,
    /// A picture of few colours, maybe a moving one.
    Gif,
    /// A photo or a picture without loss.
    Webp,
    /// A drawing.
    Svg,
    /// A document.
    Pdf,
    /// A film.
    Mp4,
    /// A film.
    Webm,
    /// A text.
    Text,
}

impl Kind {
    /// The kind of this content; `None` is one that is not handed out.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let begins = |with: &[u8]| bytes.starts_with(with);
        let at = |from: usize, what: &[u8]| bytes.get(from..from + what.len()) == Some(what);
        if begins(b"\xff\xd8\xff") {
            return Some(Self::Jpeg);
        }
        if begins(b"\x89PNG\r\n\x1a\n") {
            return Some(Self::Png);
        }
        if begins(b"GIF87a") || begins(b"GIF89a") {
            return Some(Self::Gif);
        }
        if begins(b"RIFF") && at(8, b"WEBP") {
            return Some(Self::Webp);
        }
        if begins(b"%PDF-") {
            return Some(Self::Pdf);
        }
        // Other boxes of this family hold pictures that no browser shows everywhere.
        if at(4, b"ftyp") && [b"isom", b"mp41", b"mp42", b"iso2", b"avc1"].iter().any(|brand| at(8, *brand)) {
            return Some(Self::Mp4);
        }
        if begins(b"\x1a\x45\xdf\xa3") {
            return Some(Self::Webm);
        }
        text(bytes)
    }

    /// The kind that a stored file's type names.
    pub fn of_mime(mime: &str) -> Option<Self> {
        ALL.into_iter().find(|kind| kind.mime() == mime)
    }

    /// Its type.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Svg => "image/svg+xml",
            Self::Pdf => "application/pdf",
            Self::Mp4 => "video/mp4",
            Self::Webm => "video/webm",
            Self::Text => "text/plain; charset=utf-8",
        }
    }

    /// The ending of its name.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Gif => "gif",
            Self::Webp => "webp",
            Self::Svg => "svg",
            Self::Pdf => "pdf",
            Self::Mp4 => "mp4",
            Self::Webm => "webm",
            Self::Text => "txt",
        }
    }

    /// How it is decoded, where it is made of pixels.
    pub(super) fn pixels(self) -> Option<ImageFormat> {
        match self {
            Self::Jpeg => Some(ImageFormat::Jpeg),
            Self::Png => Some(ImageFormat::Png),
            Self::Gif => Some(ImageFormat::Gif),
            Self::Webp => Some(ImageFormat::WebP),
            _ => None,
        }
    }

    /// Whether pages show it as a picture.
    pub fn is_picture(self) -> bool {
        self == Self::Svg || self.pixels().is_some()
    }

    /// Whether a browser may show it by itself, without anything in it being able to act.
    pub(crate) fn is_inert(self) -> bool {
        self.pixels().is_some() || matches!(self, Self::Mp4 | Self::Webm)
    }
}

const ALL: [Kind; 9] =
    [Kind::Jpeg, Kind::Png, Kind::Gif, Kind::Webp, Kind::Svg, Kind::Pdf, Kind::Mp4, Kind::Webm, Kind::Text];

/// A text; one that begins as XML or HTML does is a drawing or nothing.
fn text(bytes: &[u8]) -> Option<Kind> {
    let text = std::str::from_utf8(bytes).ok()?;
    if text.is_empty() || text.chars().any(|letter| letter.is_control() && !"\t\r\n".contains(letter)) {
        return None;
    }
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with('<') {
        return text.contains("<svg").then_some(Kind::Svg);
    }
    Some(Kind::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_by_its_content() {
        assert_eq!(Kind::of(b"\xff\xd8\xff\xe0rest"), Some(Kind::Jpeg));
        assert_eq!(Kind::of(b"RIFF\0\0\0\0WEBPVP8 "), Some(Kind::Webp));
        assert_eq!(Kind::of(b"<?xml version='1.0'?><svg/>"), Some(Kind::Svg));
        assert_eq!(Kind::of("plain, простой".as_bytes()), Some(Kind::Text));
        for none in
            [&b"<html><body>"[..], b"", b"MZ\x90\0", b"PK\x03\x04", b"\0\0\0\x1cftypheic", b"\xff\xfe"]
        {
            assert_eq!(Kind::of(none), None, "{none:?}");
        }
    }

    #[test]
    fn every_type_leads_back_to_its_kind() {
        assert!(ALL.into_iter().all(|kind| Kind::of_mime(kind.mime()) == Some(kind)));
    }
}
