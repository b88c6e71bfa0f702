//! `config.json` of a store's root: its form, its reading, what its values mean. See spec: system.md.

pub(crate) mod config_file;
mod doubled_keys;
pub(crate) mod mail;
pub(crate) mod reload;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use jiff::tz::TimeZone;
use licence::PublicKey;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shop::address::AddressList;
use shop::window::BackupWindow;
use wire::Build;

pub use mail::MailConfig;

use mail::MailRoute;

/// The file as people write it. Every key may be missing.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// The store's name, as visitors read it.
    pub name: String,
    /// Address to listen on; a change takes a restart.
    pub listen: String,
    /// The store's public address.
    pub url: String,
    /// `sqlite:core/store.db` or `postgres://…`; a change takes a restart.
    pub database: String,
    /// The store's language.
    pub language: String,
    /// Other languages of its pages.
    pub languages: Vec<String>,
    /// The store's IANA time zone.
    pub time_zone: String,
    /// The store's main currency.
    pub currency: String,
    /// Default group of templates.
    pub template: String,
    /// Addresses, CIDR blocks and masks that people may work from; empty is any.
    pub ip_list: Vec<String>,
    /// Addresses whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<String>,
    /// Begin of the daily backup window, `HH:MM` in the store's zone.
    pub backup_begin: String,
    /// End of the daily backup window.
    pub backup_end: String,
    /// Oldest build of a program that is let in.
    pub program_least: String,
    /// Whether program and engine must be of the same build.
    pub program_exact: bool,
    /// Licence; absent is not licensed.
    pub licence: Option<LicenceConfig>,
    /// Largest request, MiB.
    pub request_limit: u64,
    /// The debugger's code.
    pub debug_code: String,
    /// Whether units and pages are kept.
    pub cache: bool,
    /// Minutes for which a cart holds its goods; 0 holds nothing until the order.
    pub cart_minutes: u32,
    /// Days for which the journal is kept.
    pub journal_days: u32,
    /// Memory that kept units and pages take at most, MiB.
    pub cache_mb: u64,
    /// What the owner lets units know and reach, by the unit's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub grants: BTreeMap<String, Grant>,
    /// By which server mails go out; absent lays them into `core/mail/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mail: Option<MailConfig>,
    /// Values that are never shown again.
    pub secrets: Secrets,
    /// Keys that this build does not know; kept when the file is written.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// What one unit may know and reach.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grant {
    /// Names of secrets.
    pub secrets: Vec<String>,
    /// Hosts it may fetch from.
    pub network: Vec<String>,
}

/// Licence part of the settings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LicenceConfig {
    /// The authority's public key, `k4.public.…`.
    pub public_key: String,
    /// Domain the licence is for, without port.
    pub domain: String,
    /// Address of the authority, for the program.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub authority: String,
}

/// Secret values by name. They do not print.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secrets(BTreeMap<String, String>);

impl Secrets {
    /// Name of the customer's secret with the licence authority.
    pub const LICENCE: &str = "licence";

    /// The secret of this name, where it is set and not blank.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|secret| secret.trim()).filter(|secret| !secret.is_empty())
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            name: String::new(),
            listen: "127.0.0.1:8420".to_owned(),
            url: "http://127.0.0.1:8420".to_owned(),
            database: "sqlite:core/store.db".to_owned(),
            language: "en".to_owned(),
            languages: Vec::new(),
            time_zone: "UTC".to_owned(),
            currency: "EUR".to_owned(),
            template: "default".to_owned(),
            ip_list: Vec::new(),
            trusted_proxies: Vec::new(),
            backup_begin: String::new(),
            backup_end: String::new(),
            program_least: String::new(),
            program_exact: false,
            licence: None,
            request_limit: 64,
            debug_code: String::new(),
            cache: true,
            cart_minutes: 0,
            journal_days: 180,
            cache_mb: 64,
            grants: BTreeMap::new(),
            mail: None,
            secrets: Secrets::default(),
            unknown: Map::new(),
        }
    }
}

/// In place of what is secret.
const HIDDEN: &str = "<hidden>";

impl Config {
    /// The settings as agents see them: nothing in them opens anything.
    pub(crate) fn shown(&self) -> serde_json::Value {
        let mut shown = serde_json::to_value(self).unwrap_or_default();
        hide(&mut shown, "");
        if !self.database.starts_with("sqlite:") {
            // Its address may hold a login and a password, in whatever spelling.
            shown["database"] = "postgres://…".into();
        }
        shown
    }
}

/// Hides values by the names of their keys, and all below `secrets`; names of secrets stay.
fn hide(value: &mut serde_json::Value, key: &str) {
    let lower = key.to_lowercase();
    let is_secret = ["password", "secret", "token", "debug_code", "private"];
    match value {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                hide(field, if lower == "secrets" { "secret" } else { name });
            }
        }
        serde_json::Value::String(text)
            if !text.is_empty() && is_secret.iter().any(|word| lower.contains(word)) =>
        {
            *text = HIDDEN.to_owned();
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| {
            hide(item, if lower == "secrets" { "" } else { key });
        }),
        _ => {}
    }
}

/// Why the settings cannot be used. Secrets are never quoted.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    Write(#[source] std::io::Error),
    /// The file is not JSON of the right form.
    #[error("is not of the right form at line {line}, column {column}: {what}")]
    Form {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong, without the value.
        what: &'static str,
    },
    /// A key stands twice in one object.
    #[error("has the key `{key}` twice, again at line {line}: take one of them out")]
    Doubled {
        /// The key.
        key: String,
        /// Line of the second one, from 1.
        line: usize,
    },
    /// A value means nothing.
    #[error("key `{key}`: {why}")]
    Value {
        /// The key.
        key: &'static str,
        /// What is wrong.
        why: String,
    },
}

impl Config {
    /// Reads the text of a file. A byte-order mark is let through.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let text = text.trim_start_matches('\u{feff}');
        doubled_keys::refuse(text)?;
        serde_json::from_str(text).map_err(|error| ConfigError::Form {
            line: error.line(),
            column: error.column(),
            what: match error.classify() {
                serde_json::error::Category::Data => "a value is of the wrong kind",
                serde_json::error::Category::Eof => "the file ends too early",
                _ => "not JSON",
            },
        })
    }
}

/// The settings as the engine uses them: every value read and understood.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The file.
    pub config: Config,
    /// Where to listen.
    pub listen: SocketAddr,
    /// The store's time zone.
    pub time_zone: TimeZone,
    /// Who may come; empty is anybody.
    pub ip_list: AddressList,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: AddressList,
    /// The daily backup window.
    pub backup: Option<BackupWindow>,
    /// Oldest program that is let in.
    pub program_least: Option<Build>,
    /// Licence.
    pub licence: Option<Licence>,
    /// How mails go out.
    pub(crate) mail: MailRoute,
}

/// The licence as the engine uses it.
#[derive(Clone, Debug)]
pub struct Licence {
    /// The authority's key.
    pub key: PublicKey,
    /// Domain the licence is for.
    pub domain: String,
}

fn wrong(key: &'static str, why: impl std::fmt::Display) -> ConfigError {
    ConfigError::Value { key, why: why.to_string() }
}

impl Settings {
    /// Reads and understands the file.
    pub fn read(root: &Path) -> Result<Self, ConfigError> {
        Self::of(Config::parse(&std::fs::read_to_string(root.join(wire::paths::CONFIG))?)?)
    }

    /// Understands a file that was read.
    pub fn of(config: Config) -> Result<Self, ConfigError> {
        if config.request_limit == 0 || config.request_limit > 4096 {
            return Err(wrong("request_limit", "wanted 1 to 4096 (MiB)"));
        }
        if config.journal_days == 0 || config.journal_days > 36_500 {
            return Err(wrong("journal_days", "wanted 1 to 36500 days"));
        }
        if config.cache_mb == 0 || config.cache_mb > 65_536 {
            return Err(wrong("cache_mb", "wanted 1 to 65536 (MiB); `cache`: false turns the cache off"));
        }
        Ok(Self {
            listen: config
                .listen
                .trim()
                .parse()
                .map_err(|_| wrong("listen", "wanted an address like `127.0.0.1:8420`"))?,
            time_zone: time_zone(&config.time_zone)?,
            ip_list: AddressList::parse(&config.ip_list).map_err(|error| wrong("ip_list", error))?,
            trusted_proxies: AddressList::parse(&config.trusted_proxies)
                .map_err(|error| wrong("trusted_proxies", error))?,
            backup: BackupWindow::parse(&config.backup_begin, &config.backup_end)
                .map_err(|error| wrong("backup_begin", error))?,
            program_least: program_least(&config.program_least)?,
            licence: config.licence.as_ref().map(Licence::of).transpose()?.flatten(),
            mail: MailRoute::of(config.mail.as_ref(), &config.name, &config.url)?,
            config,
        })
    }

    /// Largest request in bytes.
    pub fn request_limit(&self) -> usize {
        usize::try_from(self.config.request_limit.saturating_mul(1024 * 1024)).unwrap_or(usize::MAX)
    }
}

fn time_zone(name: &str) -> Result<TimeZone, ConfigError> {
    TimeZone::get(name.trim()).map_err(|_| wrong("time_zone", "not a time zone like `Europe/Berlin`"))
}

fn program_least(build: &str) -> Result<Option<Build>, ConfigError> {
    match build.trim() {
        "" => Ok(None),
        build => {
            Build::parse(build).map(Some).ok_or_else(|| wrong("program_least", "not a build like `0.1.0`"))
        }
    }
}

impl Licence {
    /// `None` for a part whose values are all blank.
    fn of(config: &LicenceConfig) -> Result<Option<Self>, ConfigError> {
        match (config.public_key.trim(), config.domain.trim()) {
            ("", "") => Ok(None),
            (_, "") => Err(wrong("licence", "`domain` is missing")),
            (key, domain) => {
                let key = key.parse().map_err(|error| wrong("licence", format!("`public_key`: {error}")))?;
                Ok(Some(Self { key, domain: domain.to_owned() }))
            }
        }
    }
}

#[cfg(test)]
mod tests;
