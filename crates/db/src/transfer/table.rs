//! A table, as far as rows on the move need to know it.

use crate::Value;

/// Rows of `secrets` that belong to a database and not to the store: a login of its server.
const OWN_SECRETS: &str = "('reader_password', 'reader_views')";

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// Columns of the primary key.
    pub(crate) key: Vec<String>,
    /// Whether the database numbers its rows.
    pub(crate) numbered: bool,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What its values are, where they are not null.
    pub kind: Kind,
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Int,
    /// True or false.
    Bool,
    /// Numbers.
    Real,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
}

impl Table {
    /// Which rows move: a condition for behind the table's name, or nothing.
    pub(crate) fn moving(&self) -> String {
        if self.name == "secrets" { format!(" where skey not in {OWN_SECRETS}") } else { String::new() }
    }

    /// The columns for a statement.
    pub(crate) fn column_list(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
        names.join(", ")
    }

    /// All rows that move, in the order of the key.
    pub(crate) fn select(&self) -> String {
        let key: Vec<_> = self.key.iter().map(|column| format!("\"{column}\"")).collect();
        format!(
            "select {} from \"{}\"{} order by {}",
            self.column_list(),
            self.name,
            self.moving(),
            key.join(", ")
        )
    }

    /// Adds a row, a `?` for each value: the form of SQLite.
    pub(crate) fn insert(&self) -> String {
        let places = vec!["?"; self.columns.len()].join(", ");
        format!("insert into \"{}\" ({}) values ({places})", self.name, self.column_list())
    }

    /// A row in words: its key.
    pub(crate) fn row_words(&self, values: &[Value]) -> String {
        let key = self.columns.iter().zip(values).filter(|(column, _)| self.key.contains(&column.name));
        let words = key.map(|(_, value)| match value {
            Value::Int(number) => number.to_string(),
            Value::Text(text) => format!("`{}`", text.chars().take(60).collect::<String>()),
            other => other.kind().to_owned(),
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

impl Kind {
    /// The kind as backups name it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Bool => "bool",
            Self::Real => "real",
            Self::Text => "text",
            Self::Bytes => "bytes",
        }
    }

    /// Brings a value to the one form it has on both databases; else what is wrong with it.
    pub(crate) fn fit(self, value: &mut Value) -> Result<(), &'static str> {
        match (self, &*value) {
            (_, Value::Null)
            | (Self::Int, Value::Int(_))
            | (Self::Bool, Value::Bool(_))
            | (Self::Text, Value::Text(_))
            | (Self::Bytes, Value::Bytes(_)) => {}
            (Self::Bool, Value::Int(0)) => *value = Value::Bool(false),
            (Self::Bool, Value::Int(1)) => *value = Value::Bool(true),
            (Self::Real, Value::Real(number)) if number.is_nan() => return Err("no number"),
            // SQLite keeps no sign of a zero.
            (Self::Real, Value::Real(number)) if *number == 0.0 => *value = Value::Real(0.0),
            (Self::Real, Value::Real(_)) => {}
            (Self::Real, Value::Int(number)) => *value = Value::Real(*number as f64),
            (Self::Text, Value::Bytes(_)) => return Err("text is wanted, and this is none (or not UTF-8)"),
            (Self::Int, _) => return Err("a whole number is wanted"),
            (Self::Bool, _) => return Err("true or false is wanted"),
            (Self::Real, _) => return Err("a number is wanted"),
            (Self::Text, _) => return Err("text is wanted"),
            (Self::Bytes, _) => return Err("bytes are wanted"),
        }
        Ok(())
    }
}
