//! Files packed once, as tightly as can be, and kept in memory.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Smallest file that is packed.
const LEAST: usize = 512;
/// Most bytes that are kept.
const MOST: usize = 16 << 20;

/// Packed files by the marks of their contents; `None` is one that packing makes no smaller.
#[derive(Default)]
pub(crate) struct Packed(Mutex<HashMap<String, Option<Bytes>>>);

impl Packed {
    /// A file, packed; `None` where that is not worth it.
    pub(super) fn get(&self, mark: &str, kind: &str, content: &[u8]) -> Option<Bytes> {
        let is_text = kind.starts_with("text/") || kind.ends_with("json") || kind.ends_with("xml");
        if content.len() < LEAST || !is_text {
            return None;
        }
        if let Some(known) = self.kept().get(mark) {
            return known.clone();
        }
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        let packed = packer.write_all(content).and_then(|()| packer.finish()).ok();
        let packed = packed.filter(|packed| packed.len() < content.len()).map(Bytes::from);
        let mut kept = self.kept();
        let used: usize = kept.values().flatten().map(Bytes::len).sum();
        if used + packed.as_ref().map_or(0, Bytes::len) > MOST {
            kept.clear();
        }
        kept.insert(mark.to_owned(), packed.clone());
        packed
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, HashMap<String, Option<Bytes>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_packed_once_and_only_where_it_helps() {
        let packed = Packed::default();
        let text = "body { color: red }\n".repeat(100);
        let short = packed.get("a", "text/css; charset=utf-8", text.as_bytes()).unwrap();
        assert!(short.len() < text.len() / 10);
        assert_eq!(packed.get("a", "text/css; charset=utf-8", b"").as_ref(), None);
        let again = packed.get("a", "text/css; charset=utf-8", text.as_bytes()).unwrap();
        assert_eq!(again.as_ptr(), short.as_ptr());
        assert_eq!(packed.get("b", "image/png", text.as_bytes()), None);
        assert_eq!(packed.get("c", "text/css", b"a{}"), None);
    }

    #[test]
    fn no_more_is_kept_than_fits() {
        let packed = Packed::default();
        for number in 0_u32..40 {
            // What cannot be packed by much.
            let noise: String = (0..20_000_u32)
                .map(|at| blake3::hash(&(at * 41 + number).to_le_bytes()).to_hex().to_string())
                .collect();
            packed.get(&number.to_string(), "text/plain", noise.as_bytes());
            let used: usize = packed.kept().values().flatten().map(Bytes::len).sum();
            assert!(used <= MOST, "{used}");
        }
    }
}
