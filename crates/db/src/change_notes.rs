//! The notes that changed rows leave in `changes`, and how far somebody has read them.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::DbError;
use crate::schema::{self, Sets, TableSpec};

/// In place of a table's name: anything may have changed.
pub(crate) const EVERYTHING: &str = "*";
/// In place of a table's name: what came before was removed.
pub(crate) const PRUNED: &str = "-";
/// What the triggers' names begin with.
pub(crate) const PREFIX: &str = "changes_";

/// Which commits somebody has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position(pub(crate) Seen);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// SQLite: all changes up to this number; writers come one after the other.
    UpTo(i64),
    /// PostgreSQL: a snapshot. All transactions before `next` have ended but those that are `open`.
    Snapshot { oldest: u64, next: u64, open: Vec<u64> },
}

impl Position {
    /// Whether everything that `other` has seen is seen here too.
    pub fn covers(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Seen::UpTo(here), Seen::UpTo(there)) => here >= there,
            (
                Seen::Snapshot { next, open, .. },
                Seen::Snapshot { next: other_next, open: other_open, .. },
            ) => {
                let sees = |id: &u64| id < other_next && !other_open.contains(id);
                let beyond = other_open.iter().filter(|id| *id >= next).count() as u64;
                !open.iter().any(sees) && other_next.saturating_sub(*next) <= beyond
            }
            _ => false,
        }
    }

    /// A snapshot as the server writes it: `oldest:next:open,open,…`.
    pub(crate) fn parse(text: &str) -> Result<Self, DbError> {
        let wrong = || DbError::sql(format!("a snapshot of another form: {text}"));
        let mut parts = text.split(':');
        let mut number = || parts.next().and_then(|part| part.parse().ok()).ok_or_else(wrong);
        let (oldest, next) = (number()?, number()?);
        let open = parts.next().unwrap_or_default().split(',').filter(|part| !part.is_empty());
        let open = open.map(|part| part.parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
        Ok(Self(Seen::Snapshot { oldest, next, open }))
    }

    /// The snapshot in the server's form.
    pub(crate) fn text(&self) -> String {
        match &self.0 {
            Seen::UpTo(number) => number.to_string(),
            Seen::Snapshot { oldest, next, open } => {
                let open: Vec<_> = open.iter().map(u64::to_string).collect();
                format!("{oldest}:{next}:{}", open.join(","))
            }
        }
    }
}

/// Whether changes are told by this name: a table's, or that of sets of its rows, like `variants.product_id` and
/// `texts.products`. What depends on another one cannot be kept.
pub fn is_told(name: &str) -> bool {
    static TABLES: OnceLock<HashMap<&'static str, Option<Sets>>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| told_tables().map(|table| (table.name, table.sets)).collect());
    let (table, set) = name.split_once('.').map_or((name, None), |(table, set)| (table, Some(set)));
    let known =
        tables.get(table).copied().or_else(|| tables.get(table.to_ascii_lowercase().as_str()).copied());
    match (known, set) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(None), Some(_)) => false,
        (Some(Some(Sets::Column(column))), Some(set)) => set == column,
        (Some(Some(Sets::Element)), Some(_)) => true,
    }
}

/// Tables whose changes are told.
pub(crate) fn told_tables() -> impl Iterator<Item = &'static TableSpec> {
    schema::tables().filter(|table| table.not_told.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Position {
        Position::parse(text).unwrap()
    }

    #[test]
    fn a_snapshot_covers_those_that_saw_no_more() {
        assert!(at("10:10:").covers(&at("10:10:")));
        assert!(at("11:11:").covers(&at("10:10:")));
        assert!(!at("10:10:").covers(&at("11:11:")));
        // 10 was open here, and had ended there.
        assert!(!at("10:12:10").covers(&at("12:12:")));
        assert!(at("12:12:").covers(&at("10:12:10")));
        assert!(at("10:12:10").covers(&at("10:12:10,11")));
        // What began after and is open there was not seen by either.
        assert!(at("10:10:").covers(&at("10:12:10,11")));
        assert!(!at("10:10:").covers(&at("10:12:10")));
        assert!(Position(Seen::UpTo(3)).covers(&Position(Seen::UpTo(3))));
        assert!(!Position(Seen::UpTo(3)).covers(&Position(Seen::UpTo(4))));
    }

    #[test]
    fn a_snapshot_reads_back_and_nonsense_is_refused() {
        for text in ["10:10:", "10:12:10,11"] {
            assert_eq!(at(text).text(), text);
        }
        for text in ["", "10", "a:b:", "1:2:x"] {
            assert!(Position::parse(text).is_err(), "{text}");
        }
    }
}
