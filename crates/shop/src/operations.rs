//! The built-in tree of operations: what a right can be given for. See spec: rights.md.

/// A folder or a row of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Key, unique in the tree; also the key of its name in `locales/`.
    pub skey: &'static str,
    /// Key of the folder it lies in; `None` at the top.
    pub parent: Option<&'static str>,
    /// The command it allows; `None` for folders.
    pub command: Option<&'static str>,
}

const fn folder(skey: &'static str, parent: Option<&'static str>) -> Operation {
    Operation { skey, parent, command: None }
}

const fn row(command: &'static str, parent: &'static str) -> Operation {
    Operation { skey: command, parent: Some(parent), command: Some(command) }
}

/// The whole tree in the order people see it; a folder stands before what lies in it.
pub const ALL: &[Operation] = &[
    folder("PROGRAM", None),
    row("SCHEDULER", "PROGRAM"),
    row("ORDERS", "PROGRAM"),
    row("PRODUCTS", "PROGRAM"),
    row("USERS", "PROGRAM"),
    row("AI_COMPONENTS", "PROGRAM"),
    row("INSTALLATION", "PROGRAM"),
    row("DISPATCHER", "PROGRAM"),
    folder("AGENT", None),
    folder("AGENT_MEMORY", Some("AGENT")),
    row("AGENT_MEMORY_LIST", "AGENT_MEMORY"),
    row("AGENT_MEMORY_LOAD", "AGENT_MEMORY"),
    row("AGENT_MEMORY_SAVE", "AGENT_MEMORY"),
    row("AGENT_MEMORY_REMOVE", "AGENT_MEMORY"),
    folder("AGENT_REPO", Some("AGENT")),
    row("AGENT_REPO_LIST", "AGENT_REPO"),
    row("AGENT_REPO_READ", "AGENT_REPO"),
    row("AGENT_REPO_WRITE", "AGENT_REPO"),
    folder("AGENT_TOOL", Some("AGENT")),
    row("AGENT_TOOL_LIST", "AGENT_TOOL"),
    row("AGENT_TOOL_RUN", "AGENT_TOOL"),
    folder("AGENT_ENGINE", Some("AGENT")),
    folder("AGENT_ENGINE_FILES", Some("AGENT_ENGINE")),
    row("AGENT_ENGINE_FILES_LOAD", "AGENT_ENGINE_FILES"),
    row("AGENT_ENGINE_FILES_ADD", "AGENT_ENGINE_FILES"),
    row("AGENT_ENGINE_FILES_REMOVE", "AGENT_ENGINE_FILES"),
    folder("AGENT_ENGINE_DB", Some("AGENT_ENGINE")),
    row("AGENT_ENGINE_DB_TABLES", "AGENT_ENGINE_DB"),
    row("AGENT_ENGINE_DB_SELECT", "AGENT_ENGINE_DB"),
    row("AGENT_ENGINE_DB_EXECUTE", "AGENT_ENGINE_DB"),
    row("AGENT_ENGINE_DB_LOCKS", "AGENT_ENGINE_DB"),
    row("AGENT_ENGINE_DB_UNLOCKS", "AGENT_ENGINE_DB"),
    folder("AGENT_ENGINE_DEV", Some("AGENT_ENGINE")),
    row("AGENT_ENGINE_DEV_READ", "AGENT_ENGINE_DEV"),
    row("AGENT_ENGINE_DEV_WRITE", "AGENT_ENGINE_DEV"),
    row("AGENT_ENGINE_DEV_CONFIG", "AGENT_ENGINE_DEV"),
    row("AGENT_ENGINE_DEV_CACHE_CLEAR", "AGENT_ENGINE_DEV"),
    folder("AGENT_EXPORT", Some("AGENT")),
    row("AGENT_TOOL_EXPORT", "AGENT_EXPORT"),
    row("AGENT_SHOP_DOWNLOAD", "AGENT_EXPORT"),
    folder("AGENT_JOURNAL", Some("AGENT")),
    row("AGENT_JOURNAL_LIST", "AGENT_JOURNAL"),
    row("AGENT_JOURNAL_UNDO", "AGENT_JOURNAL"),
];

/// Commands that hold another one: whoever may change files may read them.
pub const HOLDS: &[(&str, &str)] = &[("AGENT_ENGINE_DEV_WRITE", "AGENT_ENGINE_DEV_READ")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_lies_in_a_folder_that_stands_before_it() {
        for (at, operation) in ALL.iter().enumerate() {
            assert!(ALL[..at].iter().all(|before| before.skey != operation.skey), "{operation:?} twice");
            if let Some(parent) = operation.parent {
                let folder = ALL[..at].iter().find(|before| before.skey == parent);
                assert!(folder.is_some_and(|folder| folder.command.is_none()), "{operation:?}");
            }
        }
    }
}
