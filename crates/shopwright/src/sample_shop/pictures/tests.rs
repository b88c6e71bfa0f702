//! The drawings are whole, differ from each other and are the same at each run.

use std::collections::BTreeSet;

use super::*;
use crate::sample_shop::words::Words;

/// Every product of the words, drawn.
fn drawings() -> Vec<(String, String)> {
    let words = Words::read().unwrap();
    let mut number = 0;
    let mut all = Vec::new();
    for (category, leaf) in words.categories.iter().enumerate() {
        for product in &leaf.products {
            let material = product.5.split_whitespace().find_map(|word| word.strip_prefix("material="));
            let thing = Thing { category, name: &product.0, material: material.unwrap_or_default(), number };
            all.push((product.0.clone(), draw(&thing)));
            number += 1;
        }
    }
    all
}

#[test]
fn every_product_has_a_picture_of_its_own_that_the_shop_would_take() {
    let drawings = drawings();
    assert!(drawings.len() >= 200, "{}", drawings.len());
    let different: BTreeSet<&str> = drawings.iter().map(|(_, drawing)| drawing.as_str()).collect();
    assert_eq!(different.len(), drawings.len());
    for (name, drawing) in &drawings {
        let checked =
            engine::media::check(drawing.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((checked.kind, checked.size), (Kind::Svg, Some((SIDE, SIDE))), "{name}");
        assert!(drawing.len() < 40_000, "{name}: {}", drawing.len());
    }
}

#[test]
fn pictures_are_the_same_at_each_run() {
    assert_eq!(drawings(), drawings());
}
