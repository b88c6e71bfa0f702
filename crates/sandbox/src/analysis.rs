//! What is known of a module without running it.

/// A mistake of syntax.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{unit}:{line}:{column}: {text}")]
pub struct SyntaxError {
    /// Name of the module.
    pub unit: String,
    /// Line from 1.
    pub line: u32,
    /// Column from 1.
    pub column: u32,
    /// What is wrong.
    pub text: String,
}

/// What the source of a module says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Exported functions, in the order of the source.
    pub functions: Vec<Signature>,
    /// What it imports.
    pub imports: Vec<Import>,
    /// Names that are used and declared nowhere.
    pub undeclared: Vec<Mention>,
    /// Names that are declared at any level and never used.
    pub unused: Vec<Mention>,
    /// Names after `shop.` that are used: the host calls and values it relies on.
    pub host: Vec<Mention>,
}

/// An exported function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Name under which it is exported.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Whether it is `async`.
    pub is_async: bool,
    /// The comment before it, without its marks.
    pub comment: String,
    /// Line from 1.
    pub line: u32,
    /// Column from 1.
    pub column: u32,
}

/// A parameter of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// As written: `vars`, `{id, key}`, `...rest`.
    pub name: String,
    /// The default as written, if it has one.
    pub default: Option<String>,
}

/// A module that is imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// The module as written.
    pub module: String,
    /// Names taken from it; `*` for all of it, `default` for its default.
    pub names: Vec<Mention>,
    /// Line from 1.
    pub line: u32,
    /// Column from 1.
    pub column: u32,
}

/// A name at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mention {
    /// The name.
    pub name: String,
    /// Line from 1.
    pub line: u32,
    /// Column from 1.
    pub column: u32,
}
