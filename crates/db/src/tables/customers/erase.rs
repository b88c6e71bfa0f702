//! Erasing a person: what names them goes from every table, what the books need stays.

use jiff::Timestamp;
use serde_json::Value as Json;
use shop::text::folded;

use crate::{DbError, Tx, Value, micros};

/// Whose rows go, of one table.
struct Part {
    table: &'static str,
    /// Which rows: `:id` is the customer, `:email` their proven address, folded, and empty where it is not proven.
    of: &'static str,
    /// What becomes of them; empty: they are removed.
    set: &'static str,
}

const fn part(table: &'static str, of: &'static str, set: &'static str) -> Part {
    Part { table, of, set }
}

/// In the order in which they go: orders lead to the rest, so theirs and the customer's own row come last.
const PARTS: [Part; 17] = [
    part(
        "outbox",
        "(address <> '' and lower(address) = :email) or key like :mails
           or exists (select 1 from orders o where o.customer_id = :id and outbox.key like 'order:' || o.id || ':%')",
        // The key holds the address too.
        "key = 'erased:' || id, address = '', data = '{}', error = '', state = case when state = 'kNew' then 'kFailed' else state end",
    ),
    part(
        "promotion_uses",
        "order_id in (select id from orders where customer_id = :id)",
        "customer_key = 'erased:' || order_id",
    ),
    part(
        "return_lines",
        "return_id in (select r.id from returns r join orders o on o.id = r.order_id where o.customer_id = :id)",
        "reason = ''",
    ),
    part(
        "returns",
        "order_id in (select id from orders where customer_id = :id)",
        "text = '', answer = ''",
    ),
    part(
        "order_history",
        "axis = 'kNote' and order_id in (select id from orders where customer_id = :id)",
        "text = ''",
    ),
    part(
        "order_addresses",
        "order_id in (select id from orders where customer_id = :id)",
        "name = '', company = '', city = '', postcode = '', line1 = '', line2 = '', phone = '', tax_number = ''",
    ),
    part(
        "payment_events",
        "payment_id in (select p.id from payments p join orders o on o.id = p.order_id where o.customer_id = :id)",
        "data = '{}'",
    ),
    part(
        "refunds",
        "payment_id in (select p.id from payments p join orders o on o.id = p.order_id where o.customer_id = :id)",
        "error = ''",
    ),
    part("payments", "order_id in (select id from orders where customer_id = :id)", "error = ''"),
    part(
        "reviews",
        "customer_id = :id or order_line_id in
           (select l.id from order_lines l join orders o on o.id = l.order_id where o.customer_id = :id)",
        "name = ''",
    ),
    part(
        "carts",
        "customer_id = :id or id in (select cart_id from orders where customer_id = :id)
           or (email <> '' and lower(email) = :email)",
        "email = '', phone = '', address = null, billing_address = null, comment = ''",
    ),
    part("consents", "customer_id = :id or (who <> '' and who = :email)", ""),
    part("customer_tokens", "customer_id = :id", ""),
    part("addresses", "customer_id = :id", ""),
    part("personal_requests", "customer_id = :id or (email <> '' and lower(email) = :email)", "email = ''"),
    part("orders", "customer_id = :id", "email = '', email_folded = '', phone = '', comment = ''"),
    // The row stays for the orders; its address can be used again.
    part(
        "customers",
        "id = :id",
        "email = '', email_folded = '', phone = '', name = '', password_hash = null,
           password_version = password_version + 1, tax_number = '', external_id = null, blocked = true,
           deleted = :now, changed = :now, version = version + 1",
    ),
];

/// Events that carry what a visitor wrote, or a mail server's words about them.
const EVENTS: &str = "'kMessageNew', 'kMailFailed', 'kOrderState'";
/// Fields of events that may name a person.
const NAMING: [&str; 6] = ["name", "email", "phone", "text", "reason", "error"];

/// Erases a person: name, mail, telephone, street go, from orders, mails and messages too; sums, taxes and
/// countries stay.
///
/// Orders placed as a guest and messages under the same address are theirs only where they proved that it is.
pub fn erase(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), DbError> {
    let Some(row) =
        tx.row("select email, email_confirmed from customers where id = :id", &[("id", id.into())])?
    else {
        return Ok(());
    };
    let email = match row.get::<Option<String>>("email_confirmed")? {
        Some(_) => folded(&row.get::<String>("email")?),
        None => String::new(),
    };
    tx.run(
        "update orders set customer_id = :id where customer_id is null and email_folded <> '' and email_folded = :email",
        &[("id", id.into()), ("email", (&email).into())],
    )?;
    let person = Person { id, email, now };
    let mut erased = vec![("events", erase_events(tx, &person)?)];
    for part in &PARTS {
        erased.push((part.table, person.erase(tx, part)?));
    }
    // Last of all, since the changes above may have been journalled themselves.
    for (table, ids) in erased {
        for row in ids {
            forget_copies(tx, table, row)?;
        }
    }
    for table in ["addresses", "consents"] {
        forget_removed(tx, table, id)?;
    }
    Ok(())
}

struct Person {
    id: i64,
    email: String,
    now: Timestamp,
}

impl Person {
    /// Runs a statement with those of the values that it names.
    fn values(&self, sql: &str) -> Vec<(&'static str, Value)> {
        let all = [
            ("id", ":id", Value::from(self.id)),
            ("email", ":email", Value::from(&self.email)),
            ("mails", ":mails", format!("customer:{}:%", self.id).into()),
            ("now", ":now", micros(self.now).into()),
        ];
        let named = all.into_iter().filter(|(_, place, _)| sql.contains(place));
        named.map(|(name, _, value)| (name, value)).collect()
    }

    /// Erases the rows of a part; their numbers.
    fn erase(&self, tx: &mut Tx, part: &Part) -> Result<Vec<i64>, DbError> {
        let Part { table, of, set } = part;
        let found = format!("select id from {table} where {of}");
        let rows = tx.rows(&found, &self.values(&found))?;
        let change = match set.is_empty() {
            true => format!("delete from {table} where {of}"),
            false => format!("update {table} set {set} where {of}"),
        };
        tx.run(&change, &self.values(&change))?;
        rows.iter().map(|row| row.get("id")).collect()
    }

    /// Whether an event is about them.
    fn is_meant(&self, event: &Json, orders: &[i64], mails: &[i64]) -> bool {
        let number = |name: &str| event.get(name).and_then(Json::as_i64);
        let email = event.get("email").and_then(Json::as_str).map(folded).unwrap_or_default();
        (!email.is_empty() && email == self.email)
            || number("order").is_some_and(|order| orders.contains(&order))
            || number("mail").is_some_and(|mail| mails.contains(&mail))
    }
}

/// Takes a person out of the events about them; the numbers of these.
fn erase_events(tx: &mut Tx, person: &Person) -> Result<Vec<i64>, DbError> {
    let mut numbers = |sql: &str| -> Result<Vec<i64>, DbError> {
        tx.rows(sql, &person.values(sql))?.iter().map(|row| row.get("id")).collect()
    };
    let orders = numbers("select id from orders where customer_id = :id")?;
    let mails = numbers(&format!("select id from outbox where {}", PARTS[0].of))?;
    let mut erased = Vec::new();
    for row in tx.rows(&format!("select id, data from events where key in ({EVENTS})"), &[])? {
        let id: i64 = row.get("id")?;
        // What somebody put there by hand may be anything.
        let Ok(mut data) = serde_json::from_str::<Json>(&row.get::<String>("data")?) else { continue };
        if !person.is_meant(&data, &orders, &mails) {
            continue;
        }
        for name in NAMING {
            if let Some(value) = data.get_mut(name) {
                *value = Json::String(String::new());
            }
        }
        let values = [("id", id.into()), ("data", data.to_string().into())];
        tx.run("update events set data = :data where id = :id", &values)?;
        erased.push(id);
    }
    Ok(erased)
}

/// Empties the journal's copies of a row: that it was changed, when and by whom stays.
fn forget_copies(tx: &mut Tx, table: &str, row: i64) -> Result<(), DbError> {
    forget(tx, "row_id = :row", &[("table", table.into()), ("row", row.into())])
}

/// Empties what the journal keeps of rows of theirs that were removed before.
fn forget_removed(tx: &mut Tx, table: &str, customer: i64) -> Result<(), DbError> {
    // As each database writes it, in the middle of the row or at its end.
    for (space, end) in [("", ","), ("", "}"), (" ", ","), (" ", "}")] {
        let of = format!("%\"customer_id\":{space}{customer}{end}%");
        forget(tx, "before like :of or after like :of", &[("table", table.into()), ("of", of.into())])?;
    }
    Ok(())
}

fn forget(tx: &mut Tx, of: &str, values: &[(&str, Value)]) -> Result<(), DbError> {
    let long = format!(
        "select before, after from journal_changes
         where table_name = :table and ({of}) and (before like '%\"hash\"%' or after like '%\"hash\"%')"
    );
    for row in tx.rows(&long, values)? {
        for side in ["before", "after"] {
            let Ok(Some(Json::Object(fields))) = row.get::<Option<Json>>(side) else { continue };
            for hash in fields.values().filter_map(|field| field.get("hash").and_then(Json::as_str)) {
                tx.run("delete from journal_values where hash = :hash", &[("hash", hash.into())])?;
            }
        }
    }
    let sql = format!(
        "update journal_changes set before = case when before is null then null else '{{}}' end,
           after = case when after is null then null else '{{}}' end
         where table_name = :table and ({of})"
    );
    tx.run(&sql, values).map(drop)
}
