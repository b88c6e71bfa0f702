//! The binary form of values and messages. Reading trusts nothing: lengths, depth, UTF-8 and the
//! memory that the result takes are all bounded by a budget.

use crate::value::Value;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Bad {
    /// It ends too early.
    #[error("it ends too early")]
    Short,
    /// Something follows its end.
    #[error("something follows its end")]
    Long,
    /// It has a kind that there is not.
    #[error("it has an unknown kind")]
    Kind,
    /// A text is not UTF-8.
    #[error("a text in it is not UTF-8")]
    Text,
    /// It would take more memory than allowed.
    #[error("it would take too much memory")]
    Budget,
    /// Its values lie too deep in each other.
    #[error("its values lie too deep in each other")]
    Depth,
}

/// What can be written to bytes and read from them.
pub(crate) trait Message: Sized {
    /// Appends its bytes.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads one.
    ///
    /// # Errors
    /// If the bytes are none.
    fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad>;
}

/// Bytes being read, with the memory that may yet be used for what they make.
pub(crate) struct Reader<'a> {
    left: &'a [u8],
    budget: u64,
}

impl<'a> Reader<'a> {
    /// Reads these bytes; what they make may take as much memory as `budget`.
    pub(crate) fn new(bytes: &'a [u8], budget: u64) -> Self {
        Self { left: bytes, budget }
    }

    /// Reads one message that is all of the bytes.
    pub(crate) fn whole<T: Message>(bytes: &'a [u8], budget: u64) -> Result<T, Bad> {
        let mut reader = Self::new(bytes, budget);
        let message = T::take(&mut reader)?;
        if reader.left.is_empty() { Ok(message) } else { Err(Bad::Long) }
    }

    /// Takes this much memory off the budget.
    pub(crate) fn spend(&mut self, bytes: u64) -> Result<(), Bad> {
        self.budget = self.budget.checked_sub(bytes).ok_or(Bad::Budget)?;
        Ok(())
    }

    fn slice(&mut self, length: usize) -> Result<&'a [u8], Bad> {
        let (taken, left) = self.left.split_at_checked(length).ok_or(Bad::Short)?;
        self.left = left;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Bad> {
        let (taken, left) = self.left.split_first_chunk::<N>().ok_or(Bad::Short)?;
        self.left = left;
        Ok(*taken)
    }

    /// A length or count; each thing counted takes at least one byte, so it is never above what is left.
    fn length(&mut self) -> Result<usize, Bad> {
        let length = usize::try_from(u32::take(self)?).map_err(|_| Bad::Short)?;
        if length > self.left.len() { Err(Bad::Short) } else { Ok(length) }
    }

    /// A kind.
    pub(crate) fn kind(&mut self) -> Result<u8, Bad> {
        let [kind] = self.array()?;
        Ok(kind)
    }

    /// Bytes with their length.
    pub(crate) fn blob(&mut self) -> Result<&'a [u8], Bad> {
        let length = self.length()?;
        self.spend(u64::from_count(length))?;
        self.slice(length)
    }
}

/// A count as a number of bytes.
pub(crate) trait FromCount {
    /// Never more than fits.
    fn from_count(count: usize) -> Self;
}

impl FromCount for u64 {
    fn from_count(count: usize) -> Self {
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

/// Appends a length. What is over 4 GiB never gets here: frames are limited long before.
pub(crate) fn put_length(length: usize, out: &mut Vec<u8>) {
    u32::try_from(length).unwrap_or(u32::MAX).put(out);
}

/// Appends bytes with their length.
pub(crate) fn put_blob(bytes: &[u8], out: &mut Vec<u8>) {
    put_length(bytes.len(), out);
    out.extend_from_slice(bytes);
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Message for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
                Ok(Self::from_le_bytes(bytes.array()?))
            }
        }
    )*};
}

numbers!(u32 u64 i64 f64);

impl Message for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
        match bytes.kind()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Bad::Kind),
        }
    }
}

impl Message for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_blob(self.as_bytes(), out);
    }

    fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
        let text = std::str::from_utf8(bytes.blob()?).map_err(|_| Bad::Text)?;
        Ok(text.to_owned())
    }
}

impl<T: Message> Message for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_length(self.len(), out);
        for item in self {
            item.put(out);
        }
    }

    fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
        list(bytes, size_of::<T>(), T::take)
    }
}

impl<T: Message> Message for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
        bool::take(bytes)?.then(|| T::take(bytes)).transpose()
    }
}

/// Reads a counted list. Memory is taken as the items come, never by the count alone.
fn list<T>(
    bytes: &mut Reader<'_>,
    size: usize,
    mut item: impl FnMut(&mut Reader<'_>) -> Result<T, Bad>,
) -> Result<Vec<T>, Bad> {
    let count = bytes.length()?;
    let size = u64::from_count(size);
    bytes.spend(size.saturating_mul(u64::from_count(count)))?;
    let mut items = Vec::with_capacity(count);
    for _ in 0..count {
        items.push(item(bytes)?);
    }
    Ok(items)
}

impl Message for Value {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.push(0),
            Self::Bool(truth) => out.push(1 + u8::from(*truth)),
            Self::Int(number) => {
                out.push(3);
                number.put(out);
            }
            Self::Float(number) => {
                out.push(4);
                number.put(out);
            }
            Self::Text(text) => {
                out.push(5);
                text.put(out);
            }
            Self::Bytes(bytes) => {
                out.push(6);
                put_blob(bytes, out);
            }
            Self::List(items) => {
                out.push(7);
                items.put(out);
            }
            Self::Map(fields) => {
                out.push(8);
                put_length(fields.len(), out);
                for (name, value) in fields {
                    name.put(out);
                    value.put(out);
                }
            }
        }
    }

    fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
        value(bytes, Self::DEPTH)
    }
}

/// Reads a value with at most `depth` levels below it.
fn value(bytes: &mut Reader<'_>, depth: u32) -> Result<Value, Bad> {
    let kind = bytes.kind()?;
    let below = || depth.checked_sub(1).ok_or(Bad::Depth);
    Ok(match kind {
        0 => Value::Null,
        1 => Value::Bool(false),
        2 => Value::Bool(true),
        3 => Value::Int(i64::take(bytes)?),
        4 => Value::Float(f64::take(bytes)?),
        5 => Value::Text(String::take(bytes)?),
        6 => Value::Bytes(bytes.blob()?.to_vec()),
        7 => {
            let depth = below()?;
            Value::List(list(bytes, size_of::<Value>(), |bytes| value(bytes, depth))?)
        }
        8 => {
            let depth = below()?;
            let field = size_of::<(String, Value)>();
            Value::Map(list(bytes, field, |bytes| Ok((String::take(bytes)?, value(bytes, depth)?)))?)
        }
        _ => return Err(Bad::Kind),
    })
}
