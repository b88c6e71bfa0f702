//! Names of files for pages: made of their addresses, plain on every system, one for each address.

use std::collections::HashMap;

/// Longest name, in bytes, without an ending.
const LONGEST: usize = 120;
/// Most names that are remembered.
const MOST: usize = 20_000;

/// Which address has which name.
#[derive(Default)]
pub(crate) struct Names(HashMap<String, String>);

impl Names {
    /// The name for an address: path and query. Where another address has it already, a mark is added.
    pub(crate) fn of(&mut self, place: &str) -> String {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        let name = plain(place);
        // Some disks take `A` and `a` for one.
        let taken = self.0.entry(name.to_lowercase()).or_insert_with(|| place.to_owned());
        if taken == place {
            return name;
        }
        let mark = blake3::hash(place.as_bytes()).to_hex();
        format!("{name}-{}", mark.get(..8).unwrap_or_default())
    }
}

/// Letters, digits, `-` and `_` stay, runs of others are one `_`; nothing at all is `index`.
fn plain(place: &str) -> String {
    let mut name = String::new();
    let place = decoded(place);
    for letter in place.chars() {
        if letter.is_alphanumeric() || matches!(letter, '-' | '_') {
            name.push(letter);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_matches('_');
    match name {
        "" => "index".to_owned(),
        name if name.len() <= LONGEST => name.to_owned(),
        name => {
            let mut end = LONGEST;
            while !name.is_char_boundary(end) {
                end -= 1;
            }
            let mark = blake3::hash(place.as_bytes()).to_hex();
            format!("{}-{}", name.get(..end).unwrap_or_default(), mark.get(..8).unwrap_or_default())
        }
    }
}

/// A text without its `%` signs for bytes.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits =
            after.get(..2).filter(|digits| *first == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_addresses() {
        for (place, name) in [
            ("/", "index"),
            ("", "index"),
            ("/catalog/?page=2", "catalog_page_2"),
            ("/%D1%87%D0%B0%D0%B9/a-b_c.htm", "чай_a-b_c_htm"),
            ("/?a=../../x", "a_x"),
            ("/%ff%00\\:*", "index"),
            ("/%2", "2"),
        ] {
            assert_eq!(plain(place), name, "{place}");
        }
        let long = plain(&format!("/{}", "я".repeat(500)));
        assert!(long.len() <= LONGEST + 9, "{}", long.len());
        assert_ne!(long, plain(&format!("/{}", "я".repeat(501))));
    }

    #[test]
    fn addresses_that_would_share_a_name_have_names_of_their_own() {
        let mut names = Names::default();
        let first = names.of("/a?b");
        let second = names.of("/a/b");
        let third = names.of("/A/B");
        assert_eq!(first, "a_b");
        assert!(second.starts_with("a_b-") && third.starts_with("A_B-"), "{second} {third}");
        assert!(second != third.to_lowercase());
        assert_eq!((names.of("/a?b"), names.of("/a/b")), (first, second));
        for number in 0..2 * MOST {
            names.of(&format!("/{number}"));
        }
        assert!(names.0.len() <= MOST);
    }
}
