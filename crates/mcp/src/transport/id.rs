//! Finding the id of a message that cannot be read as a whole, so that its sender does not wait for ever.

use serde_json::{Map, Value};

/// The id of a broken message: a string or a number at its top level.
///
/// The message must still be closed like an object; of a torn one nothing is guessed.
pub(crate) fn of_broken(line: &[u8]) -> Option<Value> {
    let mut scan = Scan { bytes: line, at: 0, id: None };
    scan.object()?;
    scan.spaces();
    if scan.at == line.len() { scan.id } else { None }
}

/// The id of a message of which only the two ends were kept.
pub(crate) fn of_ends(head: &[u8], tail: &[u8]) -> Option<Value> {
    let mut scan = Scan { bytes: head, at: 0, id: None };
    // The head ends in the middle, so how the scan ends says nothing.
    let _ = scan.object();
    scan.id.or_else(|| of_tail(tail))
}

/// `…"id":7,"jsonrpc":"2.0"}` at the end of a line: only there the top level is certain.
fn of_tail(tail: &[u8]) -> Option<Value> {
    let at = tail.windows(4).rposition(|window| window == br#""id""#)?;
    let mut object = vec![b'{'];
    object.extend_from_slice(&tail[at..]);
    let rest: Map<String, Value> = serde_json::from_slice(&object).ok()?;
    let flat = rest.values().all(|value| !value.is_object() && !value.is_array());
    rest.get("id").filter(|id| flat && is_id(id)).cloned()
}

/// From here on a number with a fraction's form is not told back exactly (2 to the power of 53).
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether a value can be the id of a request.
pub(crate) fn is_id(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Number(number) => {
            let is_exact = |number: f64| number.fract() == 0.0 && number.abs() < EXACT;
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(is_exact)
        }
        _ => false,
    }
}

/// Whether an id, right or wrong, comes back to its sender as it was.
pub(crate) fn is_told_back(value: &Value) -> bool {
    let is_huge = |number: f64| number.abs() >= EXACT;
    match value {
        Value::String(_) => true,
        Value::Number(number) => number.is_i64() || number.is_u64() || !number.as_f64().is_some_and(is_huge),
        _ => false,
    }
}

/// Walks over JSON without understanding it: no recursion, no care for what strings hold.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    id: Option<Value>,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn spaces(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.spaces();
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// The object at the top level.
    fn object(&mut self) -> Option<()> {
        self.take(b'{')?;
        loop {
            self.spaces();
            if self.peek()? == b'}' {
                self.at += 1;
                return Some(());
            }
            let key = self.at;
            self.string()?;
            let is_id = &self.bytes[key..self.at] == br#""id""#;
            self.take(b':')?;
            self.spaces();
            let value = self.at;
            self.value()?;
            if is_id {
                self.id = serde_json::from_slice(&self.bytes[value..self.at]).ok().filter(super::id::is_id);
            }
            self.spaces();
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {}
                _ => return None,
            }
        }
    }

    /// A string, from quote to quote.
    fn string(&mut self) -> Option<()> {
        (self.peek()? == b'"').then_some(())?;
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    /// Any value; brackets are counted, not matched.
    fn value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b'}' | b']' if depth == 0 => return Some(()),
                _ => self.at += 1,
            }
            if depth == 0 && matches!(self.bytes.get(self.at - 1), Some(b'"' | b'}' | b']')) {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
