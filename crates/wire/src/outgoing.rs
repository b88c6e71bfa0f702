//! What the environment says about connections that go out: proxies and certificates, in words for errors.

use crate::text::quoted;

/// Variables that name a proxy for https, in the order in which they are asked.
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// The proxy on the way to this host over https, without its login, and the variable that names it.
pub fn proxy_to(host: &str) -> Option<String> {
    proxy(host, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}

fn proxy(host: &str, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let exempt = variable("NO_PROXY").or_else(|| variable("no_proxy"));
    if exempt.is_some_and(|list| list.split(',').any(|entry| is_exempt(host, entry.trim()))) {
        return None;
    }
    let (name, value) = PROXIES.into_iter().find_map(|name| Some((name, variable(name)?)))?;
    let place = value.rsplit('@').next().unwrap_or_default();
    let place = place.split_once("://").map_or(place, |(_, rest)| rest).trim_end_matches('/');
    Some(format!("{} ({name})", quoted(place, 100)))
}

/// An entry stands for a host and for all below it.
fn is_exempt(host: &str, entry: &str) -> bool {
    let entry = entry.trim_start_matches('.').to_ascii_lowercase();
    let host = host.to_ascii_lowercase();
    entry == "*"
        || !entry.is_empty()
            && host.strip_suffix(&entry).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Why secure connections do not work, with the certificates that a person named, if any.
pub fn not_secured(why: &str) -> String {
    let named = ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().find_map(|name| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        Some((name, value))
    });
    match named {
        Some((name, value)) => format!(
            "the certificates that {name} names (`{}`) cannot be used: {why}",
            quoted(&value.to_string_lossy(), 300)
        ),
        None => format!("secure connections do not work on this computer ({why})"),
    }
}

#[cfg(test)]
mod tests {
    use super::proxy;

    #[test]
    fn a_proxy_is_named_with_its_variable_and_without_its_login() {
        let one = |name: &'static str, value: &'static str| {
            move |asked: &str| (asked == name).then(|| value.to_owned())
        };
        let said = proxy("shop.example.com", &one("HTTPS_PROXY", "http://somebody:secret@10.0.0.1:3128/"));
        assert_eq!(said.as_deref(), Some("10.0.0.1:3128 (HTTPS_PROXY)"));
        let said = proxy("shop.example.com", &one("all_proxy", "10.0.0.1:3128"));
        assert_eq!(said.as_deref(), Some("10.0.0.1:3128 (all_proxy)"));
        assert_eq!(proxy("shop.example.com", &one("HTTP_PROXY", "http://10.0.0.1:3128")), None);
    }

    #[test]
    fn exempt_hosts_have_no_proxy() {
        let with = |exempt: &'static str| {
            move |asked: &str| match asked {
                "HTTPS_PROXY" => Some("http://10.0.0.1:3128".to_owned()),
                "NO_PROXY" => Some(exempt.to_owned()),
                _ => None,
            }
        };
        for exempt in ["*", "example.com", "x, .example.com", "SHOP.example.com"] {
            assert_eq!(proxy("shop.example.com", &with(exempt)), None, "{exempt}");
        }
        for exempt in ["hop.example.com", "example.org", "", ","] {
            assert!(proxy("shop.example.com", &with(exempt)).is_some(), "{exempt}");
        }
    }
}
