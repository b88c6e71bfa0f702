//! Customers with an account, their addresses and what they agreed to.

mod erase;

use jiff::Timestamp;
use shop::text::folded;

use crate::record::record;
use crate::{DbError, Tx, micros, rows};

pub use erase::erase;

record! {
    /// A customer.
    pub struct Customer {
        /// Number.
        pub id: i64,
        /// E-mail address, as they wrote it.
        pub email: String,
        /// Telephone number.
        pub phone: String,
        /// Name.
        pub name: String,
        /// Argon2id hash of the password.
        pub password_hash: Option<String>,
        /// Grows with every change of the password.
        pub password_version: i64,
        /// When the address was confirmed.
        pub email_confirmed: Option<String>,
        /// Customer group.
        pub group_id: Option<i64>,
        /// Language.
        pub language: String,
        /// Currency they buy in.
        pub currency: Option<String>,
        /// Number for taxes.
        pub tax_number: String,
        /// Whether they may not sign in.
        pub blocked: bool,
        /// Grows with every change.
        pub version: i64,
    }
}

record! {
    /// An address.
    pub struct Address {
        /// Number.
        pub id: i64,
        /// Name.
        pub name: String,
        /// Company.
        pub company: String,
        /// Country, two letters.
        pub country: String,
        /// Region.
        pub region: String,
        /// Town.
        pub city: String,
        /// Postcode.
        pub postcode: String,
        /// Street and house.
        pub line1: String,
        /// Second line.
        pub line2: String,
        /// Telephone number.
        pub phone: String,
        /// Number for taxes.
        pub tax_number: String,
    }
}

/// The columns of an address.
pub(crate) const ADDRESS: [&str; 10] =
    ["name", "company", "country", "region", "city", "postcode", "line1", "line2", "phone", "tax_number"];

const SELECT: &str =
    "select id, email, phone, name, password_hash, password_version, email_confirmed, group_id,
   language, currency, tax_number, blocked, version from customers where deleted is null";

/// The customer of this address, however it is written.
pub fn by_email(tx: &mut Tx, email: &str) -> Result<Option<Customer>, DbError> {
    let row = tx.row(&format!("{SELECT} and email_folded = :email"), &[("email", folded(email).into())])?;
    row.map(|row| Customer::of(&row)).transpose()
}

/// The customer of this number.
pub fn by_id(tx: &mut Tx, id: i64) -> Result<Option<Customer>, DbError> {
    let row = tx.row(&format!("{SELECT} and id = :id"), &[("id", id.into())])?;
    row.map(|row| Customer::of(&row)).transpose()
}

/// Adds a customer; an address that is taken is a [`DbError::Conflict`].
pub fn create(
    tx: &mut Tx,
    email: &str,
    name: &str,
    password_hash: Option<&str>,
    language: &str,
    now: Timestamp,
) -> Result<i64, DbError> {
    let time = micros(now);
    rows::insert(
        tx,
        "customers",
        &[
            ("email", email.trim().into()),
            ("email_folded", folded(email).into()),
            ("name", name.into()),
            ("password_hash", password_hash.into()),
            ("language", language.into()),
            ("created", (&time).into()),
            ("changed", (&time).into()),
        ],
    )
}

/// Changes the password: who is signed in with the old one is signed out.
pub fn set_password(tx: &mut Tx, id: i64, hash: &str, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "update customers set password_hash = :hash, password_version = password_version + 1, changed = :now,
           version = version + 1 where id = :id",
        &[("hash", hash.into()), ("id", id.into()), ("now", micros(now).into())],
    )?;
    Ok(())
}

/// The address is theirs: orders that a guest placed with it join the account. How many did.
pub fn confirm_email(tx: &mut Tx, id: i64, now: Timestamp) -> Result<u64, DbError> {
    tx.run(
        "update customers set email_confirmed = :now, changed = :now, version = version + 1
         where id = :id and deleted is null",
        &[("id", id.into()), ("now", micros(now).into())],
    )?;
    tx.run(
        "update orders set customer_id = :id where customer_id is null and email_folded =
           (select c.email_folded from customers c where c.id = :id and c.deleted is null
              and c.email_confirmed is not null)",
        &[("id", id.into())],
    )
}

/// Addresses of a customer, by position.
pub fn addresses(tx: &mut Tx, customer: i64) -> Result<Vec<Address>, DbError> {
    let sql = format!(
        "select id, {} from addresses where customer_id = :id and deleted is null order by position, id",
        ADDRESS.join(", ")
    );
    tx.rows(&sql, &[("id", customer.into())])?.iter().map(Address::of).collect()
}

/// Adds an address.
pub fn add_address(tx: &mut Tx, customer: i64, address: &Address, now: Timestamp) -> Result<i64, DbError> {
    let time = micros(now);
    let mut values = address.values();
    values.extend([
        ("customer_id", customer.into()),
        ("created", (&time).into()),
        ("changed", (&time).into()),
    ]);
    rows::insert(tx, "addresses", &values)
}

impl Address {
    pub(crate) fn read(row: &crate::Row) -> Result<Self, DbError> {
        Self::of(row)
    }

    /// Its columns with their values.
    pub(crate) fn values(&self) -> Vec<(&'static str, crate::Value)> {
        let values = [
            &self.name,
            &self.company,
            &self.country,
            &self.region,
            &self.city,
            &self.postcode,
            &self.line1,
            &self.line2,
            &self.phone,
            &self.tax_number,
        ];
        ADDRESS.into_iter().zip(values).map(|(column, value)| (column, value.into())).collect()
    }
}

/// Removes an address of a customer; whether it was theirs.
pub fn remove_address(tx: &mut Tx, customer: i64, address: i64, now: Timestamp) -> Result<bool, DbError> {
    let count = tx.run(
        "update addresses set deleted = :now, changed = :now, version = version + 1
         where id = :id and customer_id = :customer and deleted is null",
        &[("id", address.into()), ("customer", customer.into()), ("now", micros(now).into())],
    )?;
    Ok(count > 0)
}

/// Changes what a customer says of themselves.
pub fn set_profile(tx: &mut Tx, id: i64, name: &str, phone: &str, now: Timestamp) -> Result<(), DbError> {
    tx.run(
        "update customers set name = :name, phone = :phone, changed = :now, version = version + 1 where id = :id",
        &[("id", id.into()), ("name", name.into()), ("phone", phone.into()), ("now", micros(now).into())],
    )?;
    Ok(())
}

/// Whether a customer of this group pays no taxes.
pub fn is_tax_exempt(tx: &mut Tx, group: i64) -> Result<bool, DbError> {
    let row = tx.row("select tax_exempt from customer_groups where id = :id", &[("id", group.into())])?;
    row.map_or(Ok(false), |row| row.get("tax_exempt"))
}

/// Writes down that somebody agreed to something, or took it back.
pub fn consent(
    tx: &mut Tx,
    email: &str,
    purpose: &str,
    given: bool,
    text_version: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.run(
        "insert into consents (customer_id, who, purpose, given, time, text_version)
         values ((select id from customers where email_folded = :who and deleted is null),
           :who, :purpose, :given, :now, :text_version)",
        &[
            ("who", folded(email).into()),
            ("purpose", purpose.into()),
            ("given", given.into()),
            ("now", micros(now).into()),
            ("text_version", text_version.into()),
        ],
    )?;
    Ok(())
}

/// Whether somebody agrees to something now.
pub fn agrees(tx: &mut Tx, email: &str, purpose: &str) -> Result<bool, DbError> {
    let row = tx.row(
        "select given from consents where who = :who and purpose = :purpose order by time desc, id desc limit 1",
        &[("who", folded(email).into()), ("purpose", purpose.into())],
    )?;
    row.map_or(Ok(false), |row| row.get("given"))
}
