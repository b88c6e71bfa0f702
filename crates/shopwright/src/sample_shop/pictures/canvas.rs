//! A drawing of 800 by 800 units as it grows: shapes, gradients, shadows.

use std::fmt::Write as _;

/// Length of each side.
pub(super) const SIDE: u32 = 800;

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);

impl Colour {
    /// Lighter by so many hundredths of the way to white; darker, to black, where they are below 0.
    pub(super) fn lighter(self, hundredths: i32) -> Self {
        let goal = if hundredths < 0 { 0 } else { 255 };
        self.mixed(Self(goal, goal, goal), hundredths.abs())
    }

    /// So many hundredths of the way to another colour.
    pub(super) fn mixed(self, other: Self, hundredths: i32) -> Self {
        let one = |from: u8, to: u8| {
            let mixed = i32::from(from) + (i32::from(to) - i32::from(from)) * hundredths.clamp(0, 100) / 100;
            u8::try_from(mixed).unwrap_or(0)
        };
        Self(one(self.0, other.0), one(self.1, other.1), one(self.2, other.2))
    }

    pub(super) fn text(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// A growing drawing.
pub(super) struct Canvas {
    defs: String,
    body: String,
    gradients: u32,
}

impl Canvas {
    pub(super) fn new() -> Self {
        Self { defs: String::new(), body: String::new(), gradients: 0 }
    }

    /// The whole drawing.
    pub(super) fn finished(self) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{SIDE}\" height=\"{SIDE}\" \
             viewBox=\"0 0 {SIDE} {SIDE}\"><defs>{}</defs>{}</svg>",
            self.defs, self.body
        )
    }

    /// Adds a piece of the drawing.
    pub(super) fn add(&mut self, piece: &str) {
        self.body.push_str(piece);
    }

    /// A path with a filling.
    pub(super) fn path(&mut self, fill: &str, d: &str) {
        // Writing to a text cannot fail.
        let _ = write!(self.body, "<path fill=\"{fill}\" d=\"{d}\"/>");
    }

    /// A line of this colour and width along a path.
    pub(super) fn line(&mut self, colour: &str, width: u32, d: &str) {
        let _ = write!(
            self.body,
            "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linecap=\"round\" d=\"{d}\"/>"
        );
    }

    pub(super) fn ellipse(&mut self, fill: &str, x: i64, y: i64, across: i64, down: i64) {
        let _ = write!(
            self.body,
            "<ellipse fill=\"{fill}\" cx=\"{x}\" cy=\"{y}\" rx=\"{across}\" ry=\"{down}\"/>"
        );
    }

    /// A rectangle with round corners.
    pub(super) fn rect(&mut self, fill: &str, (x, y): (i64, i64), (width, height): (i64, i64), round: i64) {
        let _ = write!(
            self.body,
            "<rect fill=\"{fill}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{round}\"/>"
        );
    }

    /// A gradient from the left to the right; answers how it is named as a filling.
    pub(super) fn across(&mut self, stops: &[(u32, String)]) -> String {
        self.gradient("x1=\"0\" y1=\"0\" x2=\"1\" y2=\"0\"", stops)
    }

    /// A gradient from the top down.
    pub(super) fn down(&mut self, stops: &[(u32, String)]) -> String {
        self.gradient("x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\"", stops)
    }

    fn gradient(&mut self, line: &str, stops: &[(u32, String)]) -> String {
        self.gradients += 1;
        let id = self.gradients;
        let _ = write!(self.defs, "<linearGradient id=\"g{id}\" {line}>");
        for (at, colour) in stops {
            let _ = write!(self.defs, "<stop offset=\"{at}%\" stop-color=\"{colour}\"/>");
        }
        self.defs.push_str("</linearGradient>");
        format!("url(#g{id})")
    }

    /// The light on something round and upright: dark at its sides, a bright strip left of its middle.
    pub(super) fn round(&mut self, colour: Colour, shine: i32) -> String {
        self.across(&[
            (0, colour.lighter(-38).text()),
            (14, colour.lighter(-8).text()),
            (30, colour.lighter(shine).text()),
            (46, colour.text()),
            (80, colour.lighter(-18).text()),
            (100, colour.lighter(-48).text()),
        ])
    }

    /// A soft round patch: full in its middle, nothing at its rim.
    pub(super) fn glow(&mut self, colour: Colour, strength: u32) -> String {
        self.gradients += 1;
        let (id, colour) = (self.gradients, colour.text());
        let _ = write!(
            self.defs,
            "<radialGradient id=\"g{id}\"><stop offset=\"0\" stop-color=\"{colour}\" stop-opacity=\".{strength:02}\"/>\
             <stop offset=\"55%\" stop-color=\"{colour}\" stop-opacity=\".{:02}\"/>\
             <stop offset=\"1\" stop-color=\"{colour}\" stop-opacity=\"0\"/></radialGradient>",
            strength / 2
        );
        format!("url(#g{id})")
    }

    /// The shadow below something that stands.
    pub(super) fn shadow(&mut self, x: i64, y: i64, across: i64) {
        let soft = self.glow(Colour(20, 14, 10), 62);
        self.ellipse(&soft, x + across / 7, y, across * 5 / 4, across / 4);
        self.ellipse(&soft, x, y, across, across / 9);
    }
}
