//! Cookies of the store's site, kept in this process only. A site cannot fill it: there are limits to all of it.

use jiff::Timestamp;
use reqwest::header::HeaderValue;

/// Most cookies of one visitor.
const MOST: usize = 50;
/// Longest name and value together, in bytes.
const LONGEST: usize = 4096;
/// Longest header of cookies, in bytes.
const HEADER: usize = 16 * 1024;

/// Cookies of one visitor of one store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cookies(Vec<Cookie>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    path: String,
}

impl Cookies {
    /// Takes what a page sets. What is malformed or too much is left out.
    pub(crate) fn take<'a>(&mut self, set: impl Iterator<Item = &'a HeaderValue>, page: &str) {
        for header in set.take(4 * MOST) {
            let Some((cookie, is_removed)) = header.to_str().ok().and_then(|text| read(text, page)) else {
                continue;
            };
            self.0.retain(|old| (&old.name, &old.path) != (&cookie.name, &cookie.path));
            if !is_removed && self.0.len() < MOST {
                self.0.push(cookie);
            }
        }
    }

    /// The header that this page gets; none where there are no cookies for it.
    pub(crate) fn header(&self, page: &str) -> Option<String> {
        let mut header = String::new();
        for cookie in self.0.iter().filter(|cookie| covers(&cookie.path, page)) {
            let pair = format!("{}={}", cookie.name, cookie.value);
            if header.len() + pair.len() + 2 > HEADER {
                break;
            }
            if !header.is_empty() {
                header.push_str("; ");
            }
            header.push_str(&pair);
        }
        (!header.is_empty()).then_some(header)
    }
}

/// A cookie, and whether it is taken back.
fn read(text: &str, page: &str) -> Option<(Cookie, bool)> {
    let mut parts = text.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || name.len() + value.len() > LONGEST {
        return None;
    }
    // Without a path of its own it is for what lies beside the page.
    let beside = page.rfind('/').map_or("/", |at| if at == 0 { "/" } else { &page[..at] });
    let mut cookie = Cookie { name: name.to_owned(), value: value.to_owned(), path: beside.to_owned() };
    let (mut age, mut expires) = (None, None);
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "path" if value.starts_with('/') && value.len() <= LONGEST => value.clone_into(&mut cookie.path),
            "max-age" => age = value.parse::<i64>().ok(),
            "expires" => expires = jiff::fmt::rfc2822::parse(value).ok().map(|date| date.timestamp()),
            _ => {}
        }
    }
    let is_over = age.map_or_else(|| expires.is_some_and(|time| time <= Timestamp::now()), |age| age <= 0);
    Some((cookie, is_over))
}

fn covers(path: &str, page: &str) -> bool {
    let rest = page.strip_prefix(path.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cookies: &mut Cookies, lines: &[&str], page: &str) {
        let values: Vec<HeaderValue> =
            lines.iter().map(|line| HeaderValue::from_str(line).unwrap()).collect();
        cookies.take(values.iter(), page);
    }

    #[test]
    fn cookies_are_kept_replaced_and_taken_back() {
        let mut cookies = Cookies::default();
        set(&mut cookies, &["cart=1; Path=/; HttpOnly", "b=2; path=/basket", "c=3"], "/shop/x");
        assert_eq!(cookies.header("/").as_deref(), Some("cart=1"));
        assert_eq!(cookies.header("/basket/a").as_deref(), Some("cart=1; b=2"));
        assert_eq!(cookies.header("/basketful").as_deref(), Some("cart=1"));
        assert_eq!(cookies.header("/shop/y").as_deref(), Some("cart=1; c=3"));
        set(&mut cookies, &["cart=9; Path=/"], "/");
        assert_eq!(cookies.header("/").as_deref(), Some("cart=9"));
        set(
            &mut cookies,
            &["cart=; Path=/; Max-Age=0", "b=; path=/basket; expires=Thu, 01 Jan 1970 00:00:00 GMT"],
            "/",
        );
        assert_eq!(cookies.header("/basket"), None);
    }

    #[test]
    fn a_site_cannot_fill_the_memory_with_cookies() {
        let mut cookies = Cookies::default();
        for round in 0..1000 {
            set(
                &mut cookies,
                &[&format!("c{round}={}", "x".repeat(4000)), &format!("long={}", "y".repeat(5000))],
                "/",
            );
        }
        assert_eq!(cookies.0.len(), MOST);
        assert!(cookies.header("/").unwrap().len() <= HEADER);
        for odd in ["", "=", "=x", "novalue", ";;;"] {
            assert!(read(odd, "/").is_none(), "{odd}");
        }
    }
}
