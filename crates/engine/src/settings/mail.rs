//! The part `mail` of `config.json`: by which server mails go out, and whom they come from.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{ConfigError, wrong};
use crate::mail::Address;

/// The part as people write it. Without a server mails are laid into `core/mail/`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MailConfig {
    /// Name or address of the SMTP server; empty is none.
    pub server: String,
    /// Its port; absent is the usual one of its security.
    pub port: Option<u16>,
    /// `starttls` (also where nothing is written), `tls` or `none`.
    pub security: String,
    /// Login at the server; empty is none.
    pub login: String,
    /// Password at the server.
    pub password: MailPassword,
    /// Whom mails come from, `Shop <shop@example.com>`.
    pub from: String,
}

/// A password. It does not print.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MailPassword(String);

impl MailPassword {
    /// The password itself.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for MailPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "none" } else { "[secret]" })
    }
}

/// How the line to the server is kept secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Security {
    /// Not at all.
    None,
    /// From the first word after the greeting on; a server that cannot is sent nothing.
    Starttls,
    /// From the begin.
    Tls,
}

/// Whom mails come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sender {
    pub(crate) name: String,
    pub(crate) address: Address,
}

/// A server that takes mails.
#[derive(Clone, Debug)]
pub(crate) struct MailServer {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) security: Security,
    pub(crate) login: Option<(String, MailPassword)>,
    pub(crate) sender: Sender,
}

/// How mails go out.
#[derive(Clone, Debug)]
pub(crate) enum MailRoute {
    /// To this server.
    Server(MailServer),
    /// Into `core/mail/`.
    Folder(Sender),
}

impl MailRoute {
    /// Understands the part; `name` and `url` are the store's.
    pub(super) fn of(config: Option<&MailConfig>, name: &str, url: &str) -> Result<Self, ConfigError> {
        let sender = match config.map(|config| config.from.trim()).filter(|from| !from.is_empty()) {
            Some(from) => Sender::parse(from, name)
                .ok_or_else(|| wrong("mail", "`from` is not of the form `Shop <shop@example.com>`"))?,
            None => Sender::of_store(name, url),
        };
        let Some(config) = config.filter(|config| !config.server.trim().is_empty()) else {
            return Ok(Self::Folder(sender));
        };
        if config.from.trim().is_empty() {
            return Err(wrong("mail", "`from` is missing: whom mails come from"));
        }
        MailServer::of(config, sender).map(Self::Server)
    }

    /// The server, where there is one.
    pub(crate) fn server(&self) -> Option<&MailServer> {
        match self {
            Self::Server(server) => Some(server),
            Self::Folder(_) => None,
        }
    }

    /// Whom mails come from.
    pub(crate) fn sender(&self) -> &Sender {
        match self {
            Self::Server(server) => &server.sender,
            Self::Folder(sender) => sender,
        }
    }
}

impl Sender {
    /// `Shop <shop@example.com>` or the address alone, which then has the store's name.
    fn parse(text: &str, name: &str) -> Option<Self> {
        let (name, address) = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
            Some((name, address)) => (name.trim().trim_matches('"'), address),
            None => (name, text),
        };
        Some(Self { name: name.to_owned(), address: Address::parse(address)? })
    }

    /// For files that nobody sends.
    fn of_store(name: &str, url: &str) -> Self {
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = host.split(['/', ':']).next().unwrap_or_default();
        let address = Address::parse(&format!("shop@{host}")).unwrap_or_else(Address::local);
        Self { name: name.to_owned(), address }
    }
}

impl MailServer {
    fn of(config: &MailConfig, sender: Sender) -> Result<Self, ConfigError> {
        let host = config.server.trim().to_owned();
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:_".contains(&byte);
        if !host.bytes().all(is_host) {
            return Err(wrong("mail", "`server` is not the name of a server, like `smtp.example.com`"));
        }
        let security = match config.security.trim() {
            "" | "starttls" => Security::Starttls,
            "tls" => Security::Tls,
            "none" => Security::None,
            _ => return Err(wrong("mail", "`security` is `starttls`, `tls` or `none`")),
        };
        let is_here =
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let login = (!config.login.is_empty()).then(|| (config.login.clone(), config.password.clone()));
        if login.is_some() && security == Security::None && !is_here {
            return Err(wrong(
                "mail",
                "with `security` `none` the password would go over the net for all to read",
            ));
        }
        let usual = match security {
            Security::Starttls => 587,
            Security::Tls => 465,
            Security::None => 25,
        };
        Ok(Self { host, port: config.port.unwrap_or(usual), security, login, sender })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn route(config: serde_json::Value) -> Result<MailRoute, String> {
        let config: MailConfig = serde_json::from_value(config).map_err(|error| error.to_string())?;
        MailRoute::of(Some(&config), "Flowers", "https://shop.example.com:8420/x")
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_store_without_a_server_keeps_its_mails() {
        let route = MailRoute::of(None, "Flowers", "http://127.0.0.1:8420").unwrap();
        assert!(route.server().is_none());
        assert_eq!(route.sender().address.to_string(), "shop@localhost");
        let route = MailRoute::of(None, "Flowers", "https://shop.example.com:8420/x").unwrap();
        assert_eq!(route.sender().address.to_string(), "shop@shop.example.com");
    }

    #[test]
    fn a_server_has_its_usual_port_and_no_password_goes_in_the_open() {
        let from = "\"Flowers & Co\" <shop@example.com>";
        let made = route(json!({"server": "smtp.example.com", "from": from})).unwrap();
        let server = made.server().unwrap();
        assert_eq!((server.port, server.security), (587, Security::Starttls));
        assert_eq!(server.sender.name, "Flowers & Co");
        for config in [
            json!({"server": "smtp.example.com"}),
            json!({"server": "smtp.example.com", "from": "shop"}),
            json!({"server": "smtp.example.com", "from": from, "security": "ssl"}),
            json!({"server": "smtp example.com", "from": from}),
            json!({"server": "smtp.example.com", "from": from, "security": "none", "login": "a"}),
            json!({"sever": "smtp.example.com"}),
        ] {
            assert!(route(config.clone()).is_err(), "{config}");
        }
        let near = json!({"server": "127.0.0.1", "from": from, "security": "none", "login": "a", "password": "hush"});
        let told = format!("{:?}", route(near).unwrap());
        assert!(told.contains("[secret]") && !told.contains("hush"), "{told}");
    }
}
