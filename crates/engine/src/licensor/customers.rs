//! The authority's customers: a list that people may edit.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use licence::same_domain;
use serde::{Deserialize, Serialize};

use super::LicensorError;
use crate::gate::tickets::new_ticket;
use crate::new_file::private_new;

/// One customer.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Customer {
    /// Name, for people.
    pub name: String,
    /// Domains of their stores.
    pub domains: Vec<String>,
    /// Logins that are licensed; empty is any.
    #[serde(default)]
    pub logins: Vec<String>,
    /// Last day of the licence.
    pub until: Date,
    /// What their engines prove their claims with: it goes into the store's `config.json`, under `secrets`.
    pub secret: String,
}

impl std::fmt::Debug for Customer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Customer")
            .field("name", &self.name)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

impl Customer {
    /// Whether a domain is theirs.
    pub(super) fn has(&self, domain: &str) -> bool {
        self.domains.iter().any(|own| same_domain(own, domain))
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    customer: Vec<Customer>,
}

fn file(folder: &Path) -> PathBuf {
    folder.join("customers.toml")
}

/// All customers; no list is an empty one.
pub fn customers(folder: &Path) -> Result<Vec<Customer>, LicensorError> {
    let file = file(folder);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(LicensorError::File(file, error)),
    };
    // The parser's message quotes the line, which may hold a secret: only what is wrong is told.
    let list: List =
        toml::from_str(&text).map_err(|error| LicensorError::Form(file, error.message().to_owned()))?;
    Ok(list.customer)
}

/// Adds a customer with a new secret.
pub fn add(
    folder: &Path,
    name: &str,
    domains: &[String],
    logins: &[String],
    until: Date,
) -> Result<Customer, LicensorError> {
    let mut list = customers(folder)?;
    if list.iter().any(|customer| customer.name == name) {
        return Err(LicensorError::CustomerExists(name.to_owned()));
    }
    let (secret, _) = new_ticket().map_err(|_| LicensorError::Random)?;
    let customer =
        Customer { name: name.to_owned(), domains: domains.to_vec(), logins: logins.to_vec(), until, secret };
    list.push(customer.clone());
    save(folder, list)?;
    Ok(customer)
}

/// Removes a customer: they get no more tokens.
pub fn remove(folder: &Path, name: &str) -> Result<(), LicensorError> {
    let mut list = customers(folder)?;
    let before = list.len();
    list.retain(|customer| customer.name != name);
    if list.len() == before {
        return Err(LicensorError::NoSuchCustomer(name.to_owned()));
    }
    save(folder, list)
}

fn save(folder: &Path, customer: Vec<Customer>) -> Result<(), LicensorError> {
    let file = file(folder);
    let fresh = folder.join("customers.toml.new");
    let text = toml::to_string_pretty(&List { customer })
        .map_err(|error| LicensorError::Form(file.clone(), error.to_string()))?;
    let write = || {
        fs::create_dir_all(folder)?;
        // Left behind by a save that broke off.
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut out = private_new(&fresh)?;
        out.write_all(text.as_bytes())?;
        out.sync_all()?;
        fs::rename(&fresh, &file)
    };
    write().map_err(|error| LicensorError::File(file.clone(), error))
}
