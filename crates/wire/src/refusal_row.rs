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

/// One declared refusal.
#[derive(Debug, PartialEq, Eq)]
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
