//! What cleaning takes out of pictures, and what it leaves.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

use super::*;
use crate::media::check::check;
use crate::media::refused::Refused;

/// A picture whose left half is red and whose right half is blue.
fn picture(width: u32, height: u32) -> DynamicImage {
    let colour = |x| if x < width / 2 { Rgb([220, 0, 0]) } else { Rgb([0, 0, 220]) };
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |x, _| colour(x)))
}

fn file(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    image.write_to(&mut out, format).unwrap();
    out.into_inner()
}

/// What a camera writes: how the picture has to be turned, and a place.
fn exif(orientation: u8) -> Vec<u8> {
    let mut data = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    data.extend_from_slice(&[orientation, 0, 0, 0, 0, 0, 0]);
    data.extend_from_slice(b"GPS 55.75N 37.61E");
    data
}

fn jpeg_of_a_camera(orientation: u8) -> Vec<u8> {
    let plain = file(&picture(64, 32), ImageFormat::Jpeg);
    let mut body = b"Exif\0\0".to_vec();
    body.extend(exif(orientation));
    let length = u16::try_from(body.len() + 2).unwrap().to_be_bytes();
    let mut out = plain[..2].to_vec();
    for part in
        [&[0xff, 0xe1][..], &length, &body, &[0xff, 0xfe, 0, 8], b"secret", &plain[2..], b"hidden behind"]
    {
        out.extend_from_slice(part);
    }
    out
}

fn has(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|part| part == words.as_bytes())
}

fn decoded(bytes: &[u8]) -> RgbImage {
    image::load_from_memory(bytes).unwrap().to_rgb8()
}

#[test]
fn a_photo_keeps_its_pixels_and_loses_its_place() {
    let taken = check(&jpeg_of_a_camera(1)).unwrap();
    for words in ["GPS", "Exif", "secret", "hidden"] {
        assert!(!has(&taken.bytes, words), "{words}");
    }
    assert_eq!(decoded(&taken.bytes), decoded(&file(&picture(64, 32), ImageFormat::Jpeg)));
    assert_eq!(taken.size, Some((64, 32)));
}

#[test]
fn a_photo_taken_on_its_side_stands_upright() {
    // 6: the camera was turned to the left, so the picture has to be turned to the right.
    let taken = check(&jpeg_of_a_camera(6)).unwrap();
    assert_eq!((taken.size, has(&taken.bytes, "GPS")), (Some((32, 64)), false));
    let upright = decoded(&taken.bytes);
    assert_eq!(upright.dimensions(), (32, 64));
    assert!(upright.get_pixel(16, 8).0[0] > 180 && upright.get_pixel(16, 56).0[2] > 180);
    // 3: upside down, so red is on the right.
    let turned = decoded(&check(&jpeg_of_a_camera(3)).unwrap().bytes);
    assert!(turned.get_pixel(8, 16).0[2] > 180 && turned.get_pixel(56, 16).0[0] > 180);
}

#[test]
fn other_kinds_lose_their_notes_too() {
    let png = file(&picture(20, 10), ImageFormat::Png);
    let mut noted = png[..33].to_vec();
    let chunk = b"tEXtAuthor\0secret";
    noted.extend_from_slice(&13_u32.to_be_bytes());
    noted.extend_from_slice(chunk);
    noted.extend_from_slice(&[0; 4]);
    noted.extend_from_slice(&png[33..]);
    noted.extend_from_slice(b"hidden");
    assert_eq!(cleaned(Kind::Png, &noted).unwrap(), png);

    let gif = file(&picture(20, 10), ImageFormat::Gif);
    let at = gif.len() - 1;
    let noted = [&gif[..at], b"\x21\xfe\x06secret\0", &gif[at..], b"hidden"].concat();
    assert_eq!(cleaned(Kind::Gif, &noted).unwrap(), gif);

    let webp = file(&picture(20, 10), ImageFormat::WebP);
    let mut noted = webp.clone();
    noted.extend_from_slice(b"EXIF\x06\0\0\0secret");
    let length = u32::try_from(noted.len() - 8).unwrap().to_le_bytes();
    noted[4..8].copy_from_slice(&length);
    noted.extend_from_slice(b"hidden");
    let clean = check(&noted).unwrap();
    assert!(!has(&clean.bytes, "secret") && !has(&clean.bytes, "hidden"));
    assert_eq!(decoded(&clean.bytes), picture(20, 10).to_rgb8());
}

#[test]
fn torn_files_end_nothing() {
    for (kind, whole) in [
        (Kind::Jpeg, jpeg_of_a_camera(1)),
        (Kind::Png, file(&picture(20, 10), ImageFormat::Png)),
        (Kind::Gif, file(&picture(20, 10), ImageFormat::Gif)),
        (Kind::Webp, file(&picture(20, 10), ImageFormat::WebP)),
    ] {
        for end in 0..whole.len().saturating_sub(14) {
            let _ = cleaned(kind, &whole[..end]);
        }
        for at in 0..whole.len().min(400) {
            let mut spoilt = whole.clone();
            spoilt[at] ^= 0xff;
            let _ = check(&spoilt);
        }
    }
}

#[test]
fn a_picture_that_would_fill_the_memory_is_not_decoded() {
    // A head that promises 60,000 × 60,000 pixels, and next to nothing behind it.
    let mut bomb = file(&picture(8, 8), ImageFormat::Png);
    bomb[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
    bomb[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
    let sum = crc(&bomb[12..29]).to_be_bytes();
    bomb[29..33].copy_from_slice(&sum);
    assert_eq!(check(&bomb), Err(Refused::TooManyPixels));
    let mut large = file(&picture(8, 8), ImageFormat::Jpeg);
    large.resize((20 << 20) + 1, 0);
    assert_eq!(check(&large), Err(Refused::TooLarge));
    assert_eq!(
        check(b"<html><svg></html>").unwrap_err().to_string().split(':').next(),
        Some("it is a drawing that is not taken")
    );
}

/// The sum at the end of a PNG's chunk.
fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
        )
    };
    !bytes.iter().fold(!0, step)
}
