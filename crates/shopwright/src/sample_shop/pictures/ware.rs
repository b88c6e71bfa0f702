//! Things to make tea with: pots, kettles, cups, bowls, strainers, caddies.

use super::canvas::{Canvas, Colour};
use super::scene::{Palette, material};
use super::shapes::{cylinder, glass, heap, steam};
use crate::sample_shop::random::Stream;

/// A teapot.
pub(super) fn pot(canvas: &mut Canvas, palette: &Palette, of: &str, stream: &mut Stream) {
    let colour = material(of, stream);
    let (x, y) = (390, 650);
    canvas.shadow(x, y + 6, 215);
    let dark = colour.lighter(-26).text();
    let is_side = stream.below(5) == 0;
    // Spout, then the handle, then the belly over both.
    let spout = canvas.across(&[(0, colour.lighter(18).text()), (100, colour.lighter(-30).text())]);
    canvas.path(&spout, "M230 590q-60-30-84-110q-10-30-44-42l30-18q44 6 62 52q20 50 70 60z");
    if is_side {
        canvas.path(&dark, "M540 470l150-66q18-4 20 14q0 14-14 20l-140 70z");
    } else {
        canvas.line(&dark, 26, "M560 470q116-30 112 62q-6 84-128 74");
        canvas.line(&colour.lighter(12).text(), 8, "M566 464q100-22 98 60");
    }
    let belly = canvas.round(colour, 42);
    canvas.path(&belly, "M190 520q6-120 200-122q194 2 200 122q0 92-84 132q-116 30-232 0q-84-40-84-132z");
    decoration(canvas, palette, colour, stream);
    let shade = canvas.down(&[(0, "#fff0".to_owned()), (60, "#0000".to_owned()), (100, "#0004".to_owned())]);
    canvas.path(&shade, "M190 520q6-120 200-122q194 2 200 122q0 92-84 132q-116 30-232 0q-84-40-84-132z");
    let lid = canvas.round(colour.lighter(-6), 48);
    canvas.path(&lid, "M278 410q10-52 112-54q102 2 112 54q-112 30-224 0z");
    canvas.ellipse(&colour.lighter(-14).text(), x, 346, 26, 22);
    canvas.ellipse(&colour.lighter(40).text(), x - 8, 338, 8, 6);
    canvas.add("<path fill=\"#fff\" opacity=\".38\" d=\"M236 500q8-62 92-78q-70 40-72 118q-18-10-20-40z\"/>");
    steam(canvas, 106, 402);
    if stream.below(2) == 0 {
        bowl(canvas, 650, 716, 82, material(of, stream), Some(palette.cup));
    }
}

/// What is painted on a pot or cup: nothing, bands, or branches.
fn decoration(canvas: &mut Canvas, palette: &Palette, colour: Colour, stream: &mut Stream) {
    let ink = palette.accent.mixed(colour, 18).text();
    match stream.below(4) {
        0 => {
            canvas.line(&ink, 6, "M198 486q192 40 384 0");
            canvas.line(&ink, 3, "M196 502q194 42 388 0");
        }
        1 => {
            canvas.line(&ink, 5, "M300 610q60-80 170-110m-110 44q-30-30-20-60m70 22q0-40 30-54");
            for (x, y) in [(338, 478), (414, 446), (470, 498), (372, 540), (430, 508)] {
                canvas.ellipse(&palette.accent.lighter(20).text(), x, y, 13, 13);
                canvas.ellipse("#fff", x, y, 4, 4);
            }
        }
        _ => {}
    }
}

/// A kettle for water.
pub(super) fn kettle(canvas: &mut Canvas, palette: &Palette, of: &str, stream: &mut Stream) {
    let colour = material(of, stream);
    canvas.shadow(400, 660, 210);
    let is_gooseneck = stream.below(2) == 0;
    let neck = canvas.across(&[(0, colour.lighter(30).text()), (100, colour.lighter(-26).text())]);
    if is_gooseneck {
        canvas.line(&colour.lighter(-20).text(), 30, "M270 600q-80-10-90-120q-4-96-70-120");
        canvas.line(&colour.lighter(38).text(), 8, "M262 588q-68-14-76-110q-8-84-64-108");
    } else {
        canvas.path(&neck, "M250 560l-116-120q-12-16 8-22h40l100 70z");
    }
    canvas.line("#2b2624", 24, "M290 372q0-150 110-150t110 150");
    canvas.line("#5a4f48", 7, "M300 350q6-116 100-118");
    let body = canvas.round(colour, 56);
    canvas.path(&body, "M236 640q-22-190 60-262q104-40 208 0q82 72 60 262q-164 40-328 0z");
    canvas.line(&colour.lighter(-30).text(), 4, "M240 606q160 36 320 0");
    let lid = canvas.round(colour.lighter(-8), 50);
    canvas.path(&lid, "M312 372q10-36 88-38q78 2 88 38q-88 24-176 0z");
    canvas.ellipse("#2b2624", 400, 326, 22, 18);
    canvas
        .add("<path fill=\"#fff\" opacity=\".42\" d=\"M284 600q-10-120 34-190q18-10 30-8q-44 80-40 200z\"/>");
    if stream.below(2) == 0 {
        canvas.ellipse(&palette.accent.text(), 400, 520, 26, 26);
        canvas.ellipse(&palette.accent.lighter(50).text(), 400, 520, 15, 15);
    }
    steam(canvas, 116, 330);
}

/// A cup on its saucer, or a bowl.
pub(super) fn cup(canvas: &mut Canvas, palette: &Palette, of: &str, name: &str, stream: &mut Stream) {
    let colour = material(of, stream);
    if of == "glass" {
        glass(canvas, 400, 690, palette.cup);
        return glass(canvas, 600, 720, palette.cup.lighter(14));
    }
    if name.contains("bowl") || name.contains("cups") || stream.below(4) == 0 {
        bowl(canvas, 380, 676, 205, colour, Some(palette.cup));
        return bowl(canvas, 640, 724, 84, colour.lighter(-10), Some(palette.cup));
    }
    canvas.shadow(390, 670, 250);
    let saucer = canvas.down(&[(0, colour.lighter(30).text()), (100, colour.lighter(-28).text())]);
    canvas.ellipse(&saucer, 390, 662, 252, 50);
    canvas.ellipse(&colour.lighter(-12).text(), 390, 656, 150, 26);
    canvas.line(&colour.lighter(-22).text(), 24, "M560 450q104-12 96 70q-12 70-120 62");
    canvas.line(&colour.lighter(24).text(), 7, "M566 444q86-6 82 58");
    let body = canvas.round(colour, 40);
    canvas.path(&body, "M208 408q0 196 110 244q72 16 144 0q110-48 110-244z");
    let band = palette.accent.mixed(colour, 12).text();
    match stream.below(3) {
        0 => canvas.line(&band, 10, "M214 452q176 44 352 0"),
        1 => canvas.path(&band, "M222 500q168 50 336 0q-14 60-40 100q-128 34-256 0q-28-40-40-100z"),
        _ => {}
    }
    canvas.ellipse(&colour.lighter(34).text(), 390, 408, 182, 42);
    let tea = canvas.down(&[(0, palette.cup.lighter(-22).text()), (100, palette.cup.lighter(18).text())]);
    canvas.ellipse(&tea, 390, 414, 164, 32);
    canvas.add("<path fill=\"#fff\" opacity=\".4\" d=\"M232 446q4 110 52 168q-10-60-18-158z\"/>");
    steam(canvas, 390, 376);
}

/// A bowl; `y` is where it stands.
pub(super) fn bowl(canvas: &mut Canvas, x: i64, y: i64, half: i64, colour: Colour, tea: Option<Colour>) {
    canvas.shadow(x, y, half);
    let body = canvas.round(colour, 34);
    let (deep, rim) = (half * 9 / 10, half / 5);
    let foot = half * 2 / 5;
    canvas.path(
        &body,
        &format!(
            "M{} {}q{} {deep} {} {}h{}q{} -{} {} -{deep}z",
            x - half,
            y - deep,
            half / 10,
            half - foot,
            deep - 2,
            foot * 2,
            half - foot - half / 10 + half / 10,
            half / 10,
            half - foot
        ),
    );
    canvas.ellipse(&colour.lighter(28).text(), x, y - deep, half, rim);
    canvas.ellipse(&colour.lighter(-30).text(), x, y - deep + 4, half * 9 / 10, rim * 4 / 5);
    if let Some(tea) = tea {
        let fill = canvas.down(&[(0, tea.lighter(-18).text()), (100, tea.lighter(24).text())]);
        canvas.ellipse(&fill, x, y - deep + rim / 4, half * 5 / 6, rim * 3 / 5);
    }
}

/// A bowl with a lid on its saucer.
pub(super) fn gaiwan(canvas: &mut Canvas, palette: &Palette, of: &str, stream: &mut Stream) {
    let colour = material(of, stream);
    canvas.shadow(380, 672, 220);
    let saucer = canvas.down(&[(0, colour.lighter(24).text()), (100, colour.lighter(-30).text())]);
    canvas.ellipse(&saucer, 380, 662, 220, 42);
    let body = canvas.round(colour, 40);
    canvas.path(&body, "M200 420q30 6 40 90q20 110 80 140h120q60-30 80-140q10-84 40-90z");
    decoration(canvas, palette, colour, stream);
    canvas.ellipse(&colour.lighter(30).text(), 380, 420, 180, 36);
    let lid = canvas.round(colour.lighter(-4), 46);
    canvas.path(&lid, "M226 404q20-76 154-82q134 6 154 82q-154 38-308 0z");
    canvas.path(&colour.lighter(-16).text(), "M350 326l-10-30q40-16 80 0l-10 30q-30 8-60 0z");
    canvas.ellipse(&colour.lighter(34).text(), 380, 296, 40, 10);
    for (x, y) in [(630, 710), (700, 668)] {
        bowl(canvas, x, y, 58, colour, Some(palette.cup));
    }
}

/// A strainer, or filters of paper.
pub(super) fn strainer(canvas: &mut Canvas, palette: &Palette, of: &str, stream: &mut Stream) {
    if of == "paper" || of == "cotton" {
        let colour = material(of, stream);
        for sheet in 0..6 {
            let (x, y) = (190 + sheet * 42, 330 + sheet * 22);
            canvas.shadow(x + 100, y + 300, 110);
            let fill = canvas.across(&[(0, colour.lighter(30).text()), (100, colour.lighter(-14).text())]);
            canvas.path(&fill, &format!("M{x} {y}h190l-34 270q-60 26-122 0z"));
            canvas.line(&colour.lighter(-26).text(), 2, &format!("M{} {y}l24 276", x + 34));
        }
        return heap(canvas, 640, 704, 110, palette, stream);
    }
    let colour = material("steel", stream);
    canvas.shadow(380, 664, 190);
    let body = canvas.round(colour, 60);
    canvas.path(&body, "M230 380l26 250q124 46 248 0l26-250z");
    canvas.add("<g fill=\"#3a4046\" opacity=\".55\">");
    for row in 0..9 {
        for hole in 0..11 {
            canvas.add(&format!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"4\"/>",
                268 + hole * 23 + row % 2 * 8,
                432 + row * 23
            ));
        }
    }
    canvas.add("</g>");
    canvas.ellipse(&colour.lighter(46).text(), 380, 380, 176, 36);
    canvas.ellipse(&colour.lighter(-46).text(), 380, 384, 148, 26);
    canvas.line(&colour.lighter(-20).text(), 16, "M548 376q90-8 104 34");
    heap(canvas, 640, 712, 96, palette, stream);
}

/// A caddy.
pub(super) fn caddy(canvas: &mut Canvas, palette: &Palette, of: &str, stream: &mut Stream) {
    let colour = if of == "steel" { palette.tin(stream) } else { material(of, stream) };
    for (x, half, top) in [(300, 128, 250), (560, 92, 420)] {
        canvas.shadow(x, 654, half + 10);
        cylinder(canvas, colour, 44, x, half, (top, 644));
        if of == "wood" || of == "bamboo" {
            for line in 0..6 {
                let at = x - half + 18 + line * half / 3;
                canvas.add("<g opacity=\".35\">");
                canvas.line(
                    &colour.lighter(-34).text(),
                    3,
                    &format!("M{at} {}q8 100-4 {}", top + 60, 560 - top),
                );
                canvas.add("</g>");
            }
        }
        cylinder(canvas, colour.lighter(-12), 52, x, half + 4, (top - 40, top + 26));
        canvas.ellipse(&colour.lighter(36).text(), x, top - 40, half + 4, half / 5);
        canvas.ellipse(&colour.lighter(14).text(), x, top - 40, half - 12, half / 6);
        canvas.ellipse(&colour.lighter(-24).text(), x, top - 52, 18, 14);
    }
    heap(canvas, 690, 724, 70, palette, stream);
}

/// A whisk of bamboo.
pub(super) fn whisk(canvas: &mut Canvas, x: i64, y: i64) {
    let wood = Colour(217, 184, 120);
    canvas.shadow(x, y, 64);
    for tine in 0..11 {
        let at = x - 50 + tine * 10;
        canvas.line(
            &wood.lighter(18 - 4 * i32::try_from(tine % 4).unwrap_or(0)).text(),
            5,
            &format!("M{at} {y}Q{} {} {} {}", at + (at - x) / 3, y - 60, x - 20 + tine * 4, y - 116),
        );
    }
    cylinder(canvas, wood, 30, x, 25, (y - 220, y - 112));
    canvas.line("#7a2e22", 8, &format!("M{} {}q25 8 50 0", x - 25, y - 112));
}
