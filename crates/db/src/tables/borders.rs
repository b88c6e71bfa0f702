//! When what is chosen by time changes by itself: the moments around now at which something begins or ends.

use jiff::Timestamp;

use crate::id_list::Ids;
use crate::{DbError, Tx};

/// The stretch of time around a moment in which nothing begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Borders {
    now: Timestamp,
    /// Since when nothing has; `None`: it never did.
    pub last: Option<Timestamp>,
    /// Until when nothing does; `None`: it never will.
    pub next: Option<Timestamp>,
}

impl Borders {
    /// Around this moment, with none yet.
    pub fn around(now: Timestamp) -> Self {
        Self { now, last: None, next: None }
    }

    /// Adds a moment at which something begins or ends, as the tables hold it; none for the empty text.
    pub fn add(&mut self, moment: &str) -> Result<(), DbError> {
        if moment.is_empty() {
            return Ok(());
        }
        let moment: Timestamp = moment.parse().map_err(DbError::sql)?;
        if moment > self.now {
            self.next = Some(self.next.map_or(moment, |next| next.min(moment)));
        } else {
            self.last = Some(self.last.map_or(moment, |last| last.max(moment)));
        }
        Ok(())
    }

    /// Adds those of another stretch around the same moment.
    pub fn merge(&mut self, other: &Self) {
        self.last = self.last.max(other.last);
        self.next = match (self.next, other.next) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    /// Adds those of all price lists.
    pub fn add_price_lists(&mut self, tx: &mut Tx) -> Result<(), DbError> {
        let sql = "select valid_from as moment from price_lists where valid_from is not null
                   union all select valid_until from price_lists where valid_until is not null";
        self.add_rows(tx, sql, &Ids::new("id", &[]))
    }

    /// Adds those of products that appear or disappear by themselves.
    pub fn add_products(&mut self, tx: &mut Tx, products: &[i64]) -> Result<(), DbError> {
        let ids = Ids::new("id", products);
        let places = ids.places();
        let sql = format!(
            "select shown_from as moment from products where shown_from is not null and id in {places}
             union all select shown_until from products where shown_until is not null and id in {places}"
        );
        self.add_rows(tx, &sql, &ids)
    }

    /// Adds those of reservations of variants, which count as free when their time is over.
    pub fn add_reservations(&mut self, tx: &mut Tx, variants: &[i64]) -> Result<(), DbError> {
        let ids = Ids::new("id", variants);
        let sql = format!("select until as moment from reservations where variant_id in {}", ids.places());
        self.add_rows(tx, &sql, &ids)
    }

    /// Adds those of the prices that variants had and will have.
    pub fn add_price_history(&mut self, tx: &mut Tx, variants: &[i64]) -> Result<(), DbError> {
        let ids = Ids::new("id", variants);
        let sql = format!("select since as moment from price_history where variant_id in {}", ids.places());
        self.add_rows(tx, &sql, &ids)
    }

    fn add_rows(&mut self, tx: &mut Tx, sql: &str, ids: &Ids) -> Result<(), DbError> {
        for row in tx.rows(sql, &ids.with(&[]))? {
            if let Some(moment) = row.get::<Option<String>>("moment")? {
                self.add(&moment)?;
            }
        }
        Ok(())
    }
}
