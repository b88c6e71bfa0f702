//! Which price holds: among the rows of the lists that are open to a customer, at this moment.

use crate::money::{MILLION, MoneyError, Result, part, to_step};

/// One row of a price list that the customer may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceRow<'a> {
    /// Number of the list.
    pub list_id: i64,
    /// Priority of the list; larger comes first.
    pub priority: i64,
    /// From this quantity on.
    pub min_quantity: i64,
    /// From this moment on; the empty text is from ever. Times are texts whose order is the order of time.
    pub valid_from: &'a str,
    /// Until before this moment.
    pub valid_until: Option<&'a str>,
    /// The price.
    pub amount: i64,
    /// The price before a reduction.
    pub compare_at: Option<i64>,
}

/// The row that holds: open at `now`, by priority of its list, the largest quantity that is met, the latest begin.
///
/// Judged when it is read, so no job switches prices.
pub fn choose<'a, 'b>(rows: &'b [PriceRow<'a>], quantity: i64, now: &str) -> Option<&'b PriceRow<'a>> {
    rows.iter()
        .filter(|row| row.min_quantity <= quantity)
        .filter(|row| row.valid_from <= now && row.valid_until.is_none_or(|until| now < until))
        .max_by(|one, other| {
            let key = |row: &PriceRow<'a>| (row.priority, std::cmp::Reverse(row.list_id), row.min_quantity);
            key(one).cmp(&key(other)).then_with(|| one.valid_from.cmp(other.valid_from))
        })
}

/// The price of a list that is made from another: changed by a rate and rounded to a step, never below 0.
pub fn derived(base: i64, change_ppm: i64, round_to: i64) -> Result<i64> {
    let changed = part(base, MILLION.checked_add(change_ppm).ok_or(MoneyError::TooLarge)?)?;
    Ok(to_step(changed, round_to)?.max(0))
}

/// One stretch of time with one price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastPrice<'a> {
    /// The price.
    pub amount: i64,
    /// From this moment on.
    pub since: &'a str,
    /// Until before this moment; still in force without.
    pub until: Option<&'a str>,
}

/// The lowest price in `[from, reduced)`: of the days before a reduction, without the reduction itself.
pub fn lowest(history: &[PastPrice<'_>], from: &str, reduced: &str) -> Option<i64> {
    history
        .iter()
        .filter(|past| past.since < reduced && past.until.is_none_or(|until| until > from))
        .map(|past| past.amount)
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: PriceRow<'static> = PriceRow {
        list_id: 1,
        priority: 0,
        min_quantity: 1,
        valid_from: "",
        valid_until: None,
        amount: 1000,
        compare_at: None,
    };

    fn chosen(rows: &[PriceRow<'_>], quantity: i64, now: &str) -> Option<i64> {
        choose(rows, quantity, now).map(|row| row.amount)
    }

    #[test]
    fn priority_then_quantity_then_begin() {
        let rows = [
            ROW,
            PriceRow { min_quantity: 10, amount: 900, ..ROW },
            PriceRow { list_id: 2, priority: 5, min_quantity: 50, amount: 700, ..ROW },
            PriceRow { valid_from: "2026-12-01", amount: 950, ..ROW },
        ];
        assert_eq!(chosen(&rows, 1, "2026-11-30"), Some(1000));
        assert_eq!(chosen(&rows, 1, "2026-12-01"), Some(950));
        assert_eq!(chosen(&rows, 10, "2026-12-02"), Some(900));
        assert_eq!(chosen(&rows, 50, "2026-12-02"), Some(700));
        assert_eq!(chosen(&rows, 0, "2026-12-02"), None);
    }

    #[test]
    fn a_sale_ends_at_its_moment_without_a_job() {
        let sale = PriceRow {
            valid_from: "2026-12-01T00:00:00Z",
            valid_until: Some("2026-12-10T21:00:00Z"),
            amount: 800,
            compare_at: Some(1000),
            ..ROW
        };
        assert_eq!(chosen(&[ROW, sale], 1, "2026-12-10T20:59:59Z"), Some(800));
        assert_eq!(chosen(&[ROW, sale], 1, "2026-12-10T21:00:00Z"), Some(1000));
    }

    #[test]
    fn prices_made_from_others() {
        assert_eq!(derived(1990, -150_000, 0), Ok(1692));
        assert_eq!(derived(1990, -150_000, 10), Ok(1690));
        assert_eq!(derived(1990, -2_000_000, 0), Ok(0));
    }

    #[test]
    fn the_lowest_price_is_of_the_days_before_the_reduction() {
        let history = [
            PastPrice { amount: 700, since: "2026-09-01", until: Some("2026-10-01") },
            PastPrice { amount: 1000, since: "2026-10-01", until: Some("2026-11-20") },
            PastPrice { amount: 900, since: "2026-11-20", until: Some("2026-12-01") },
            PastPrice { amount: 650, since: "2026-12-01", until: None },
        ];
        assert_eq!(lowest(&history, "2026-11-01", "2026-12-01"), Some(900));
        assert_eq!(lowest(&history, "2026-09-30", "2026-12-01"), Some(700));
        assert_eq!(lowest(&history[3..], "2026-11-01", "2026-12-01"), None);
    }
}
