//! A row of the catalogue: one declared refusal.

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

/// Longest value that stands in front of a fixed beginning, in bytes.
const LONGEST_VALUE: usize = 1000;

/// One declared refusal.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// Name in the code and on the wire.
    pub name: &'static str,
    /// The fixed beginning of the text; it is a contract and never changes. `<name> is required` stands for texts
    /// that begin with a value and go on with these words.
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

impl Row {
    /// Whether a text begins as this row's do.
    pub fn begins(&self, text: &str) -> bool {
        match self.words_after_value() {
            // A value is a name or a path: what comes later in a text is no beginning.
            Some(words) => text.find(words).is_some_and(|at| at > 0 && at <= LONGEST_VALUE),
            None => text.starts_with(self.beginning.trim_end()),
        }
    }

    /// The beginning as it stands in front of every text; empty where a value stands there.
    pub(crate) fn printed(&self) -> &'static str {
        if self.words_after_value().is_some() { "" } else { self.beginning }
    }

    fn words_after_value(&self) -> Option<&'static str> {
        self.beginning.strip_prefix('<')?.rsplit_once('>').map(|(_, words)| words)
    }
}
