//! Who calls, and which host they asked, behind proxies that are trusted.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::HOST;
use axum::http::{HeaderMap, Uri};
use shop::address::client_address;

use crate::settings::Settings;

/// What proxies add to a request.
const FORWARDING: [&str; 6] =
    ["x-forwarded-for", "forwarded", "via", "x-real-ip", "x-forwarded-host", "x-forwarded-proto"];

/// Whether a proxy says that it stands between.
pub(crate) fn was_forwarded(headers: &HeaderMap) -> bool {
    FORWARDING.iter().any(|name| headers.contains_key(*name))
}

/// The caller's address.
pub(crate) fn client(settings: &Settings, peer: SocketAddr, headers: &HeaderMap) -> IpAddr {
    // A value that is no text still has the proxy's own word at its end.
    let forwarded = headers.get_all("x-forwarded-for").iter();
    let forwarded: Vec<_> = forwarded.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    client_address(peer.ip(), &forwarded, &settings.trusted_proxies)
}

/// The host the caller asked, as it wrote it.
pub(crate) fn host(settings: &Settings, peer: SocketAddr, headers: &HeaderMap, uri: &Uri) -> String {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let forwarded =
        if settings.trusted_proxies.contains(peer.ip()) { text("x-forwarded-host") } else { None };
    let host = forwarded
        .or_else(|| uri.authority().map(|authority| authority.as_str()))
        .or_else(|| text(HOST.as_str()));
    host.unwrap_or_default().to_owned()
}
