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

    /// A page as an agent names it: from the store's root, or whole. `None` where it is none of the store's pages.
    pub(crate) fn page(&self, text: &str) -> Option<Self> {
        let text = text.trim();
        if text.contains(|letter: char| letter == '\\' || letter.is_control()) || text.starts_with("//") {
            return None;
        }
        let is_whole = text.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(['/', '?', '#']));
        let whole = match is_whole {
            true => text.to_owned(),
            false => {
                let root = self.path("");
                format!("{}/{}", root.0.as_str().trim_end_matches('/'), text.trim_start_matches('/'))
            }
        };
        self.own_page(Url::parse(&whole).ok()?, false)
    }

    /// Where a redirect on a page of the store leads; `None` where that is no page of it.
    pub(super) fn within(&self, page: &Self, to: &str) -> Option<Self> {
        self.own_page(page.0.join(to).ok()?, true)
    }

    /// A page below the store's address. The engine's own addresses are no pages, but for its single units.
    fn own_page(&self, mut url: Url, may_be_secured: bool) -> Option<Self> {
        let same_host = url.host_str() == self.0.host_str();
        let same_port = url.port_or_known_default() == self.0.port_or_known_default();
        let same_place = same_host && url.scheme() == self.0.scheme() && same_port;
        let secured = may_be_secured && same_host && !self.is_secure() && url.scheme() == "https";
        let root = self.0.path().trim_end_matches('/');
        let path = url.path().strip_prefix(root)?;
        // However it is written: servers decode before they look.
        let folded = crate::site::names::decoded(path).to_lowercase();
        let mut parts = folded.split('/').filter(|part| !part.is_empty());
        let is_own = parts.next() == Some("core") && parts.next() != Some("unit");
        let leaves = folded.split(['/', '\\']).any(|part| part == "..");
        let has_login = !url.username().is_empty() || url.password().is_some();
        let is_below = path.is_empty() || path.starts_with('/');
        let has_other_login =
            has_login && (url.username(), url.password()) != (self.0.username(), self.0.password());
        if !(same_place || secured) || !is_below || is_own || leaves || has_other_login {
            return None;
        }
        url.set_username(self.0.username()).ok()?;
        url.set_password(self.0.password()).ok()?;
        url.set_fragment(None);
        Some(Self(url))
    }

    /// The page's path and query, below the store's address.
    pub(crate) fn place(&self, page: &Self) -> String {
        let root = self.0.path().trim_end_matches('/');
        let path = page.0.path().strip_prefix(root).unwrap_or_else(|| page.0.path());
        page.0.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"))
    }

    /// A page's address as answers show it: whole, without login.
    pub(crate) fn page_shown(&self) -> String {
        let mut url = self.0.clone();
        // Only addresses without a host have no place for these.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        wire::text::quoted(url.as_str(), 2000)
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
