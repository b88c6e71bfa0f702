//! Sites of payment providers, to which the pages that lead there may send their forms on.

use std::collections::BTreeSet;

use db::{DbError, Tx, places};

use super::{provider, settings};

/// Longest name of a site.
const LONGEST: usize = 200;

/// Sites of the ways to pay that are offered now, in order.
pub(crate) fn offered(tx: &mut Tx) -> Result<Vec<String>, DbError> {
    let mut sites = BTreeSet::new();
    for (key, text) in places::providers(tx)? {
        let site = provider(&key).and_then(|provider| provider.site(&settings(&text)));
        sites.extend(site.and_then(|site| of(&site)));
    }
    Ok(sites.into_iter().collect())
}

/// The site of an address, as a policy names it: scheme, host and port, by TLS. What is none is left out, so that
/// nothing that somebody wrote into settings widens the policy.
pub(crate) fn of(address: &str) -> Option<String> {
    let (scheme, rest) = address.trim().split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | ':');
    let is_host = host.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    let is_site = scheme.eq_ignore_ascii_case("https")
        && is_host
        && host.len() <= LONGEST
        && host.chars().all(is_plain);
    is_site.then(|| format!("https://{host}"))
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_site_is_a_host_behind_tls_and_nothing_else() {
        assert_eq!(of(" https://Pay.Example.com/checkout?x=1").as_deref(), Some("https://pay.example.com"));
        assert_eq!(of("https://pay.example.com:8443").as_deref(), Some("https://pay.example.com:8443"));
        for bad in [
            "",
            "https:",
            "https://*",
            "https://*.example.com",
            "http://pay.example.com",
            "javascript://x",
            "https://a b",
            "https://a; script-src *",
            "https://a'b",
            "https://user@host",
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
