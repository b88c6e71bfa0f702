//! Tea: tins, pouches and pressed cakes, with leaves before them and what they make in a cup.

use super::canvas::{Canvas, Colour};
use super::scene::Palette;
use super::shapes::{cylinder, glass, heap, one_leaf};
use crate::sample_shop::random::Stream;

/// The line on which everything stands.
const GROUND: i64 = 640;

/// A tea of this name.
pub(super) fn tea(canvas: &mut Canvas, palette: &Palette, name: &str, stream: &mut Stream) {
    let is_pressed = ["cake", "brick", "nest", "mandarin"].iter().any(|word| name.contains(word));
    if is_pressed {
        cake(canvas, palette, stream);
    } else if stream.below(5) < 3 {
        tin(canvas, palette, stream, 300 + stream.clone().below(60) - 30);
    } else {
        pouch(canvas, palette, stream);
    }
    match stream.below(3) {
        0 => glass(canvas, 585, 660, palette.cup),
        _ => heap(canvas, 560, 690, 165, palette, stream),
    }
    if !is_pressed && stream.below(2) == 0 {
        heap(canvas, 200, 712, 90, palette, stream);
    }
}

/// Powdered tea: a small tin and a bowl of it.
pub(super) fn powder(canvas: &mut Canvas, palette: &Palette, stream: &mut Stream) {
    small_tin(canvas, 265, palette, stream);
    super::ware::bowl(canvas, 545, 690, 165, super::scene::clay(stream), Some(palette.cup));
    if stream.below(2) == 0 {
        super::ware::whisk(canvas, 150, 700);
    } else {
        mound(canvas, 150, 715, palette.leaf);
    }
}

/// A heap of powder.
fn mound(canvas: &mut Canvas, x: i64, y: i64, colour: Colour) {
    canvas.shadow(x, y, 90);
    let fill = canvas.down(&[(0, colour.lighter(32).text()), (100, colour.lighter(-22).text())]);
    canvas.path(&fill, &format!("M{} {y}q40-18 64-62q12-20 28 0q26 46 62 62q-76 16-154 0z", x - 78));
}

/// A tin with a label; `x` is its middle.
fn tin(canvas: &mut Canvas, palette: &Palette, stream: &mut Stream, x: i64) {
    let (half, top) = (120 + stream.below(24), 236 + stream.below(56));
    let body = palette.tin(stream);
    canvas.shadow(x, GROUND + 8, half + 14);
    cylinder(canvas, body, 26, x, half, (top, GROUND));
    // The lid stands out a little.
    cylinder(canvas, body.lighter(-10), 34, x, half + 5, (top - 34, top + 22));
    let rim = canvas.across(&[(0, body.lighter(46).text()), (100, body.lighter(10).text())]);
    canvas.ellipse(&rim, x, top - 34, half + 5, 25);
    canvas.ellipse(&body.lighter(18).text(), x, top - 34, half - 8, 19);
    label(canvas, palette, stream, x, half, (top + 76, GROUND - 74));
}

fn small_tin(canvas: &mut Canvas, x: i64, palette: &Palette, stream: &mut Stream) {
    let body = palette.tin(stream);
    let (half, top) = (104, 410);
    canvas.shadow(x, GROUND + 8, half + 10);
    cylinder(canvas, body, 30, x, half, (top, GROUND));
    cylinder(canvas, Colour(206, 178, 120), 50, x, half + 3, (top - 26, top + 12));
    canvas.ellipse("#f0dfb4", x, top - 26, half + 3, 22);
    label(canvas, palette, stream, x, half, (top + 52, GROUND - 40));
}

/// A paper label round a tin, with a leaf and lines as of print.
fn label(
    canvas: &mut Canvas,
    palette: &Palette,
    stream: &mut Stream,
    x: i64,
    half: i64,
    (top, bottom): (i64, i64),
) {
    let paper = palette.paper;
    cylinder(canvas, paper, 12, x, half, (top, bottom));
    let band = palette.accent;
    cylinder(canvas, band, 24, x, half, (top, top + 14));
    cylinder(canvas, band, 24, x, half, (bottom - 16, bottom));
    let middle = (top + bottom) / 2 + 8;
    emblem(canvas, x, middle - 12, band, stream);
    let ink = band.lighter(-20).text();
    canvas.rect(&ink, (x - half * 4 / 9, middle + 44), (half * 8 / 9, 7), 3);
    canvas.rect(&ink, (x - half / 3, middle + 60), (half * 2 / 3, 5), 2);
}

/// The mark of a tea: a leaf, a flower, a mountain or the sun.
fn emblem(canvas: &mut Canvas, x: i64, y: i64, colour: Colour, stream: &mut Stream) {
    let (ink, light) = (colour.lighter(-8).text(), colour.lighter(40).text());
    match stream.below(4) {
        0 => {
            canvas.path(&ink, &format!("M{x} {}q-58 34-8 96q8 6 8 6q0 0 8-6q50-62-8-96z", y - 62));
            canvas.line(&light, 3, &format!("M{x} {}V{}m0-18l-18-14m18-6l18-14", y - 44, y + 34));
        }
        1 => {
            for turn in 0..6 {
                canvas.add(&format!(
                    "<ellipse fill=\"{ink}\" cx=\"{x}\" cy=\"{}\" rx=\"15\" ry=\"27\" transform=\"rotate({} {x} {y})\"/>",
                    y - 27,
                    turn * 60
                ));
            }
            canvas.ellipse(&light, x, y, 13, 13);
        }
        2 => {
            canvas.ellipse(&light, x + 26, y - 34, 18, 18);
            canvas.path(&ink, &format!("M{} {}l42-72l26 38l18-24l38 58z", x - 62, y + 34));
            canvas.path(&light, &format!("M{} {}l14 20l-12 6l-8-8l-10 8z", x - 20, y - 38));
        }
        _ => {
            canvas.ellipse(&ink, x, y - 4, 44, 44);
            canvas.path(&light, &format!("M{} {}q44-40 88 0q-44 40-88 0z", x - 44, y - 4));
            canvas.ellipse(&ink, x, y - 4, 13, 13);
        }
    }
}

/// A paper pouch, folded at its top.
fn pouch(canvas: &mut Canvas, palette: &Palette, stream: &mut Stream) {
    let x = 300;
    let paper = palette.tin(stream).mixed(Colour(222, 200, 164), 55);
    canvas.shadow(x, GROUND + 10, 160);
    let fill = canvas.across(&[
        (0, paper.lighter(-22).text()),
        (22, paper.lighter(22).text()),
        (60, paper.text()),
        (100, paper.lighter(-30).text()),
    ]);
    canvas.path(&fill, "M176 300q-14 170-6 330q4 22 30 22h200q26 0 30-22q8-160-6-330z");
    let fold = canvas.down(&[(0, paper.lighter(30).text()), (100, paper.lighter(-12).text())]);
    canvas.path(&fold, "M170 236h260q6 34-4 70h-252q-10-36-4-70z");
    canvas.line(&paper.lighter(-34).text(), 3, "M174 306h252");
    canvas.rect("#3b2f26", (284, 226), (32, 44), 4);
    // Creases.
    canvas.line(&paper.lighter(14).text(), 3, "M196 330q20 120 6 270");
    canvas.line(&paper.lighter(-18).text(), 3, "M410 330q-16 130-2 270");
    canvas.rect(&palette.paper.text(), (214, 376), (172, 190), 10);
    canvas.rect(&palette.accent.text(), (214, 376), (172, 12), 6);
    emblem(canvas, 300, 462, palette.accent, stream);
    let ink = palette.accent.lighter(-20).text();
    canvas.rect(&ink, (242, 520), (116, 7), 3);
    canvas.rect(&ink, (262, 536), (76, 5), 2);
}

/// A pressed cake, half out of its wrapper.
fn cake(canvas: &mut Canvas, palette: &Palette, stream: &mut Stream) {
    canvas.shadow(330, 650, 210);
    let leaf = palette.leaf;
    let side = canvas.round(leaf.lighter(-14), 16);
    canvas.path(&side, "M112 520q0 76 60 112q158 42 316 0q60-36 60-112z");
    let face = canvas.down(&[(0, leaf.lighter(20).text()), (100, leaf.lighter(-16).text())]);
    canvas.ellipse(&face, 330, 508, 218, 104);
    for _ in 0..70 {
        let (dx, dy) = (stream.below(400) - 200, stream.below(180) - 90);
        if dx * dx * 90 * 90 + dy * dy * 200 * 200 < 200 * 200 * 90 * 90 {
            one_leaf(
                canvas,
                330 + dx,
                508 + dy,
                leaf.lighter(i32::try_from(stream.below(44)).unwrap_or(0) - 20),
                stream,
            );
        }
    }
    let paper = palette.paper;
    let wrap =
        canvas.across(&[(0, paper.lighter(-12).text()), (50, paper.lighter(30).text()), (100, paper.text())]);
    canvas.path(&wrap, "M112 520q30-120 200-116q60 40-10 112q-40 60 8 130q-80 4-138-14q-60-36-60-112z");
    canvas.line(&paper.lighter(-26).text(), 3, "M312 404q-40 60-70 130q-10 50 0 108M200 446q-30 60-26 140");
    emblem(canvas, 206, 540, palette.accent, stream);
}
