//! Tests of addresses as people write them.

use proptest::prelude::*;

use super::{address, host};

#[test]
fn an_address_gets_its_scheme() {
    let read = |text: &str| address(text).map(|url| url.to_string());
    assert_eq!(read("tea.example").as_deref(), Some("https://tea.example/"));
    assert_eq!(read("http://tea.example/shop").as_deref(), Some("http://tea.example/shop"));
    assert_eq!(read("localhost:8420").as_deref(), Some("http://localhost:8420/"));
    assert_eq!(read("127.0.0.1:8420").as_deref(), Some("http://127.0.0.1:8420/"));
    assert_eq!(read("чай.example").as_deref(), Some("https://xn--80as4b.example/"));
    for text in ["", "ftp://a", "https://", "https://a?b", "https://a#b", "https://u:p@a", "a b"] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn a_folder_is_named_after_the_host() {
    let name = |text: &str| host(&address(text).unwrap());
    assert_eq!(name("https://shop.example.com/x"), "shop.example.com");
    assert_eq!(name("http://localhost:8420"), "localhost-8420");
    assert_eq!(name("http://[::1]:8420"), "__1-8420");
}

proptest! {
    #[test]
    fn reading_an_address_never_fails_badly(text in ".{0,30}") {
        if let Some(url) = address(&text) {
            prop_assert!(!host(&url).contains('/'));
        }
    }
}
