//! Putting foreign values into sentences.

/// A value as a sentence may quote it: one line, at most `most` characters, cut with `…`.
pub fn quoted(value: &str, most: usize) -> String {
    let mut out = String::new();
    for (count, character) in value.chars().enumerate() {
        if count == most {
            out.push('…');
            break;
        }
        out.push(if character.is_control() { ' ' } else { character });
    }
    out
}
