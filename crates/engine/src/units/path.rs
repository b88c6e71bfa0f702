//! Paths of pages as they stand in addresses.

/// A path as it stands in an address. Two slashes in front would lead to another site.
pub(crate) fn encoded(path: &str) -> String {
    let mut out = String::from("/");
    for byte in path.trim_start_matches('/').bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                out.push(char::from(byte))
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn a_path_stays_in_the_store() {
        assert_eq!(encoded("/куртка/a b"), "/%D0%BA%D1%83%D1%80%D1%82%D0%BA%D0%B0/a%20b");
        assert_eq!(encoded("//evil.example"), "/evil.example");
    }
}
