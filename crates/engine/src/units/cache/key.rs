//! Under what an answer is kept.

use sandbox::Value;

use super::super::templates::Look;
use super::super::visit::Visit;

/// The keys of one answer: one for when it is the same whatever the request, and one for when it is not.
#[derive(Clone)]
pub(crate) struct Keys {
    plain: [u8; 32],
    by_request: [u8; 32],
    has_fields: bool,
}

impl Keys {
    /// The keys of a unit inside a page.
    pub(crate) fn unit(name: &str, vars: &Value, visit: &Visit) -> Self {
        let mut hash = Hash::begin("unit", visit.is_anonymous());
        hash.text(name);
        hash.value(vars);
        hash.look(&visit.look);
        Self::of(hash, &visit.path, &visit.query)
    }

    /// The keys of the page at a path.
    pub(crate) fn page(path: &str, query: &[(String, String)], is_anonymous: bool) -> Self {
        let mut hash = Hash::begin("page", is_anonymous);
        hash.text(path);
        Self::of(hash, path, query)
    }

    fn of(hash: Hash, path: &str, query: &[(String, String)]) -> Self {
        let plain = hash.end();
        let mut hash = hash;
        hash.text(path);
        hash.number(query.len());
        for (name, value) in query {
            hash.text(name);
            hash.text(value);
        }
        Self { plain, by_request: hash.end(), has_fields: !query.is_empty() }
    }

    /// The key, and whether it holds fields that anybody could make up.
    pub(super) fn key(&self, is_by_request: bool) -> ([u8; 32], bool) {
        if is_by_request { (self.by_request, self.has_fields) } else { (self.plain, false) }
    }
}

/// Hashes values so that no two different lists of them give the same bytes.
struct Hash(blake3::Hasher);

impl Hash {
    fn begin(what: &str, is_anonymous: bool) -> Self {
        let mut hash = Self(blake3::Hasher::new());
        hash.text(what);
        hash.number(usize::from(is_anonymous));
        hash
    }

    fn end(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }

    fn bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.0.update(&[kind]);
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(b't', text.as_bytes());
    }

    fn number(&mut self, number: usize) {
        self.bytes(b'n', &(number as u64).to_le_bytes());
    }

    fn look(&mut self, look: &Look) {
        let Look { group, default_group, language, default_language, currency, time_zone } = look;
        for part in [group, default_group, language, default_language, currency, time_zone] {
            self.text(part);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.bytes(b'0', &[]),
            Value::Bool(truth) => self.bytes(b'b', &[u8::from(*truth)]),
            Value::Int(number) => self.bytes(b'i', &number.to_le_bytes()),
            Value::Float(number) => self.bytes(b'f', &number.to_bits().to_le_bytes()),
            Value::Text(text) => self.text(text),
            Value::Bytes(bytes) => self.bytes(b'y', bytes),
            Value::List(list) => {
                self.bytes(b'l', &(list.len() as u64).to_le_bytes());
                list.iter().for_each(|item| self.value(item));
            }
            Value::Map(map) => {
                self.bytes(b'm', &(map.len() as u64).to_le_bytes());
                for (name, item) in map {
                    self.text(name);
                    self.value(item);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_requests_have_different_keys() {
        let field = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        let all = [
            Keys::page("/a", &[], true),
            Keys::page("/a", &[], false),
            Keys::page("/a", &field("b", ""), true),
            Keys::page("/a", &field("", "b"), true),
            Keys::page("/ab", &[], true),
            Keys::page("/", &field("a", ""), true),
        ];
        let keys: std::collections::HashSet<_> = all.iter().map(|keys| keys.key(true)).collect();
        assert_eq!(keys.len(), all.len());
        // The same page, whatever its fields, where it does not read them; and that is no matter of the fields' room.
        assert_eq!(all[0].key(false), all[2].key(false));
        assert!(!all[2].key(false).1 && all[2].key(true).1 && !all[0].key(true).1);
        assert_ne!(all[0].key(false), all[1].key(false));
    }
}
