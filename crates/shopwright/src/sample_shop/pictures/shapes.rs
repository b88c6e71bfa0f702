//! Shapes that many drawings share.

use super::canvas::{Canvas, Colour};
use super::scene::Palette;
use crate::sample_shop::random::Stream;

/// Something round that stands upright, between a top and a bottom.
pub(super) fn cylinder(
    canvas: &mut Canvas,
    colour: Colour,
    shine: i32,
    x: i64,
    half: i64,
    (top, bottom): (i64, i64),
) {
    let fill = canvas.round(colour, shine);
    let curve = half / 5;
    canvas.path(
        &fill,
        &format!(
            "M{} {top}V{bottom}a{half} {curve} 0 0 0 {} 0V{top}a{half} {curve} 0 0 1-{} 0z",
            x - half,
            half * 2,
            half * 2
        ),
    );
}

/// A heap of leaves.
pub(super) fn heap(canvas: &mut Canvas, x: i64, y: i64, half: i64, palette: &Palette, stream: &mut Stream) {
    canvas.shadow(x, y + 6, half);
    let leaf = palette.leaf;
    let base = canvas.down(&[(0, leaf.text()), (100, leaf.lighter(-44).text())]);
    canvas
        .path(&base, &format!("M{} {y}q{half}-{} {} 0q-{half} 34-{} 0z", x - half, half, half * 2, half * 2));
    for row in 0..5 {
        let wide = half * (5 - row) / 5;
        for _ in 0..(11 - row * 2) {
            let at = x + stream.below(wide * 2) - wide;
            let height = y + 8 - row * half / 9 - stream.below(9);
            let tone = leaf.lighter(i32::try_from(stream.below(56)).unwrap_or(0) - 22);
            one_leaf(canvas, at, height, tone, stream);
        }
    }
    if palette.has_petals {
        for _ in 0..7 {
            let at = x + stream.below(half) - half / 2;
            let height = y - stream.below(half / 2);
            canvas.ellipse(&palette.accent.lighter(35).text(), at, height, 8, 6);
        }
    }
}

/// A curled leaf.
pub(super) fn one_leaf(canvas: &mut Canvas, x: i64, y: i64, colour: Colour, stream: &mut Stream) {
    let (turn, long) = (stream.below(180) - 90, 18 + stream.below(16));
    canvas.add(&format!(
        "<path fill=\"{}\" transform=\"translate({x} {y}) rotate({turn})\" d=\"M-{long} 0q{long}-{} {} -2q-{long} {} -{} 2z\"/>",
        colour.text(),
        long / 2,
        long * 2,
        long / 4,
        long * 2
    ));
}

/// A glass of tea, with steam.
pub(super) fn glass(canvas: &mut Canvas, x: i64, y: i64, tea: Colour) {
    canvas.shadow(x, y + 2, 96);
    let liquid = canvas.down(&[(0, tea.lighter(24).text()), (100, tea.lighter(-26).text())]);
    canvas.path(&liquid, &format!("M{} {}l12 130q66 26 132 0l12-130z", x - 78, y - 136));
    canvas.add("<g fill=\"#fff\">");
    canvas.add(&format!("<path opacity=\".22\" d=\"M{} {}l18 204q70 26 136 0l18-204z\"/>", x - 86, y - 208));
    canvas.add(&format!("<path opacity=\".5\" d=\"M{} {}l16 176l12 4l-12-180z\"/></g>", x - 70, y - 196));
    canvas.ellipse(&tea.lighter(38).text(), x, y - 136, 78, 17);
    canvas.add(&format!(
        "<ellipse cx=\"{x}\" cy=\"{}\" rx=\"86\" ry=\"19\" fill=\"none\" stroke=\"#fff\" stroke-opacity=\".75\" stroke-width=\"4\"/>",
        y - 208
    ));
    steam(canvas, x, y - 230);
}

/// Steam above something hot.
pub(super) fn steam(canvas: &mut Canvas, x: i64, y: i64) {
    canvas.add("<g opacity=\".4\">");
    canvas.line("#fff", 9, &format!("M{} {y}q-24-34 0-66t0-60", x - 26));
    canvas.line("#fff", 7, &format!("M{} {}q-22-30 0-58t0-52", x + 22, y - 8));
    canvas.add("</g>");
}
