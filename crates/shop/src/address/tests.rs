//! Tests of address lists.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::{AddressList, AddressRule, client_address};

fn covers(rule: &str, address: &str) -> bool {
    AddressList::parse(&[rule]).unwrap().contains(address.parse().unwrap())
}

#[test]
fn a_mask_covers_its_ranges_and_nothing_else() {
    assert!(covers("192.168.0-127.*", "192.168.0.0"));
    assert!(covers("192.168.0-127.*", "192.168.127.255"));
    assert!(!covers("192.168.0-127.*", "192.168.128.1"));
    assert!(!covers("192.168.0-127.*", "192.169.1.1"));
    assert!(covers("10.*", "10.200.3.4"));
    assert!(!covers("10.*", "11.0.0.1"));
    assert!(covers("*", "8.8.8.8"));
}

#[test]
fn blocks_and_single_addresses_of_both_families() {
    assert!(covers("10.0.0.0/8", "10.255.0.1"));
    assert!(!covers("10.0.0.0/8", "11.0.0.1"));
    assert!(covers("127.0.0.1", "127.0.0.1"));
    assert!(!covers("127.0.0.1", "127.0.0.2"));
    assert!(covers("2001:db8::/32", "2001:db8:ffff::1"));
    assert!(!covers("2001:db8::/32", "2001:db9::1"));
    assert!(covers("::1", "::1"));
    assert!(covers("2001:db8:0-ff:*", "2001:db8:80::9"));
    assert!(!covers("2001:db8:0-ff:*", "2001:db8:100::9"));
}

#[test]
fn ipv4_inside_ipv6_is_ipv4() {
    assert!(covers("10.0.0.1", "::ffff:10.0.0.1"));
    assert!(covers("::ffff:10.0.0.1", "10.0.0.1"));
    assert!(covers("::ffff:10.0.0.0/104", "10.9.9.9"));
    assert!(covers("10.0.0.*", "::ffff:10.0.0.77"));
}

#[test]
fn what_is_no_rule_is_refused_by_name() {
    for wrong in [
        "10.0.0",
        "256.0.0.1",
        "10.0.0.5-1",
        "10.0.0.0/33",
        "a.b.c.d",
        "10.0.0.010",
        "1.2.3.4.*",
        "10-",
        "::*",
        "1:2:3",
    ] {
        let error = AddressList::parse(&[wrong]).unwrap_err().to_string();
        assert!(error.contains(&format!("`{wrong}`")), "{error}");
    }
}

#[test]
fn blank_entries_are_wrong() {
    assert!(AddressList::parse(&["", "  "]).is_err());
    assert!(!AddressList::default().contains(IpAddr::from([127, 0, 0, 1])));
}

#[test]
fn only_a_trusted_proxy_names_the_client() {
    let trusted = AddressList::parse(&["127.0.0.1", "10.0.0.0/8"]).unwrap();
    let ask = |peer: &str, forwarded: &[&str]| {
        client_address(peer.parse().unwrap(), forwarded, &trusted).to_string()
    };
    assert_eq!(ask("203.0.113.9", &["192.0.2.1"]), "203.0.113.9", "a stranger's word does not count");
    assert_eq!(ask("127.0.0.1", &["192.0.2.1"]), "192.0.2.1");
    assert_eq!(
        ask("127.0.0.1", &["6.6.6.6, 192.0.2.1, 10.1.1.1"]),
        "192.0.2.1",
        "the client wrote 6.6.6.6 itself"
    );
    assert_eq!(ask("127.0.0.1", &["192.0.2.1", "10.1.1.1"]), "192.0.2.1", "the header may come twice");
    assert_eq!(ask("127.0.0.1", &["192.0.2.1:4711"]), "192.0.2.1");
    assert_eq!(ask("127.0.0.1", &["[2001:db8::5]:4711"]), "2001:db8::5");
    assert_eq!(ask("127.0.0.1", &["nonsense"]), "::", "what cannot be read is not the proxy");
    assert_eq!(ask("127.0.0.1", &["\u{fffd}, 203.0.113.9"]), "203.0.113.9");
    assert_eq!(ask("127.0.0.1", &["192.0.2.1, unknown, 10.1.1.1"]), "::");
    assert_eq!(ask("127.0.0.1", &["192.0.2.1, ", ""]), "192.0.2.1", "a blank says nothing");
    assert_eq!(ask("127.0.0.1", &[]), "127.0.0.1");
}

proptest! {
    #[test]
    fn reading_a_rule_never_fails_badly(text in ".{0,60}") {
        let _ = text.parse::<AddressRule>();
    }

    #[test]
    fn every_address_covers_itself_alone(a: [u8; 4], b: [u8; 4]) {
        let rule: AddressRule = Ipv4Addr::from(a).to_string().parse().unwrap();
        prop_assert!(rule.covers(IpAddr::from(a)));
        prop_assert_eq!(rule.covers(IpAddr::from(b)), a == b);
    }

    #[test]
    fn a_mask_is_the_product_of_its_ranges(ends: [(u8, u8); 4], address: [u8; 4]) {
        let ranges = ends.map(|(a, b)| (a.min(b), a.max(b)));
        let text: Vec<String> = ranges.iter().map(|(first, last)| format!("{first}-{last}")).collect();
        let rule: AddressRule = text.join(".").parse().unwrap();
        let inside = ranges.iter().zip(address).all(|((first, last), part)| (*first..=*last).contains(&part));
        prop_assert_eq!(rule.covers(IpAddr::from(address)), inside);
    }

    #[test]
    fn a_rule_reads_back_as_it_is_written(ends: [(u16, u16); 8], v4: [(u8, u8); 4], block: ([u8; 16], u8)) {
        let groups: Vec<String> = ends.iter().map(|(a, b)| format!("{:x}-{:x}", a.min(b), a.max(b))).collect();
        let parts: Vec<String> = v4.iter().map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))).collect();
        let network = format!("{}/{}", Ipv6Addr::from(block.0), block.1 % 129);
        for text in [groups.join(":"), parts.join("."), network] {
            let rule: AddressRule = text.parse().unwrap();
            prop_assert_eq!(rule.to_string().parse::<AddressRule>().unwrap(), rule);
        }
    }

    #[test]
    fn an_untrusted_peer_is_the_client_whatever_it_writes(peer: [u8; 4], forwarded in ".{0,40}") {
        let trusted = AddressList::parse(&["10.0.0.0/8"]).unwrap();
        prop_assume!(peer[0] != 10);
        prop_assert_eq!(client_address(peer.into(), &[&forwarded], &trusted), IpAddr::from(peer));
    }
}
