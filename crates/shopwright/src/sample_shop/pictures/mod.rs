//! Pictures of the sample's goods, drawn by the program: the same product is always drawn the same.

mod canvas;
mod pantry;
mod scene;
mod shapes;
mod tea;
mod ware;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use engine::media::{Checked, Kind, NewFile, described};

use super::catalogue::Catalogue;
use super::random::Stream;
use super::writer::Writer;
use canvas::{Canvas, SIDE};

/// A thing to draw.
pub(super) struct Thing<'a> {
    /// The place of its category among the words' categories.
    pub(super) category: usize,
    /// Its English name.
    pub(super) name: &'a str,
    /// What it is made of; empty is not told.
    pub(super) material: &'a str,
    /// Its number: of two things that are else alike each has its own picture.
    pub(super) number: i64,
}

/// Draws a thing.
pub(super) fn draw(thing: &Thing<'_>) -> String {
    let palette = scene::palette(thing.category);
    let mut stream = Stream::of("picture", thing.number);
    let mut canvas = Canvas::new();
    scene::room(&mut canvas, &palette, &mut stream);
    let (of, name) = (thing.material, thing.name);
    match thing.category {
        5 => tea::powder(&mut canvas, &palette, &mut stream),
        0..=8 => tea::tea(&mut canvas, &palette, &name.to_lowercase(), &mut stream),
        9 => ware::pot(&mut canvas, &palette, of, &mut stream),
        10 => ware::kettle(&mut canvas, &palette, of, &mut stream),
        11 => ware::cup(&mut canvas, &palette, of, &name.to_lowercase(), &mut stream),
        12 => ware::gaiwan(&mut canvas, &palette, of, &mut stream),
        13 => ware::strainer(&mut canvas, &palette, of, &mut stream),
        14 => ware::caddy(&mut canvas, &palette, of, &mut stream),
        15 => pantry::jar(&mut canvas, &palette, &name.to_lowercase(), &mut stream),
        16 => pantry::cookies(&mut canvas, &palette, name, &mut stream),
        17 => pantry::gift(&mut canvas, &palette, &mut stream),
        18 => pantry::book(&mut canvas, &palette, &mut stream),
        _ => pantry::tool(&mut canvas, &palette, (name, of), &mut stream),
    }
    canvas.finished()
}

/// Draws the goods of the words and their categories below the root's `files/`, and tells them in the table.
pub(super) fn write(catalogue: &Catalogue<'_>, root: &Path, writer: &mut Writer<'_>) -> Result<()> {
    let first = catalogue.plan.ids("files");
    writer.table("files", first, |rows| {
        for (entity, id, name, drawing) in all(catalogue)? {
            let new = NewFile {
                entity,
                elem_id: id,
                kind: "kImage",
                name: &format!("{}.svg", shop::text::slug(&name)),
                alt: &name,
                bytes: drawing.as_bytes(),
            };
            let checked =
                Checked { kind: Kind::Svg, bytes: drawing.clone().into_bytes(), size: Some((SIDE, SIDE)) };
            let (row, bytes) = described(&new, checked);
            let path = root.join("files").join(&row.stored_name);
            fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
            fs::write(&path, bytes)?;
            rows.add(&[
                ("entity", row.entity.into()),
                ("elem_id", row.elem_id.into()),
                ("kind_key", row.kind_key.into()),
                ("position", 1_i64.into()),
                ("real_name", row.real_name.into()),
                ("stored_name", row.stored_name.into()),
                ("mime", row.mime.into()),
                ("bytes", row.bytes.into()),
                ("sha256", row.sha256.into()),
                ("width", row.width.into()),
                ("height", row.height.into()),
                ("alt", row.alt.into()),
            ])?;
        }
        Ok(())
    })
}

/// Table, number, name and drawing of everything that has a picture: the goods of the words, once, and the categories.
fn all(catalogue: &Catalogue<'_>) -> Result<Vec<(&'static str, i64, String, String)>> {
    let (plan, words) = (catalogue.plan, catalogue.words);
    let leaves = plan.first_leaf(words);
    let mut all = Vec::new();
    let shown = plan.products.min(i64::try_from(catalogue.bases.len())?);
    for at in 0..shown {
        let product = catalogue.product(at)?;
        let category = usize::try_from(product.base.category_id - leaves)?;
        let material = product.material();
        let thing = Thing { category, name: &product.base.product.0, material, number: at };
        all.push(("products", product.id, product.name(&plan.language), draw(&thing)));
    }
    for (category, leaf) in words.categories.iter().enumerate() {
        let name = super::words::of(&leaf.name, &plan.language).to_owned();
        let first = leaf.products.first().map_or("", |product| product.0.as_str());
        let number = 10_000 + i64::try_from(category)?;
        let thing = Thing { category, name: first, material: "porcelain", number };
        all.push(("categories", leaves + i64::try_from(category)?, name, draw(&thing)));
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
