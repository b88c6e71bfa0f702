//! Logins and passwords in a server's address, where some letters mean something else.

use crate::DbError;

/// Refuses letters in a login or password that would be taken for the end of it: the rest would be looked up as a
/// server's name, and fail as one.
pub(super) fn check_login(url: &str) -> Result<(), DbError> {
    let Some((_, rest)) = url.split_once("://") else { return Ok(()) };
    let (start, _) = rest.split_once('?').unwrap_or((rest, ""));
    match start.rsplit_once('@') {
        Some((login, _)) if login.contains('@') => Err(DbError::Letter('@', "%40")),
        Some(_) => Ok(()),
        // No server's name has a colon with something else than a port behind it.
        None if rest.contains('@') && !start.contains('/') && !is_server(start) => {
            Err(DbError::Letter('?', "%3F"))
        }
        None => Ok(()),
    }
}

/// Whether a text without a login can be a server with its port, or several.
fn is_server(text: &str) -> bool {
    text.starts_with('[')
        || text.split(',').all(|one| {
            one.split_once(':').is_none_or(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
        })
}

#[cfg(test)]
mod tests {
    use tokio_postgres::Config;

    use super::check_login;

    #[test]
    fn letters_that_would_end_a_login_are_named_with_their_code() {
        for (url, words) in [
            ("postgres://shop:se@cret@db/shop", "`@` in a login or password is written `%40`"),
            ("postgres://shop:se@cret@db/shop?application_name=x", "written `%40`"),
            ("postgres://shop:se?cret@db/shop", "`?` in a login or password is written `%3F`"),
        ] {
            let error = check_login(url).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains("cret"), "{error}");
        }
    }

    #[test]
    fn what_the_driver_understands_passes() {
        for url in [
            "postgres://db/shop",
            "postgres://db:5432?application_name=a@b",
            "postgres://a:1,b:2?application_name=a@b",
            "postgres://[::1]:5432?application_name=a@b",
            "postgres://db/shop?application_name=a@b",
            "postgres://shop@db/shop",
        ] {
            assert!(check_login(url).is_ok(), "{url}");
            assert!(url.parse::<Config>().is_ok(), "{url}");
        }
        for (password, written) in
            [("a/b#c:d", "a/b#c:d"), ("100%", "100%"), ("se@?", "se%40%3F"), ("%41", "%2541")]
        {
            let url = format!("postgres://shop:{written}@db/shop");
            assert!(check_login(&url).is_ok(), "{url}");
            assert_eq!(url.parse::<Config>().unwrap().get_password(), Some(password.as_bytes()));
        }
    }
}
