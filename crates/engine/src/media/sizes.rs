//! The sizes pictures come in, and their addresses.

use crate::units::path::encoded;

/// Widths and heights that pictures are made in; others are not, so that nobody fills the disk by asking.
pub(crate) const WIDTHS: [u32; 7] = [160, 320, 480, 640, 960, 1280, 1920];
/// The width of a picture for those who take no choice.
const USUAL: u32 = 960;

/// How a picture goes into a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fit {
    /// All of it is shown, and the box may not be full.
    Inside,
    /// The box is full, and what stands out is cut off.
    Cover,
}

/// A size of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: Option<u32>,
    pub(crate) fit: Fit,
}

impl Size {
    /// A size as an address names it; `None` is none of those there are.
    pub(crate) fn of(width: &str, height: Option<&str>, fit: Option<&str>) -> Option<Self> {
        let known = |text: &str| text.parse().ok().filter(|length| WIDTHS.contains(length));
        let fit = match fit {
            None | Some("inside") => Fit::Inside,
            Some("cover") => Fit::Cover,
            Some(_) => return None,
        };
        let height = height.map(|height| known(height).ok_or(())).transpose().ok()?;
        Some(Self { width: known(width)?, height, fit })
    }

    /// The pixels of the whole picture in this size; it is never made larger than it is.
    pub(super) fn scaled(self, from: (u32, u32)) -> (u32, u32) {
        self.by(from, 1.0)
    }

    /// The same for a drawing, which can be as large as one likes.
    pub(super) fn scaled_freely(self, from: (u32, u32)) -> (u32, u32) {
        self.by(from, f64::INFINITY)
    }

    /// The pixels it takes on a page, whether it has as many or not.
    pub(crate) fn shown(self, from: (u32, u32)) -> (u32, u32) {
        self.scaled_freely(from)
    }

    fn by(self, (width, height): (u32, u32), most: f64) -> (u32, u32) {
        let across = f64::from(self.width) / f64::from(width.max(1));
        let down = self.height.map(|wanted| f64::from(wanted) / f64::from(height.max(1)));
        let factor = match (self.fit, down) {
            (_, None) => across,
            (Fit::Inside, Some(down)) => across.min(down),
            (Fit::Cover, Some(down)) => across.max(down),
        };
        let factor = factor.min(most);
        let scaled = |length: u32| ((f64::from(length) * factor).round() as u32).clamp(1, 8_000);
        (scaled(width), scaled(height))
    }

    /// The size in a file's name.
    pub(super) fn mark(self) -> String {
        let fit = if self.fit == Fit::Cover { "c" } else { "" };
        match self.height {
            Some(height) => format!("{}x{height}{fit}", self.width),
            None => self.width.to_string(),
        }
    }
}

/// The address of a stored file, in a size or as it is.
pub(crate) fn address(stored_name: &str, size: Option<Size>) -> String {
    let mut url = encoded(&format!("files/{stored_name}"));
    if let Some(size) = size {
        url.push_str(&format!("?w={}", size.width));
        if let Some(height) = size.height {
            let fit = if size.fit == Fit::Cover { "cover" } else { "inside" };
            url.push_str(&format!("&h={height}&fit={fit}"));
        }
    }
    url
}

/// The address of a picture for those who take no choice: upright and of a usual width.
pub(crate) fn main_address(stored_name: &str) -> String {
    address(stored_name, Some(Size { width: USUAL, height: None, fit: Fit::Inside }))
}

/// The addresses of a picture in all widths it is worth having in, as browsers choose from.
pub(crate) fn srcset(stored_name: &str, width: u32, is_drawing: bool) -> String {
    let mut parts = Vec::new();
    for wanted in WIDTHS {
        let size = Size { width: wanted, height: None, fit: Fit::Inside };
        let real = if is_drawing { wanted } else { wanted.min(width) };
        parts.push(format!("{} {real}w", address(stored_name, Some(size))));
        if real < wanted || (!is_drawing && real == width) {
            break;
        }
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fixed_sizes_are_made() {
        assert_eq!(Size::of("480", None, None), Some(Size { width: 480, height: None, fit: Fit::Inside }));
        assert!(Size::of("480", Some("320"), Some("cover")).is_some());
        for (width, height, fit) in
            [("481", None, None), ("", None, None), ("480", Some("1"), None), ("480", None, Some("stretch"))]
        {
            assert_eq!(Size::of(width, height, fit), None, "{width} {height:?} {fit:?}");
        }
    }

    #[test]
    fn a_picture_keeps_its_shape_and_is_never_blown_up() {
        let size = |width, height, fit| Size { width, height, fit };
        assert_eq!(size(480, None, Fit::Inside).scaled((4000, 3000)), (480, 360));
        assert_eq!(size(960, None, Fit::Inside).scaled((800, 600)), (800, 600));
        assert_eq!(size(480, Some(480), Fit::Inside).scaled((1000, 4000)), (120, 480));
        assert_eq!(size(480, Some(480), Fit::Cover).scaled((1000, 4000)), (480, 1920));
        assert_eq!(size(960, None, Fit::Inside).scaled_freely((40, 20)), (960, 480));
    }

    #[test]
    fn browsers_choose_from_widths_up_to_the_pictures_own() {
        let set = srcset("products/1/a b.jpg", 500, false);
        assert_eq!(
            set,
            "/files/products/1/a%20b.jpg?w=160 160w, /files/products/1/a%20b.jpg?w=320 320w, \
             /files/products/1/a%20b.jpg?w=480 480w, /files/products/1/a%20b.jpg?w=640 500w"
        );
        assert!(srcset("a.jpg", 480, false).ends_with("?w=480 480w"));
        assert!(srcset("a.svg", 40, true).ends_with("?w=1920 1920w"));
    }
}
