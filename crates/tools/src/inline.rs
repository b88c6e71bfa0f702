//! How much of a text an answer carries. What is longer is cut by hosts, so it goes into a file or comes in parts.

/// Characters of bodies that one answer carries at the most: real hosts were seen to show so many whole.
pub const INLINE_MOST: usize = 30_000;
/// Characters of the head that stands in an answer for a body in a file.
pub const HEAD: usize = 2_000;

/// Characters `from` on, at most `most` of them.
pub fn part(text: &str, from: usize, most: usize) -> &str {
    let at = |text: &str, count: usize| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    let rest = text.get(at(text, from)..).unwrap_or_default();
    rest.get(..at(rest, most)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_are_counted_in_characters() {
        assert_eq!(part("чай и мёд", 0, 3), "чай");
        assert_eq!(part("чай и мёд", 4, 100), "и мёд");
        assert_eq!(part("чай", 3, 1), "");
        assert_eq!(part("чай", 9, 1), "");
        assert_eq!(part("чай", 0, 0), "");
    }
}
