//! Where a store's engine answers.

use std::net::IpAddr;

use reqwest::Url;

/// Where a store's engine answers.
#[derive(Clone, Debug)]
pub(crate) struct Address(pub(super) Url);

impl Address {
    /// The address below which the engine answers, from a store's connection.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| format!("`Url` is not an address: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err("`Url` must begin with http:// or https://".to_owned());
        }
        Ok(Self(url))
    }

    /// The same store's other path.
    pub(crate) fn path(&self, path: &str) -> Self {
        let mut url = self.0.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.set_path(&format!("{}/{path}", self.0.path().trim_end_matches('/')));
        Self(url)
    }

    /// The address as it was read.
    pub(crate) fn url(&self) -> String {
        self.0.to_string()
    }

    /// As refusals show it: no name, password or query.
    pub(crate) fn shown(&self) -> String {
        let mut url = self.0.clone();
        // Only addresses without a host have no place for these.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        wire::text::quoted(url.as_str().trim_end_matches('/'), 300)
    }

    pub(super) fn is_secure(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Whether nothing leaves this computer on the way there.
    pub(super) fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default().trim_matches(['[', ']']);
        match host.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => {
                address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
            }
            Ok(IpAddr::V4(address)) => address.is_loopback(),
            Err(_) => host == "localhost" || host.ends_with(".localhost"),
        }
    }

    /// The proxy on the way there, and the variable that names it.
    pub(super) fn proxy(&self) -> Option<String> {
        let over_it = self.is_secure() && !self.is_loopback();
        wire::outgoing::proxy_to(self.0.host_str().filter(|_| over_it)?)
    }

    /// Where a redirect leads, if it may be followed: the same host, and never from https to http.
    pub(super) fn redirected(&self, to: &str) -> Option<Self> {
        let next = self.0.join(to).ok()?;
        let same_host = next.host_str() == self.0.host_str();
        let same_place = same_host && next.scheme() == self.0.scheme() && next.port() == self.0.port();
        let secured = same_host && !self.is_secure() && next.scheme() == "https";
        (same_place || secured).then_some(Self(next))
    }
}

#[cfg(test)]
mod tests;
