//! What goes wrong with a unit, in the words the agent reads. A visitor never sees them.

use std::fmt;

use wire::text::quoted;

/// A place in a unit's code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The unit.
    pub(crate) unit: String,
    /// Line, from 1; 0 is unknown.
    pub(crate) line: u32,
    /// Column, from 1; 0 is unknown.
    pub(crate) column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.unit, self.line, self.column)
    }
}

/// Why a unit did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnitError {
    /// There is no such unit.
    NotFound(String),
    /// A file that is imported is not there, or does not lie below `units/`.
    NoModule(String),
    /// The unit does not export the function.
    NoFunction { unit: String, function: String },
    /// The unit's code or manifest is no code or manifest.
    Syntax { file: String, line: u32, column: u32, text: String },
    /// The unit ran into an error or over a limit.
    Exception { place: Place, text: String, chain: Vec<Place> },
    /// The engine could not run it: no worker, no database.
    Broken(String),
}

impl UnitError {
    /// What a run wrote was taken back because it took too long.
    pub(crate) fn time_of_transaction(unit: &str) -> Self {
        Self::Exception {
            place: Place { unit: unit.to_owned(), ..Place::default() },
            text: "over the limit: time of a transaction".to_owned(),
            chain: Vec::new(),
        }
    }

    /// Where it happened, as far as that is known.
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::NotFound(name) | Self::NoModule(name) => Place { unit: name.clone(), ..Place::default() },
            Self::NoFunction { unit, .. } => Place { unit: unit.clone(), ..Place::default() },
            Self::Syntax { file, line, column, .. } => {
                Place { unit: file.clone(), line: *line, column: *column }
            }
            Self::Exception { place, .. } => place.clone(),
            Self::Broken(_) => Place::default(),
        }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(name) => write!(f, "Unit not found: {}", quoted(name, 80)),
            Self::NoModule(file) => write!(f, "Module not found! [{}]", quoted(file, 120)),
            Self::NoFunction { unit, function } => {
                write!(f, "Function not found! [{unit}\\{}]", quoted(function, 80))
            }
            Self::Syntax { file, line, column, text } => {
                write!(f, "Syntax error: {file}:{line}:{column}: {text}")
            }
            Self::Exception { place, text, chain } => {
                write!(f, "Module Runtime Exception: {place}: {text}")?;
                for caller in chain {
                    write!(f, "\n  from {caller}")?;
                }
                Ok(())
            }
            Self::Broken(why) => write!(f, "The unit could not be run: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_begin_as_agreed() {
        let place = |unit: &str, line, column| Place { unit: unit.to_owned(), line, column };
        let exception = UnitError::Exception {
            place: place("inc_format", 3, 9),
            text: "x is not defined".to_owned(),
            chain: vec![place("home", 7, 1)],
        };
        for (error, words) in [
            (UnitError::NotFound("nix".to_owned()), "Unit not found: nix"),
            (UnitError::NoModule("units/a.js".to_owned()), "Module not found! [units/a.js]"),
            (
                UnitError::NoFunction { unit: "home".to_owned(), function: "save".to_owned() },
                "Function not found! [home\\save]",
            ),
            (exception, "Module Runtime Exception: inc_format:3:9: x is not defined\n  from home:7:1"),
        ] {
            assert_eq!(error.to_string(), words);
        }
    }
}
