//! What goes with tea: jars, cookies, gift boxes, books, small tools.

use super::canvas::{Canvas, Colour};
use super::scene::{Palette, material};
use super::shapes::cylinder;
use super::ware::whisk;
use crate::sample_shop::random::Stream;

/// A jar of honey or jam.
pub(super) fn jar(canvas: &mut Canvas, palette: &Palette, name: &str, stream: &mut Stream) {
    let berries = [
        ("apricot", 0xe8862a),
        ("cherry", 0x8a1f2a),
        ("rose", 0xc2506a),
        ("black", 0x3a1f3f),
        ("straw", 0xc22f2f),
    ];
    let found = berries.iter().find(|(word, _)| name.contains(word)).map(|(_, hex)| *hex);
    let inside = match (found, name.contains("jam")) {
        (Some(hex), _) => Colour((hex >> 16) as u8, (hex >> 8 & 255) as u8, (hex & 255) as u8),
        (None, true) => Colour(160, 40, 48),
        (None, false) => palette.tin(stream),
    };
    for (x, half, top) in [(320, 142, 330), (590, 98, 450)] {
        canvas.shadow(x, 654, half + 8);
        cylinder(canvas, inside, 46, x, half, (top, 640));
        canvas.add(&format!(
            "<path fill=\"#fff\" opacity=\".45\" d=\"M{} {}v{}q8 12 18 14v-{}z\"/>",
            x - half + 18,
            top + 26,
            560 - top,
            566 - top
        ));
        // The neck, and cloth over the lid.
        cylinder(canvas, Colour(214, 190, 130), 50, x, half - 10, (top - 34, top + 6));
        let cloth = palette.paper;
        let fill = canvas.across(&[
            (0, cloth.lighter(-16).text()),
            (40, cloth.lighter(30).text()),
            (100, cloth.lighter(-24).text()),
        ]);
        let (left, right) = (x - half - 6, x + half + 6);
        canvas.path(
            &fill,
            &format!(
                "M{left} {}q{} -84 {} 0l8 34q-24 10-40-2q-30 16-60 0q-30 16-60 0q-30 14-52 0l-{} 4z",
                top - 30,
                half + 6,
                half * 2 + 12,
                half / 3
            ),
        );
        canvas.line(
            &palette.accent.text(),
            9,
            &format!("M{} {}q{} 26 {} 0", left + 6, top - 14, half, half * 2),
        );
        canvas.rect(&palette.paper.text(), (x - half * 3 / 5, top + 90), (half * 6 / 5, half), 8);
        canvas.rect(&palette.accent.text(), (x - half / 2, top + 104), (half, 8), 4);
        canvas.ellipse(&inside.text(), x, top + 92 + half / 2, half / 4, half / 4);
        let _ = right;
    }
}

/// Cookies on a plate, or a box of them.
pub(super) fn cookies(canvas: &mut Canvas, palette: &Palette, name: &str, stream: &mut Stream) {
    canvas.shadow(400, 690, 300);
    let plate = canvas.down(&[(0, "#ffffff".to_owned()), (100, "#cfc8bd".to_owned())]);
    canvas.ellipse(&plate, 400, 674, 300, 62);
    canvas.ellipse("#e9e3d9", 400, 664, 226, 40);
    let is_dark = ["chocolate", "Ginger", "cocoa"].iter().any(|word| name.contains(word));
    let dough = if is_dark { Colour(122, 74, 44) } else { Colour(214, 166, 104) };
    let is_square = stream.below(3) == 0;
    for (x, y) in [(290, 648), (510, 652), (400, 676), (340, 596), (466, 600), (402, 548), (402, 500)] {
        let tone = dough.lighter(i32::try_from(stream.below(16)).unwrap_or(0) - 8);
        let side = canvas.round(tone.lighter(-16), 10);
        if is_square {
            canvas.rect(&side, (x - 84, y - 8), (168, 34), 10);
            canvas.rect(&tone.lighter(12).text(), (x - 84, y - 26), (168, 34), 14);
        } else {
            canvas.path(&side, &format!("M{} {y}q0 30 92 36q92-6 92-36z", x - 92));
            canvas.ellipse(&tone.lighter(12).text(), x, y - 4, 92, 34);
        }
        for _ in 0..8 {
            let (dx, dy) = (stream.below(120) - 60, stream.below(34) - 20);
            let crumb = if is_dark { Colour(70, 38, 22) } else { palette.accent };
            canvas.ellipse(&crumb.text(), x + dx, y - 4 + dy / 2, 8, 5);
        }
    }
}

/// A gift box with a ribbon.
pub(super) fn gift(canvas: &mut Canvas, palette: &Palette, stream: &mut Stream) {
    let paper = palette.tin(stream);
    let ribbon = *stream
        .pick(&[Colour(226, 190, 110), Colour(246, 238, 222), palette.accent.lighter(30)])
        .unwrap_or(&palette.accent);
    canvas.shadow(400, 664, 270);
    let front = canvas.across(&[(0, paper.lighter(10).text()), (100, paper.lighter(-20).text())]);
    let side = canvas.across(&[(0, paper.lighter(-26).text()), (100, paper.lighter(-44).text())]);
    canvas.path(&front, "M150 420l330 46v206l-330-40z");
    canvas.path(&side, "M480 466l170-70v190l-170 86z");
    let lid = canvas.down(&[(0, paper.lighter(34).text()), (100, paper.lighter(8).text())]);
    canvas.path(&lid, "M136 388l346 50l186-76l-330-40z");
    canvas.path(&paper.lighter(2).text(), "M136 388l346 50v46l-346-48z");
    canvas.path(&paper.lighter(-34).text(), "M482 438l186-76v44l-186 78z");
    let band = ribbon.text();
    let shade = ribbon.lighter(-26).text();
    canvas.path(&band, "M290 410l56 8v234l-56-8z");
    canvas.path(&shade, "M556 408l40-17v190l-40 20z");
    canvas.path(&ribbon.lighter(18).text(), "M290 410l56 8l190-74l-54-8zM222 332l44 5l330 54l-40 17z");
    // The bow.
    canvas.path(&band, "M400 362q-150-150-190-60q-10 60 190 60z");
    canvas.path(&band, "M400 362q100-180 176-96q30 66-176 96z");
    canvas.path(&shade, "M400 362q-110-84-150-48q0 36 150 48zM400 362q76-106 132-68q14 36-132 68z");
    canvas.path(&band, "M392 366l-66 96l40-8l10 34l42-114zM404 366l84 74l-6-42l38-4l-98-44z");
    canvas.ellipse(&ribbon.lighter(24).text(), 400, 360, 26, 22);
}

/// A book that stands, and one that lies.
pub(super) fn book(canvas: &mut Canvas, palette: &Palette, stream: &mut Stream) {
    let (cover, other) = (palette.tin(stream), palette.tin(stream).lighter(-14));
    canvas.shadow(400, 668, 250);
    // The one that lies.
    canvas.path(&other.lighter(-20).text(), "M170 640q-22 28 0 56h420v-56z");
    canvas.rect("#f4ecd8", (178, 648), (420, 38), 4);
    canvas.path(&other.text(), "M170 640h430l-20-16h-400z");
    canvas.path(&other.lighter(8).text(), "M170 686h430v12h-430q-10-6 0-12z");
    // The one that stands.
    canvas.path("#efe6d0", "M520 216l44 26v380l-44 6z");
    canvas.line("#cfc3a6", 2, "M530 226v396m12-388v384m12-376v372");
    let front = canvas.across(&[
        (0, cover.lighter(-34).text()),
        (7, cover.lighter(16).text()),
        (12, cover.lighter(-12).text()),
        (16, cover.text()),
        (100, cover.lighter(-10).text()),
    ]);
    canvas.path(&front, "M236 206h288v422h-288q-12-4-12-16v-390q0-12 12-16z");
    canvas.rect(&palette.paper.text(), (292, 262), (196, 250), 6);
    let ink = palette.accent;
    canvas.ellipse(&ink.lighter(50).text(), 390, 356, 66, 66);
    match stream.below(3) {
        0 => canvas.path(&ink.text(), "M390 300q-70 50-8 120q8 6 8 6q0 0 8-6q62-70-8-120z"),
        1 => {
            canvas.path(&ink.text(), "M334 340h112q0 70-38 84h-36q-38-14-38-84zm112 8q34-4 30 22q-6 22-40 20")
        }
        _ => canvas.path(&ink.text(), "M328 404l40-80l26 40l18-26l44 66z"),
    }
    canvas.rect(&ink.lighter(-20).text(), (318, 444), (144, 12), 6);
    canvas.rect(&ink.lighter(-20).text(), (346, 468), (88, 8), 4);
    canvas.rect("#e3c878", (292, 548), (196, 6), 3);
}

/// A small tool: what it is, its name says.
pub(super) fn tool(canvas: &mut Canvas, palette: &Palette, (name, of): (&str, &str), stream: &mut Stream) {
    let name = name.to_lowercase();
    if name.contains("whisk") {
        canvas.add("<g transform=\"translate(-120 -460) scale(1.65)\">");
        whisk(canvas, 320, 690);
        return canvas.add("</g>");
    }
    if name.contains("timer") || name.contains("glasses") {
        return hourglass(canvas, palette);
    }
    if name.contains("scale") || name.contains("thermometer") {
        return scale(canvas, palette);
    }
    if ["cloth", "towel", "bag", "cosy", "napkin"].iter().any(|word| name.contains(word)) {
        return cloth(canvas, palette, stream);
    }
    tray(canvas, material(if of.is_empty() { "wood" } else { of }, stream));
    super::ware::bowl(canvas, 310, 640, 84, super::scene::clay(stream), Some(palette.cup));
    super::ware::bowl(canvas, 500, 656, 84, super::scene::clay(stream), Some(palette.cup));
}

fn hourglass(canvas: &mut Canvas, palette: &Palette) {
    for (x, sand) in [(230, palette.accent), (400, Colour(200, 130, 60)), (570, Colour(70, 60, 56))] {
        canvas.shadow(x, 664, 80);
        canvas.rect("#8a5f3c", (x - 72, 640), (144, 26), 8);
        canvas.rect("#a3754c", (x - 72, 280), (144, 26), 8);
        canvas.path(
            "#ffffff88",
            &format!("M{} 306q0 120 50 166q-50 46-50 168h112q0-122-50-168q50-46 50-166z", x - 56),
        );
        canvas.path(&sand.lighter(14).text(), &format!("M{} 380q10 62 46 90q36-28 46-90z", x - 46));
        canvas.path(&sand.text(), &format!("M{} 638q8-52 48-76q40 24 48 76z", x - 48));
        canvas.rect(&sand.text(), (x - 2, 468), (4, 100), 1);
        canvas.line("#ffffffcc", 5, &format!("M{} 330q4 70 28 108", x - 42));
    }
}

fn scale(canvas: &mut Canvas, palette: &Palette) {
    canvas.shadow(400, 662, 260);
    let body = canvas.down(&[(0, "#4a4f55".to_owned()), (100, "#22262a".to_owned())]);
    canvas.path(&body, "M160 560h480l30 82q2 22-20 22h-500q-22 0-20-22z");
    let plate =
        canvas.across(&[(0, "#8f969d".to_owned()), (35, "#f2f5f7".to_owned()), (100, "#7f868d".to_owned())]);
    canvas.path(&plate, "M180 520h440l14 40h-468z");
    canvas.rect("#0f1a16", (300, 590), (200, 52), 10);
    canvas.line("#7fe0a8", 7, "M330 602v28m30-28h22v14h-22v14h22m40-28v28h22v-28zm50 0h-18v12h18v16h-18");
    super::ware::bowl(canvas, 400, 520, 110, Colour(244, 242, 236), Some(palette.leaf));
}

fn cloth(canvas: &mut Canvas, palette: &Palette, stream: &mut Stream) {
    let linen = palette.tin(stream).mixed(Colour(236, 228, 212), 60);
    canvas.shadow(400, 676, 270);
    for fold in 0..4 {
        let y = 640 - fold * 62;
        let fill = canvas.across(&[
            (0, linen.lighter(-20).text()),
            (30, linen.lighter(26).text()),
            (100, linen.lighter(-24).text()),
        ]);
        canvas.path(&fill, &format!("M166 {y}q-24-32 0-64h440q40 30 30 64q-10 12-30 14h-420q-14-2-20-14z"));
        canvas.line(&palette.accent.text(), 6, &format!("M190 {}h420m-420 12h420", y - 36));
    }
}

fn tray(canvas: &mut Canvas, wood: Colour) {
    canvas.shadow(400, 700, 320);
    let top = canvas.down(&[(0, wood.lighter(26).text()), (100, wood.lighter(-6).text())]);
    canvas.path(&wood.lighter(-34).text(), "M90 650h620l-14 56q-296 30-592 0z");
    canvas.path(&top, "M140 570h520l50 80q-310 36-620 0z");
    canvas.add("<g opacity=\".5\">");
    for slat in 0..9 {
        let x = 180 + slat * 55;
        canvas.line(&wood.lighter(-30).text(), 4, &format!("M{x} 576L{} 662", x + (slat - 4) * 8));
    }
    canvas.add("</g>");
}
