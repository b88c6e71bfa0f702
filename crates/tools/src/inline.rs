//! How much of a text an answer carries. What is longer is cut by hosts, so it goes into a file or comes in parts.

/// Room for bodies in an answer. Some hosts count characters, Codex bytes of the answer's JSON: both have an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    characters: usize,
    bytes: usize,
}

impl Room {
    /// What one answer carries at the most: real hosts were seen to show so much whole.
    pub const ANSWER: Self = Self { characters: 30_000, bytes: 36_000 };
    /// The same for a host that shows less: 25,000 characters, and each body twice.
    pub const SHOWN_TWICE: Self = Self { characters: 11_000, bytes: 36_000 };
    /// The head that stands in an answer for a body in a file.
    pub const HEAD: Self = Self { characters: 2_000, bytes: 8_000 };
    /// No room at all.
    pub const NONE: Self = Self { characters: 0, bytes: 0 };

    /// Whether nothing more goes in.
    pub fn is_used_up(self) -> bool {
        self.characters == 0 || self.bytes == 0
    }

    /// Whether all of a text goes in.
    pub fn holds(self, text: &str) -> bool {
        self.beginning(text).len() == text.len()
    }

    /// As much of a text's beginning as goes in.
    pub fn beginning(self, text: &str) -> &str {
        let mut bytes = 0;
        let over = text.char_indices().enumerate().find(|(count, (_, letter))| {
            bytes += in_json(*letter);
            *count >= self.characters || bytes > self.bytes
        });
        over.map_or(text, |(_, (at, _))| text.get(..at).unwrap_or_default())
    }

    /// What is left of it behind a text.
    pub fn without(self, text: &str) -> Self {
        Self {
            characters: self.characters.saturating_sub(text.chars().count()),
            bytes: self.bytes.saturating_sub(text.chars().map(in_json).sum()),
        }
    }

    /// The smaller one of two.
    pub fn least(self, other: Self) -> Self {
        Self { characters: self.characters.min(other.characters), bytes: self.bytes.min(other.bytes) }
    }
}

/// Bytes of a letter in the answer's JSON.
fn in_json(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        letter if letter < ' ' => 6,
        letter => letter.len_utf8(),
    }
}

/// A text from a character on.
pub fn after(text: &str, from: usize) -> &str {
    let at = text.char_indices().nth(from).map_or(text.len(), |(at, _)| at);
    text.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Room, after, in_json};

    #[test]
    fn a_text_goes_on_from_a_character() {
        assert_eq!(after("чай и мёд", 4), "и мёд");
        assert_eq!(after("чай", 0), "чай");
        assert_eq!(after("чай", 3), "");
        assert_eq!(after("чай", 9), "");
    }

    #[test]
    fn room_ends_with_its_characters_or_with_its_bytes() {
        let room = Room { characters: 5, bytes: 8 };
        assert_eq!(room.beginning("leaves"), "leave");
        assert_eq!(room.beginning("зелень"), "зеле");
        assert_eq!(room.beginning("\"\"\"\"\""), "\"\"\"\"");
        assert!(room.holds("чай") && !room.holds("зелень"));
        assert_eq!(room.without("чай"), Room { characters: 2, bytes: 2 });
        assert!(room.without("зелень").is_used_up());
        assert_eq!(Room::NONE.beginning("x"), "");
        assert_eq!(room.least(Room { characters: 9, bytes: 1 }), Room { characters: 5, bytes: 1 });
    }

    #[test]
    fn letters_are_counted_as_the_answer_writes_them() {
        for letter in
            ['a', '"', '\\', '\n', '\r', '\t', '\u{8}', '\u{c}', '\u{1}', '\u{7f}', 'ж', '茶', '🍵', '/']
        {
            let written = serde_json::to_string(&letter).unwrap();
            assert_eq!(in_json(letter), written.len() - 2, "{written}");
        }
    }
}
