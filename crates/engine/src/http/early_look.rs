//! A look at the first bytes of a large request: which command it is, and whose ticket it brings.

/// What is known of a request before it is read whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EarlyLook {
    pub(crate) command: Option<String>,
    pub(crate) session: Option<String>,
}

/// Reads the fields of the outermost object as far as they go. What is wrong is told when all is read.
pub(crate) fn look(start: &[u8]) -> EarlyLook {
    let mut look = EarlyLook::default();
    let mut reader = Reader { rest: start };
    let _ = reader.object(&mut look);
    look
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// `None` where the bytes end or are no such object.
    fn object(&mut self, look: &mut EarlyLook) -> Option<()> {
        self.take(b'{')?;
        loop {
            let name = self.text()?;
            self.take(b':')?;
            let value = self.value()?;
            // Of two fields of one name the last one counts, as it does when all is read: that one may be yet to come,
            // and is refused then.
            match name.as_str() {
                "command" => look.command = text_of(value),
                "session" => look.session = text_of(value),
                _ => {}
            }
            self.take(b',')?;
        }
    }

    fn space(&mut self) {
        let end = self.rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        self.space();
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        (*first == wanted).then_some(())
    }

    fn text(&mut self) -> Option<String> {
        self.space();
        if self.rest.first() != Some(&b'"') {
            return None;
        }
        text_of(self.value()?)
    }

    /// The bytes of the next value, which is there whole and something follows it.
    fn value(&mut self) -> Option<&'a [u8]> {
        self.space();
        let (mut depth, mut is_text, mut is_escaped) = (0usize, false, false);
        for (at, byte) in self.rest.iter().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if is_text => is_escaped = true,
                b'"' => is_text = !is_text,
                _ if is_text => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' | b',' | b':' if depth == 0 => {
                    let (value, rest) = self.rest.split_at(at);
                    self.rest = rest;
                    return Some(value);
                }
                b'}' | b']' => depth -= 1,
                _ => {}
            }
        }
        None
    }
}

fn text_of(value: &[u8]) -> Option<String> {
    serde_json::from_slice(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(start: &str) -> (Option<String>, Option<String>) {
        let EarlyLook { command, session } = look(start.as_bytes());
        (command, session)
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn what_comes_before_the_large_part_is_seen() {
        let start = r#" { "command" : "AGENT_MEMORY_SAVE", "x": [1, {"session": "no"}, "]"], "sess\u0069on":"t\"1", "params": {"body": "long"#;
        assert_eq!(seen(start), (some("AGENT_MEMORY_SAVE"), some("t\"1")));
    }

    #[test]
    fn what_is_not_there_whole_is_not_seen() {
        for start in [
            "",
            "[",
            "{",
            "{\"session\"",
            "{\"session\":",
            "{\"session\":\"abc",
            "{\"session\":\"abc\"",
            "null",
            "{session:\"a\",",
        ] {
            assert_eq!(seen(start), (None, None), "{start}");
        }
        assert_eq!(seen("{\"session\":1,\"command\":\"A\",}"), (some("A"), None));
        assert_eq!(seen("{\"params\":{\"session\":\"a\"},\"command\":\"A\"}"), (some("A"), None));
        assert_eq!(seen("{\"session\":\"a\",\"session\":null,"), (None, None));
    }
}
