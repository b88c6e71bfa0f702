//! Which servers a unit may ask: those that its manifest names and the owner granted, and of them only public addresses.
//!
//! An address of the house, a number with a port, is asked where the owner's
//! `config.json` names exactly it; a name never leads into the house.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use sandbox::HostError;

use super::failed;

/// What a unit may ask.
pub(super) struct Granted<'a> {
    pub(super) unit: &'a str,
    /// Hosts that the manifest names.
    pub(super) manifest: &'a [String],
    /// Hosts that the owner granted in `config.json`.
    pub(super) owner: &'a [String],
}

/// A server that may be asked, once its addresses are known.
pub(super) struct Target {
    /// Name or number, as the connection knows it.
    pub(super) host: String,
    port: u16,
    /// Without TLS, to a number that the owner named.
    pub(super) is_plain: bool,
    /// The owner named this very number and port.
    address: Option<IpAddr>,
}

impl Target {
    /// The server of an address, if it may be asked.
    pub(super) fn of(url: &Url, granted: &Granted<'_>) -> Result<Self, HostError> {
        let host = url.host_str().unwrap_or_default().to_owned();
        if host.is_empty() || !matches!(url.scheme(), "http" | "https") {
            return Err(failed("addresses begin with https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(failed("a login is no part of an address; it is a header"));
        }
        let port = url.port_or_known_default().unwrap_or(443);
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let address: Option<IpAddr> = bare.parse().ok();
        // A name alone is the usual port of https; a number is named with its port.
        let mut names = vec![format!("{host}:{port}")];
        if address.is_none() && port == 443 {
            names.push(host.clone());
        }
        let is_named = |list: &[String]| {
            list.iter().any(|one| names.iter().any(|name| name.eq_ignore_ascii_case(one.trim())))
        };
        if !is_named(granted.manifest) || !is_named(granted.owner) {
            let unit = granted.unit;
            let words = format!(
                "{unit} may not ask {}: its manifest names it in `network`, and the owner in config.json, \
                 grants.{unit}.network",
                wire::text::quoted(names.last().map_or("", String::as_str), 80)
            );
            return Err(HostError::new("NOT_GRANTED", words));
        }
        let is_plain = url.scheme() == "http";
        if is_plain && address.is_none() {
            return Err(failed("names are asked by https"));
        }
        Ok(Self { host: bare, port, is_plain, address })
    }

    /// Where the server is. One address inside the house is enough to refuse the name.
    pub(super) async fn addresses(&self) -> Result<Vec<SocketAddr>, HostError> {
        if let Some(address) = self.address {
            return Ok(vec![SocketAddr::new(address, self.port)]);
        }
        let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await;
        let found: Vec<SocketAddr> = found.map(Iterator::collect).unwrap_or_default();
        public(&self.host, found)
    }
}

/// The addresses of a name, if there are some and all are public.
fn public(host: &str, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, HostError> {
    if found.is_empty() {
        return Err(failed(&format!("{host}: there is no such server")));
    }
    if found.iter().any(|address| !is_public(address.ip())) {
        return Err(failed(&format!("{host}: its address is no public one")));
    }
    Ok(found)
}

/// Whether an address is one of the net that everybody reaches.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_kept = matches!(
        (a, b, c),
        (0, ..) | (100, 64..=127, _) | (192, 0, 0 | 2) | (192, 88, 99) | (198, 18 | 19, _) | (240.., ..)
    );
    !is_kept
        && !address.is_private()
        && !address.is_loopback()
        && !address.is_link_local()
        && !address.is_multicast()
        && !address.is_broadcast()
        && !address.is_documentation()
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // IPv4 in other clothes: mapped, translated, 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => embedded(high, low),
        // Teredo and its kin, and what is for books.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // Everything else that is given to somebody.
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, manifest: &[&str], owner: &[&str]) -> Result<Target, HostError> {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (manifest, owner) = (list(manifest), list(owner));
        Target::of(&Url::parse(url).unwrap(), &Granted { unit: "pay", manifest: &manifest, owner: &owner })
    }

    #[test]
    fn manifest_and_owner_both_name_the_server() {
        let api = ["api.example.com"];
        assert!(of("https://api.example.com/v1?x=1", &api, &api).is_ok());
        assert!(of("https://API.example.com:443/", &api, &["api.example.com:443"]).is_ok());
        for (url, manifest, owner) in [
            ("https://api.example.com/", &api[..], &[][..]),
            ("https://api.example.com/", &[], &api),
            ("https://api.example.com:8443/", &api, &api),
            ("https://api.example.com.evil.test/", &api, &api),
            ("https://example.com/", &api, &api),
            ("https://api.example.com@evil.test/", &api, &api),
            ("https://evil.test/?api.example.com", &api, &api),
            ("https://93.184.216.34/", &["93.184.216.34"], &["93.184.216.34"]),
        ] {
            let error = of(url, manifest, owner).err().unwrap();
            assert!(["NOT_GRANTED", "FETCH"].contains(&error.code.as_str()), "{url}");
        }
        for url in ["http://api.example.com:443/", "ftp://api.example.com/", "https://a:b@api.example.com/"] {
            assert_eq!(of(url, &api, &api).err().unwrap().code, "FETCH", "{url}");
        }
    }

    #[test]
    fn an_address_of_the_house_is_asked_where_the_owner_names_it() {
        let here = ["127.0.0.1:9000", "[::1]:9000"];
        for url in
            ["http://127.0.0.1:9000/", "http://0x7f.1:9000/", "http://2130706433:9000/", "http://[::1]:9000/"]
        {
            assert!(of(url, &here, &here).is_ok(), "{url}");
        }
        for url in [
            "http://127.0.0.1:9001/",
            "http://127.0.0.1/",
            "http://localhost:9000/",
            "http://[::ffff:127.0.0.1]:9000/",
        ] {
            assert!(of(url, &here, &here).is_err(), "{url}");
        }
    }

    #[tokio::test]
    async fn a_name_never_leads_into_the_house() {
        let name = ["localhost:9000", "localhost"];
        let target = of("https://localhost:9000/", &name, &name).unwrap();
        let error = target.addresses().await.unwrap_err();
        assert!(error.text.contains("no public one"), "{}", error.text);
        // One of several is enough: the next question could get that one.
        let found = ["93.184.216.34:443", "10.0.0.1:443"].map(|address| address.parse().unwrap());
        assert!(public("x", found.to_vec()).is_err());
        assert!(public("x", found[..1].to_vec()).is_ok());
        assert!(public("x", Vec::new()).is_err());
    }

    #[test]
    fn only_addresses_that_everybody_reaches_are_public() {
        for address in
            ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "2002:808:808::1", "64:ff9b::808:808"]
        {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::1",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
