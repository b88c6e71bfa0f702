//! Why a file is not taken, and the limits behind it.

/// Largest file.
pub(super) const MOST_BYTES: usize = 20 << 20;
/// Most pixels of a picture, looked at before any is decoded.
pub(super) const MOST_PIXELS: u64 = 50_000_000;

/// Why a file is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is too large.
    #[error("it is larger than {} MB", MOST_BYTES >> 20)]
    TooLarge,
    /// It is of a kind that is not handed out.
    #[error("it is none of JPEG, PNG, GIF, WebP, SVG, PDF, MP4, WebM and plain text, whatever its name says")]
    Kind,
    /// Decoding it would take more memory than a picture is worth.
    #[error("it has more than {} million pixels", MOST_PIXELS / 1_000_000)]
    TooManyPixels,
    /// It cannot be decoded.
    #[error("it is broken: {0}")]
    Broken(String),
    /// A drawing that does more than show.
    #[error("it is a drawing that is not taken: {0}")]
    Drawing(String),
}
