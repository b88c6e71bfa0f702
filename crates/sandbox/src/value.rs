//! Values that cross the border between a script and the engine.

/// A value that crosses the border: plain data, never a function or an object with behaviour.
///
/// Integers keep 64 bits: a script sees a Number up to 2^53 and a BigInt past it. Dates cross as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`; `undefined` arrives as this too.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// A `Uint8Array` or `ArrayBuffer`.
    Bytes(Vec<u8>),
    /// An array.
    List(Vec<Value>),
    /// A plain object, its fields in their order.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// How deep lists and maps may lie in each other.
    pub(crate) const DEPTH: u32 = 64;

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, if it is one.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The field of a map.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Map(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
