//! From files to pixels, to other sizes, and back.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, RgbaImage};

use super::refused::{MOST_PIXELS, Refused};
use super::sizes::{Fit, Size};
use super::{Kind, svg};

/// Most memory of a decoder.
const MOST_MEMORY: u64 = 512 << 20;
/// Quality of photos that are written anew.
const ORIGINAL_QUALITY: u8 = 92;
/// Quality of photos in sizes.
const QUALITY: u8 = 82;
/// The same for WebP, whose scale is another one.
const WEBP_QUALITY: f32 = 80.0;

/// A decoded picture, upright.
pub(super) struct Decoded {
    pub(super) image: DynamicImage,
    /// Whether the file's data said that it has to be turned.
    pub(super) was_turned: bool,
}

/// Decodes a picture whose head promises no more pixels than are allowed.
pub(super) fn pixels(bytes: &[u8], format: ImageFormat) -> Result<Decoded, Refused> {
    let broken = |error: image::ImageError| match error {
        image::ImageError::Limits(_) => Refused::TooManyPixels,
        other => Refused::Broken(other.to_string()),
    };
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_MEMORY);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(Refused::TooManyPixels);
    }
    let turn = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(broken)?;
    image.apply_orientation(turn);
    Ok(Decoded { image, was_turned: turn != Orientation::NoTransforms })
}

/// Why a picture was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the picture cannot be made: {0}")]
pub(crate) struct MakeError(pub(crate) String);

impl From<image::ImageError> for MakeError {
    fn from(error: image::ImageError) -> Self {
        Self(error.to_string())
    }
}

/// A picture's file, from its pixels alone: photos stay photos, all else is without loss.
pub(super) fn written_anew(image: &DynamicImage, kind: Kind) -> Result<(Kind, Vec<u8>), MakeError> {
    if kind == Kind::Jpeg || (kind == Kind::Webp && !image.color().has_alpha()) {
        return Ok((Kind::Jpeg, jpeg(image, ORIGINAL_QUALITY)?));
    }
    Ok((Kind::Png, png(image)?))
}

/// How a picture in a size is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Encoding {
    /// For those who take it.
    Webp,
    /// What every browser shows: JPEG, or PNG where there is something to see through.
    Common,
}

/// Makes a picture in a size; answers its kind and file.
pub(crate) fn make(
    kind: Kind,
    bytes: &[u8],
    size: Size,
    encoding: Encoding,
) -> Result<(Kind, Vec<u8>), MakeError> {
    let image = match kind.pixels() {
        Some(format) => {
            let decoded = pixels(bytes, format).map_err(|error| MakeError(error.to_string()))?;
            resized(decoded.image, size)
        }
        None if kind == Kind::Svg => drawn(bytes, size)?,
        None => return Err(MakeError("it is no picture".to_owned())),
    };
    let is_opaque = !image.color().has_alpha() || image.to_rgba8().pixels().all(|pixel| pixel.0[3] == 255);
    match (encoding, is_opaque) {
        (Encoding::Webp, true) => {
            let rgb = image.to_rgb8();
            let file = webp::Encoder::from_rgb(&rgb, rgb.width(), rgb.height()).encode(WEBP_QUALITY);
            Ok((Kind::Webp, file.to_vec()))
        }
        (Encoding::Webp, false) => {
            let rgba = image.to_rgba8();
            let file = webp::Encoder::from_rgba(&rgba, rgba.width(), rgba.height()).encode(WEBP_QUALITY);
            Ok((Kind::Webp, file.to_vec()))
        }
        (Encoding::Common, true) => Ok((Kind::Jpeg, jpeg(&image, QUALITY)?)),
        (Encoding::Common, false) => Ok((Kind::Png, png(&image)?)),
    }
}

fn jpeg(image: &DynamicImage, quality: u8) -> Result<Vec<u8>, MakeError> {
    let mut out = Vec::new();
    JpegEncoder::new_with_quality(&mut out, quality).encode_image(&image.to_rgb8())?;
    Ok(out)
}

fn png(image: &DynamicImage) -> Result<Vec<u8>, MakeError> {
    let mut out = Cursor::new(Vec::new());
    image.write_to(&mut out, ImageFormat::Png)?;
    Ok(out.into_inner())
}

fn resized(image: DynamicImage, size: Size) -> DynamicImage {
    let from = (image.width(), image.height());
    let (width, height) = size.scaled(from);
    // Very large pictures are halved roughly first: the fine way takes time by their pixels.
    let image = if from.0 / width.max(1) >= 4 { image.thumbnail(width * 2, height * 2) } else { image };
    let image = if (image.width(), image.height()) == (width, height) {
        image
    } else {
        image.resize_exact(width, height, FilterType::CatmullRom)
    };
    cut(image, size)
}

fn drawn(bytes: &[u8], size: Size) -> Result<DynamicImage, MakeError> {
    let from = svg::check(bytes).map_err(|reason| MakeError(reason.0))?;
    let (width, height) = size.scaled_freely(from);
    let pixels = svg::draw(bytes, width, height).ok_or_else(|| MakeError("it cannot be drawn".to_owned()))?;
    let straight = pixels.pixels().iter().flat_map(|pixel| {
        let colour = pixel.demultiply();
        [colour.red(), colour.green(), colour.blue(), colour.alpha()]
    });
    let image = RgbaImage::from_raw(width, height, straight.collect())
        .ok_or_else(|| MakeError("it cannot be drawn".to_owned()))?;
    Ok(cut(DynamicImage::ImageRgba8(image), size))
}

/// Cuts off what stands out of the box, the same on both sides.
fn cut(image: DynamicImage, size: Size) -> DynamicImage {
    match (size.fit, size.height) {
        (Fit::Cover, Some(height)) => {
            let (width, height) = (size.width.min(image.width()), height.min(image.height()));
            image.crop_imm((image.width() - width) / 2, (image.height() - height) / 2, width, height)
        }
        _ => image,
    }
}
