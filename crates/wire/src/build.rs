//! Build numbers: `0.1.0` or with more parts, compared part by part.

use std::cmp::Ordering;
use std::fmt;

/// A build number: numbers with points between. Missing parts count as zero.
#[derive(Clone, Debug)]
pub struct Build(Vec<u32>);

impl Build {
    /// Reads `1.2.3`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > 64 {
            return None;
        }
        let parts: Option<Vec<u32>> = text.trim().split('.').map(|part| part.parse().ok()).collect();
        parts.filter(|parts| parts.len() <= 6).map(Self)
    }

    fn part(&self, index: usize) -> u32 {
        self.0.get(index).copied().unwrap_or(0)
    }
}

impl Ord for Build {
    fn cmp(&self, other: &Self) -> Ordering {
        (0..self.0.len().max(other.0.len()))
            .map(|index| self.part(index).cmp(&other.part(index)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Build {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Build {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Build {}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&parts.join("."))
    }
}
