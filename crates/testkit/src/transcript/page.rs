//! The form of a transcript's file: headings, prose, fenced blocks.

use std::fmt;

/// A file: what stands before the first `## `, then the sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Lines before the first section.
    pub head: String,
    /// One section for each test.
    pub sections: Vec<Section>,
}

/// What stands under one heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading, without `## `.
    pub heading: String,
    /// Prose and blocks in their order.
    pub pieces: Vec<Piece>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Lines of prose, each with its line end.
    Prose(String),
    /// A fenced block.
    Block {
        /// First word after the fence.
        kind: String,
        /// The rest of that line.
        about: String,
        /// The lines between the fences, without the last line end.
        body: String,
    },
}

impl Page {
    /// Reads a file.
    pub fn parse(text: &str) -> Self {
        let mut page = Self { head: String::new(), sections: Vec::new() };
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(heading) = line.strip_prefix("## ") {
                page.sections.push(Section { heading: heading.trim().to_owned(), pieces: Vec::new() });
                continue;
            }
            let Some(section) = page.sections.last_mut() else {
                page.head.push_str(line);
                page.head.push('\n');
                continue;
            };
            let fence: String = line.chars().take_while(|character| *character == '`').collect();
            if fence.len() >= 3 {
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
                let (kind, about) = line[fence.len()..].split_once(' ').unwrap_or((&line[fence.len()..], ""));
                section.pieces.push(Piece::block(kind, about, &body.join("\n")));
            } else if let Some(Piece::Prose(prose)) = section.pieces.last_mut() {
                prose.push_str(line);
                prose.push('\n');
            } else {
                section.pieces.push(Piece::Prose(format!("{line}\n")));
            }
        }
        page
    }
}

impl Piece {
    /// A fenced block.
    pub fn block(kind: &str, about: &str, body: &str) -> Self {
        Self::Block { kind: kind.to_owned(), about: about.trim().to_owned(), body: body.to_owned() }
    }

    /// Whether this is a block of one of these kinds.
    pub fn is(&self, kinds: &[&str]) -> bool {
        matches!(self, Self::Block { kind, .. } if kinds.contains(&kind.as_str()))
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)?;
        for section in &self.sections {
            writeln!(f, "## {}", section.heading)?;
            for piece in &section.pieces {
                write!(f, "{piece}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prose(prose) => f.write_str(prose),
            Self::Block { kind, about, body } => {
                // A body with fences of its own needs a longer one around it.
                let longest = body.lines().map(|line| line.len() - line.trim_start_matches('`').len()).max();
                let fence = "`".repeat(longest.map_or(3, |longest| (longest + 1).max(3)));
                let space = if about.is_empty() { "" } else { " " };
                writeln!(f, "{fence}{kind}{space}{about}\n{body}\n{fence}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Page, Piece};

    const TEXT: &str = "# memory_list\n\nNotes.\n\n## All of them\n\nProse.\n\n```call\nmemory_list {}\n```\n\n````refusal no_rules\n```\ncode\n```\n````\n\n## Empty\n";

    #[test]
    fn page_is_written_as_it_was_read() {
        assert_eq!(Page::parse(TEXT).to_string(), TEXT);
    }

    #[test]
    fn blocks_know_their_kind_and_what_follows_it() {
        let page = Page::parse(TEXT);
        assert_eq!(page.sections.len(), 2);
        assert_eq!(page.sections[0].pieces[1], Piece::block("call", "", "memory_list {}"));
        assert_eq!(page.sections[0].pieces[3], Piece::block("refusal", "no_rules", "```\ncode\n```"));
    }
}
