//! What happens to a file before it becomes one of the shop's.

use super::decode;
use super::refused::{MOST_BYTES, Refused};
use super::{Kind, metadata, svg};

/// A file that the shop takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Its kind.
    pub kind: Kind,
    /// Its content, upright and without data of the camera.
    pub bytes: Vec<u8>,
    /// Pixels, of a picture.
    pub size: Option<(u32, u32)>,
}

/// Checks a file by its content. A picture is decoded whole, so that what is stored can be shown.
pub fn check(bytes: &[u8]) -> Result<Checked, Refused> {
    if bytes.len() > MOST_BYTES {
        return Err(Refused::TooLarge);
    }
    let kind = Kind::of(bytes).ok_or(Refused::Kind)?;
    if kind == Kind::Svg {
        let size = svg::check(bytes).map_err(|reason| Refused::Drawing(reason.0))?;
        return Ok(Checked { kind, bytes: bytes.to_vec(), size: Some(size) });
    }
    let Some(format) = kind.pixels() else {
        return Ok(Checked { kind, bytes: bytes.to_vec(), size: None });
    };
    let decoded = decode::pixels(bytes, format)?;
    let size = Some((decoded.image.width(), decoded.image.height()));
    let is_upright = !decoded.was_turned;
    if let Some(bytes) = metadata::cleaned(kind, bytes).filter(|_| is_upright) {
        return Ok(Checked { kind, bytes, size });
    }
    let (kind, bytes) =
        decode::written_anew(&decoded.image, kind).map_err(|error| Refused::Broken(error.0))?;
    Ok(Checked { kind, bytes, size })
}
