//! Tests of addresses.

use super::Address;

fn address(url: &str) -> Address {
    Address::parse(url).unwrap()
}

#[test]
fn only_addresses_of_the_web_are_taken() {
    for url in ["", "shop", "ftp://shop", "file:///etc/passwd", "http://", "javascript:alert(1)"] {
        assert!(Address::parse(url).is_err(), "{url}");
    }
}

#[test]
fn endpoints_lie_below_the_address_of_the_store() {
    for (url, endpoint) in [
        ("https://shop.example.com", "https://shop.example.com/core/mcp.php"),
        ("https://shop.example.com/", "https://shop.example.com/core/mcp.php"),
        ("http://127.0.0.1:8420/shop/?a=b#c", "http://127.0.0.1:8420/shop/core/mcp.php"),
    ] {
        assert_eq!(address(url).path("core/mcp.php").shown(), endpoint);
    }
}

#[test]
fn names_and_passwords_in_an_address_are_not_shown() {
    assert_eq!(address("https://irina:secret@shop.example.com/?key=1").shown(), "https://shop.example.com");
}

#[test]
fn this_computer_is_known_by_all_its_names() {
    for url in [
        "http://127.0.0.1:1",
        "http://127.9.9.9",
        "http://localhost",
        "http://[::1]:80",
        "http://shop.localhost",
        "http://[::ffff:127.0.0.1]",
    ] {
        assert!(address(url).is_loopback(), "{url}");
    }
    for url in [
        "http://192.168.0.1",
        "http://shop.example.com",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
    ] {
        assert!(!address(url).is_loopback(), "{url}");
    }
}

#[test]
fn a_redirect_stays_with_its_host() {
    let from = address("http://shop.example.com/core/mcp.php");
    for (to, follows) in [
        ("/core/mcp.php/", true),
        ("https://shop.example.com/core/mcp.php", true),
        ("http://shop.example.com:81/", false),
        ("http://evil.example.com/", false),
        ("//evil.example.com/", false),
        ("", true),
    ] {
        assert_eq!(from.redirected(to).is_some(), follows, "{to}");
    }
    assert!(address("https://shop.example.com/").redirected("http://shop.example.com/").is_none());
}
