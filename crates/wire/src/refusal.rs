//! What a refusal is: a row of the catalogue with its values filled in.

use std::fmt;

/// Who says a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The MCP server, without asking the store.
    Server,
    /// The engine, by its code.
    Store,
    /// The MCP server, putting into words what came back (or did not) from the store.
    Words,
    /// One tool, wherever its code runs.
    Tool,
}

/// Who can mend the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mender {
    /// The agent itself, by another call.
    Agent,
    /// The person at the keyboard, in the program.
    Person,
    /// The store's owner, in rights or settings.
    Owner,
    /// Whoever keeps the server.
    ServerAdmin,
    /// A developer of Shopwright or of the store.
    Developer,
    /// Nobody: it passes by itself.
    Time,
}

/// One declared refusal.
#[derive(Debug)]
pub struct Row {
    /// Name in the code and on the wire.
    pub name: &'static str,
    /// The fixed beginning of the text; it is a contract and never changes.
    pub beginning: &'static str,
    /// Who says it.
    pub speaker: Speaker,
    /// Who mends it.
    pub mender: Mender,
    /// When it is said.
    pub when: &'static str,
    /// How to go on.
    pub mend: &'static str,
}

/// An expected no: a row of the catalogue with its values.
///
/// It does not implement [`std::error::Error`] on purpose: `?` on a library's
/// error makes a [`crate::Fault`], `?` on a refusal keeps it a refusal.
#[derive(Clone, PartialEq, Eq)]
pub struct Refusal {
    name: String,
    head: String,
}

impl Refusal {
    pub(crate) fn new(row: &'static Row, rest: &str) -> Self {
        let mut head = String::with_capacity(row.beginning.len() + rest.len());
        head.push_str(row.beginning);
        head.push_str(rest);
        Self { name: row.name.to_owned(), head }
    }

    /// A refusal that came over the wire. The engine may be newer than this
    /// program, so a name that the catalogue lacks is kept as it came.
    pub fn received(name: &str, head: &str) -> Self {
        Self { name: name.to_owned(), head: head.to_owned() }
    }

    /// Name of the catalogue's row.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is wrong, without the advice: this is what travels on the wire.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// The catalogue's row, unless a newer engine said it.
    pub fn row(&self) -> Option<&'static Row> {
        crate::catalogue::row(&self.name)
    }

    /// The whole text for a reader: what is wrong, then how to go on.
    ///
    /// A store's code stands alone on the first line, so that it can be compared.
    pub fn text(&self) -> String {
        match self.row() {
            Some(row) if row.mend.is_empty() => self.head.clone(),
            Some(row) if row.speaker == Speaker::Store => format!("{}\n{}", self.head, row.mend),
            Some(row) => format!("{} {}", self.head, row.mend),
            None => self.head.clone(),
        }
    }
}

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Refusal({}: {})", self.name, self.head)
    }
}

/// Declares the catalogue: a constructor function for each row and the list of all rows.
macro_rules! refusals {
    ($(
        $(#[doc = $when:literal])+
        $name:ident($($arg:ident: $kind:ty),*) $speaker:ident $mender:ident
        $beginning:literal $rest:literal;
        $mend:literal
    )+) => {
        mod rows {
            use crate::refusal::{Mender, Row, Speaker};
            $(
                #[expect(non_upper_case_globals, reason = "one name for the row and its constructor")]
                pub(super) static $name: Row = Row {
                    name: stringify!($name),
                    beginning: $beginning,
                    speaker: Speaker::$speaker,
                    mender: Mender::$mender,
                    when: concat!($($when),+),
                    mend: $mend,
                };
            )+
        }

        /// Every refusal there is, in the order of the catalogue.
        pub static ALL: &[&$crate::refusal::Row] = &[$(&rows::$name),+];

        $(
            $(#[doc = $when])+
            pub fn $name($($arg: $kind),*) -> $crate::refusal::Refusal {
                $crate::refusal::Refusal::new(&rows::$name, &format!($rest))
            }
        )+
    };
}
pub(crate) use refusals;
