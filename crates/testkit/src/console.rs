//! A browser of few words: the cookie of the start, forms with their word.

use anyhow::{Context, Result, ensure};

use crate::http::{Response, send};

/// The console as a person's browser holds it.
pub struct Console {
    origin: String,
    cookie: String,
    form: String,
}

impl Console {
    /// Opens the address that the program tells at its start.
    pub fn open(url: &str) -> Result<Self> {
        let path = url.strip_prefix("http://").and_then(|rest| rest.find('/')).context("no path")?;
        let origin = url[.."http://".len() + path].to_owned();
        let start = send("GET", url, &[], b"")?;
        let cookie = start.header("set-cookie").into_iter().next().context("no cookie at the start")?;
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        let mut console = Self { origin, cookie, form: String::new() };
        let page = console.get("/stores")?;
        ensure!(page.status == 200, "the list of stores answers {}: {}", page.status, page.text());
        let text = page.text();
        let (_, after) = text.split_once("name=\"csrf\" value=\"").context("no form with its word")?;
        after.split('"').next().unwrap_or_default().clone_into(&mut console.form);
        Ok(console)
    }

    /// GET of a page.
    pub fn get(&self, path: &str) -> Result<Response> {
        send("GET", &format!("{}{path}", self.origin), &[("cookie", &self.cookie)], b"")
    }

    /// Sends a form.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Result<Response> {
        let mut body = format!("csrf={}", encoded(&self.form));
        for (name, value) in fields {
            body.push_str(&format!("&{name}={}", encoded(value)));
        }
        let headers = [
            ("cookie", self.cookie.as_str()),
            ("origin", self.origin.as_str()),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        send("POST", &format!("{}{path}", self.origin), &headers, body.as_bytes())
    }

    /// Signs in; `keep` saves the password.
    pub fn sign_in(&self, login: &str, password: &str, keep: bool) -> Result<Response> {
        let mut fields = vec![("login", login), ("password", password)];
        if keep {
            fields.push(("keep", "1"));
        }
        let answer = self.post("/sign-in", &fields)?;
        ensure!(
            (300..400).contains(&answer.status),
            "signing in answers {}: {}",
            answer.status,
            answer.text()
        );
        Ok(answer)
    }
}

fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
