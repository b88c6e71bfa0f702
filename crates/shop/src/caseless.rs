//! Text without regard to capitals and composition, as people compare it.

use caseless::Caseless as _;
use unicode_normalization::UnicodeNormalization as _;

/// A text in the form in which texts are equal that differ in capitals or composition only: Unicode's full case
/// folding, composed.
pub fn folded(text: &str) -> String {
    // Decomposed first: a letter and its capital need not compose with the same accents.
    text.chars().nfd().default_case_fold().nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_and_composition_are_no_difference() {
        for (one, other) in [
            ("Straße", "STRASSE"),
            ("Ёлка", "\u{435}\u{308}лка"),
            ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
            ("ﬁn", "FIN"),
            ("Ǆ", "ǆ"),
            ("\u{1fb3}", "\u{391}\u{399}"),
            ("K", "\u{212a}"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        assert_ne!(folded("ель"), folded("ёль"));
        assert_eq!(folded("a  b"), "a  b");
    }
}
