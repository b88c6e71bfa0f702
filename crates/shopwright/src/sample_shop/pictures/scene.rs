//! Where things stand and in which light: colours of each category and of each material.

use super::canvas::{Canvas, Colour};
use crate::sample_shop::random::Stream;

/// The colours of a scene.
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    /// The wall, from above to below.
    pub(super) wall: (Colour, Colour),
    /// The table.
    pub(super) table: Colour,
    /// Labels and ribbons.
    pub(super) accent: Colour,
    /// Tins.
    pub(super) tins: [Colour; 3],
    /// Labels' paper.
    pub(super) paper: Colour,
    /// Leaves.
    pub(super) leaf: Colour,
    /// What is in the cup.
    pub(super) cup: Colour,
    /// Whether there are petals among the leaves.
    pub(super) has_petals: bool,
}

impl Palette {
    /// One of the tins' colours.
    pub(super) fn tin(&self, stream: &mut Stream) -> Colour {
        stream.pick(&self.tins).copied().unwrap_or(self.accent)
    }
}

const fn colour(hex: u32) -> Colour {
    Colour((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// Wall above and below, table, accent, three tins, paper, leaf, cup; petals.
const PALETTES: [([u32; 10], bool); 20] = [
    (
        [0xe9efdc, 0xc6d8b4, 0xb99a6b, 0x4f7a3a, 0x2f5d3a, 0x7fa05a, 0xd9d3b0, 0xf6f3e4, 0x5c7d3c, 0xc9c65a],
        false,
    ),
    (
        [0xf1e0cf, 0xd9b391, 0x6b4226, 0xa23b2a, 0x7c2a22, 0x2b2a33, 0xc08a3e, 0xf7ecd9, 0x4a2f22, 0xb4541d],
        false,
    ),
    (
        [0xe3ece8, 0xb4cfc6, 0x8b6a49, 0x2e7a70, 0x1f5a58, 0x3b4a3f, 0xc9a063, 0xf2f0e4, 0x3f5446, 0xd8a240],
        false,
    ),
    (
        [0xf5f1ea, 0xdfd6c9, 0xb59b7c, 0x9c8a6a, 0xe8e1d3, 0xc9bfa8, 0x8f9c8a, 0xfcf9f1, 0xa9ae90, 0xe6d39a],
        true,
    ),
    (
        [0xe7ddd5, 0xb9a291, 0x4c3628, 0x8a3a2b, 0x5a2a20, 0x3a2d28, 0x8c6a4a, 0xefe3cd, 0x3a2419, 0x5a2412],
        false,
    ),
    (
        [0xe6f0d6, 0xb9d48e, 0xa8875a, 0x5d8f2f, 0x3e7a2e, 0x1f3d2a, 0xd8c48a, 0xf8f6e6, 0x7fae3a, 0x8fbf3f],
        false,
    ),
    (
        [0xf4f0dc, 0xd9dfa6, 0xb08f5e, 0x7a8f2e, 0x8fae58, 0xe0b84a, 0xf0ead2, 0xfbf8ea, 0x8aa05a, 0xe3cf6a],
        true,
    ),
    (
        [0xf6e1d2, 0xe2ac85, 0x9a6238, 0xb5452a, 0xc25a32, 0x7a2e22, 0xe0b083, 0xfbf0e2, 0x9c3f20, 0xc2531c],
        false,
    ),
    (
        [0xf3e4ec, 0xd9b0c6, 0x8d6a58, 0x8a3d6b, 0x6a2f5a, 0x2f3f6b, 0xc98aa6, 0xfaf0f2, 0x42302c, 0xb8692a],
        true,
    ),
    (
        [0xe4e9ef, 0xb5c4d3, 0xa78b6d, 0x35597a, 0xf4f1ea, 0x7d94a8, 0x35597a, 0xffffff, 0x5c7d3c, 0xc98a3a],
        false,
    ),
    (
        [0xefe6dc, 0xd0b79d, 0x5d4a3c, 0xb5652c, 0xc8743c, 0xb9bec4, 0x2f3338, 0xffffff, 0x5c7d3c, 0xc98a3a],
        false,
    ),
    (
        [0xeee9e2, 0xcbbfb2, 0x8a7058, 0x7d5a44, 0xf3efe6, 0x6f8f86, 0x9c5a40, 0xffffff, 0x5c7d3c, 0xb8742a],
        false,
    ),
    (
        [0xe6ebe6, 0xb8c8bb, 0x7d6248, 0x2f6a58, 0xf6f3ec, 0x9fc0c6, 0x4a6a8c, 0xffffff, 0x5c7d3c, 0xd8b04a],
        false,
    ),
    (
        [0xebedf0, 0xc3cad2, 0x9b8266, 0x55708a, 0xb9bec4, 0xd9dde1, 0x8f969d, 0xffffff, 0x4f6b3a, 0xc9a83a],
        false,
    ),
    (
        [0xefe7db, 0xcdb594, 0x6a4c34, 0x8a5a2a, 0xb4703c, 0x6a3f2a, 0x3d5a52, 0xf7efdd, 0x5c7d3c, 0xc98a3a],
        false,
    ),
    (
        [0xfbeecb, 0xf0c870, 0x9a6a3a, 0xc8801e, 0xe0a02a, 0xb05a1e, 0xf0c850, 0xfff8e6, 0xa86a20, 0xe8a62a],
        false,
    ),
    (
        [0xf8e9dc, 0xe7c3a6, 0x9c7250, 0xb5563a, 0xd0a070, 0x8a4a2e, 0xe8cfa8, 0xfff6ea, 0x6a3f22, 0xb8742a],
        false,
    ),
    (
        [0xefe0e0, 0xcf9f9f, 0x74513e, 0xa8323a, 0x8a2a34, 0x2f5a4a, 0x2f3f5f, 0xfdf5ea, 0x5c7d3c, 0xc98a3a],
        false,
    ),
    (
        [0xe8e4dc, 0xbdb19c, 0x6b4f38, 0x2f5a5f, 0x9c3a2e, 0x2f4a6b, 0xd0a84a, 0xfaf4e6, 0x5c7d3c, 0xc98a3a],
        false,
    ),
    (
        [0xe9eaec, 0xc4c6c4, 0x8d7355, 0x5a6a4a, 0xb9bec4, 0xd8b98a, 0x4a4f55, 0xffffff, 0x5c7d3c, 0xc98a3a],
        false,
    ),
];

/// The colours of a category, by its place.
pub(super) fn palette(category: usize) -> Palette {
    let ([above, below, table, accent, one, two, three, paper, leaf, cup], has_petals) =
        PALETTES.get(category).copied().unwrap_or(PALETTES[0]);
    Palette {
        wall: (colour(above), colour(below)),
        table: colour(table),
        accent: colour(accent),
        tins: [colour(one), colour(two), colour(three)],
        paper: colour(paper),
        leaf: colour(leaf),
        cup: colour(cup),
        has_petals,
    }
}

/// What a thing is made of.
pub(super) fn material(key: &str, stream: &mut Stream) -> Colour {
    match key {
        "clay" => clay(stream),
        "glass" => colour(0xcfe0e4),
        "iron" => colour(0x3a3d40),
        "steel" => colour(0xb9bec4),
        "copper" => colour(0xc8743c),
        "bamboo" => colour(0xd9b878),
        "wood" => colour(0x9a6a42),
        "paper" => colour(0xe9ddc4),
        "cotton" => colour(0xe6e0d2),
        _ => {
            *stream.pick(&[colour(0xf4f2ec), colour(0xe6ebe8), colour(0xeee4d6)]).unwrap_or(&colour(0xf4f2ec))
        }
    }
}

/// A colour of burnt clay or its glaze.
pub(super) fn clay(stream: &mut Stream) -> Colour {
    let kinds = [colour(0x9c5a40), colour(0x4f4640), colour(0x6f8f86), colour(0xb98a62), colour(0x46627a)];
    stream.pick(&kinds).copied().unwrap_or(kinds[0])
}

/// The wall, the light on it, and the table.
pub(super) fn room(canvas: &mut Canvas, palette: &Palette, stream: &mut Stream) {
    let (above, below) = palette.wall;
    let wall = canvas.down(&[(0, above.text()), (100, below.text())]);
    canvas.rect(&wall, (0, 0), (800, 800), 0);
    let light = canvas.glow(Colour(255, 255, 255), 80);
    canvas.ellipse(&light, 180 + stream.below(440), 190, 430, 340);
    let table = palette.table;
    let top = canvas.down(&[
        (0, table.lighter(34).text()),
        (40, table.lighter(14).text()),
        (100, table.lighter(-16).text()),
    ]);
    let edge = 566 + stream.below(30);
    canvas.rect(&top, (0, edge), (800, 800 - edge), 0);
    canvas.rect(&table.lighter(52).text(), (0, edge), (800, 3), 0);
    // The grain of the wood.
    let grain = table.lighter(-6).text();
    canvas.add("<g opacity=\".35\">");
    for line in 0..5 {
        let y = edge + 26 + line * 40 + stream.below(16);
        let bend = stream.below(24) - 12;
        canvas.line(&grain, 3, &format!("M0 {y}q200 {bend} 400 0t400 {bend}"));
    }
    canvas.add("</g>");
}
