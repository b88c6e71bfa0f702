//! Addresses that mails go to: one person, a plain name, a domain that may be written in any alphabet.

use std::fmt;

/// Longest name before the `@`.
const LONGEST_NAME: usize = 64;
/// Longest address.
const LONGEST: usize = 254;

/// One address. Nothing in it can end a header or begin another address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    name: String,
    /// As the net knows it, in ASCII.
    domain: String,
}

impl Address {
    /// Reads an address as people type it; `None` where it is none that is sent to.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, domain) = text.trim().split_once('@')?;
        let is_name = !name.is_empty()
            && name.len() <= LONGEST_NAME
            && name.split('.').all(|part| !part.is_empty() && part.bytes().all(may_stand_in_name));
        if !is_name || domain.len() > LONGEST {
            return None;
        }
        // What this lets through are letters, digits, hyphens and dots.
        let domain = idna::domain_to_ascii_strict(domain).ok()?;
        let is_domain = domain.bytes().any(|byte| byte.is_ascii_alphabetic())
            && domain.split('.').all(|label| !label.is_empty())
            && name.len() + domain.len() < LONGEST;
        is_domain.then(|| Self { name: name.to_owned(), domain })
    }

    /// An address of this computer, for a store that has none of its own.
    pub(crate) fn local() -> Self {
        Self { name: "shop".to_owned(), domain: "localhost".to_owned() }
    }

    /// What stands before the `@`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What stands behind the `@`.
    pub(crate) fn domain(&self) -> &str {
        &self.domain
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.domain)
    }
}

fn may_stand_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        Address::parse(text).map(|address| address.to_string())
    }

    #[test]
    fn domains_of_any_alphabet_are_known_to_the_net() {
        assert_eq!(read(" irina+shop@Example.COM ").as_deref(), Some("irina+shop@example.com"));
        assert_eq!(read("info@почта.рф").as_deref(), Some("info@xn--80a1acny.xn--p1ai"));
        assert_eq!(read("info@bücher.example").as_deref(), Some("info@xn--bcher-kva.example"));
        assert_eq!(read("root@localhost").as_deref(), Some("root@localhost"));
    }

    #[test]
    fn what_is_not_one_plain_address_is_none() {
        let long = format!("{}@example.com", "a".repeat(65));
        let far = format!("a@{}", "b.".repeat(200));
        for text in [
            "",
            "a",
            "@example.com",
            "a@",
            "a@b@example.com",
            "a@example.com, b@example.com",
            "a@example.com\r\nBcc: b@example.com",
            "a\nb@example.com",
            "<a@example.com>",
            "\"a b\"@example.com",
            "a b@example.com",
            ".a@example.com",
            "a..b@example.com",
            "a@.example.com",
            "a@example..com",
            "a@exa mple.com",
            "a@example.com\0",
            "a@[127.0.0.1]",
            "a@127.0.0.1",
            "иван@example.com",
            "a@-example.com",
            "a@exam_ple.com",
            &long,
            &far,
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
