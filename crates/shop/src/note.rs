//! Levels and kinds of the notes in a store's memory. See spec: tools.md, memory.

use serde::{Deserialize, Serialize};

/// Whom a note is for. The order is the precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Everybody.
    All,
    /// The members of one group.
    Group,
    /// One person.
    Own,
}

impl Level {
    /// All levels, in order of precedence.
    pub const ALL: [Self; 3] = [Self::All, Self::Group, Self::Own];

    /// The word in tables and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Group => "group",
            Self::Own => "own",
        }
    }

    /// The level of this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }
}

/// The kind of notes that an agent must read before anything else.
pub const CRITICAL: &str = "kCritical";
/// Direct instructions.
pub const DIRECT: &str = "kDirect";
/// How something is done.
pub const SKILL: &str = "kSkill";
/// Everything else; kinds that the owner adds count as this one.
pub const DEFAULT: &str = "kDefault";

/// Place of a note in the list of a person's notes: smaller comes first.
///
/// The first three kinds come by level, then by kind; all the rest comes after them, by level.
pub fn precedence(kind: &str, level: Level) -> (bool, Level, usize) {
    let kind = [CRITICAL, DIRECT, SKILL].iter().position(|known| *known == kind);
    (kind.is_none(), level, kind.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_goes_before_kind_and_own_kinds_go_last() {
        let mut notes = [
            ("kDefault", Level::All),
            ("kSkill", Level::Own),
            ("kCritical", Level::Own),
            ("kSkill", Level::All),
            ("kOwners", Level::Group),
            ("kDirect", Level::Group),
            ("kCritical", Level::Group),
        ];
        notes.sort_by_key(|(kind, level)| precedence(kind, *level));
        let order: Vec<_> = notes.iter().map(|(kind, level)| format!("{kind} {}", level.as_str())).collect();
        assert_eq!(
            order,
            [
                "kSkill all",
                "kCritical group",
                "kDirect group",
                "kCritical own",
                "kSkill own",
                "kDefault all",
                "kOwners group"
            ]
        );
    }
}
