//! Refunds: what returned pieces bring back, never more than was paid.

use crate::money::{MoneyError, Result, scaled};

/// What has happened with a line of an order so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSold {
    /// What the line cost, after discounts.
    pub total: i64,
    /// The tax in it or on top of it.
    pub tax: i64,
    /// Pieces that were sold.
    pub quantity: i64,
    /// Pieces that were refunded before.
    pub refunded_quantity: i64,
    /// Money that was refunded before.
    pub refunded: i64,
    /// Tax that was refunded before.
    pub refunded_tax: i64,
}

/// Money that goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refund {
    /// The amount.
    pub amount: i64,
    /// The tax in it.
    pub tax: i64,
}

/// Why nothing goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefundError {
    /// More pieces than are left.
    #[error("only {left} of these pieces can be refunded")]
    TooMany {
        /// Pieces that were not refunded yet.
        left: i64,
    },
    /// More money than is left.
    #[error("only {left} minor units can be refunded")]
    TooMuch {
        /// Money that was not refunded yet.
        left: i64,
    },
    /// Less than one piece or one unit.
    #[error("a refund is of at least one")]
    Nothing,
    /// The numbers do not fit.
    #[error(transparent)]
    Money(#[from] MoneyError),
}

/// What `pieces` of a line bring back: the rounded share of all refunded pieces, less what was given before, so that
/// the last piece brings exactly the rest.
pub fn of_pieces(line: LineSold, pieces: i64) -> std::result::Result<Refund, RefundError> {
    let left = line.quantity - line.refunded_quantity;
    match pieces {
        ..1 => return Err(RefundError::Nothing),
        _ if pieces > left => return Err(RefundError::TooMany { left }),
        _ => {}
    }
    let up_to = line.refunded_quantity + pieces;
    let share = |whole: i64| -> Result<i64> { scaled(whole, up_to, line.quantity) };
    // Money that was given beside the pieces (for the trouble) is already part of it.
    let amount = (share(line.total)? - line.refunded).max(0);
    let tax = (share(line.tax)? - line.refunded_tax).clamp(0, amount.max(0));
    Ok(Refund { amount, tax })
}

/// Checks an amount against a payment: never more than was captured.
pub fn of_payment(captured: i64, refunded: i64, amount: i64) -> std::result::Result<(), RefundError> {
    let left = captured - refunded;
    match amount {
        ..1 => Err(RefundError::Nothing),
        _ if amount > left => Err(RefundError::TooMuch { left }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(total: i64, tax: i64, quantity: i64) -> LineSold {
        LineSold { total, tax, quantity, refunded_quantity: 0, refunded: 0, refunded_tax: 0 }
    }

    fn take(line: &mut LineSold, pieces: i64) -> Refund {
        let back = of_pieces(*line, pieces).unwrap();
        line.refunded_quantity += pieces;
        line.refunded += back.amount;
        line.refunded_tax += back.tax;
        back
    }

    #[test]
    fn example_6_in_two_returns() {
        let mut sold = line(17_925, 2988, 10);
        assert_eq!(take(&mut sold, 3), Refund { amount: 5378, tax: 896 });
        assert_eq!(take(&mut sold, 7), Refund { amount: 12_547, tax: 2092 });
        assert_eq!(of_pieces(sold, 1), Err(RefundError::TooMany { left: 0 }));
    }

    #[test]
    fn a_whole_refund_is_what_was_paid() {
        assert_eq!(of_pieces(line(17_925, 2988, 10), 10).unwrap().amount, 17_925);
    }

    #[test]
    fn all_but_one_unit_and_then_two_is_refused() {
        assert_eq!(of_payment(10_000, 0, 9999), Ok(()));
        assert_eq!(of_payment(10_000, 9999, 2), Err(RefundError::TooMuch { left: 1 }));
        assert_eq!(of_payment(10_000, 9999, 1), Ok(()));
        assert_eq!(of_payment(10_000, 0, 0), Err(RefundError::Nothing));
        assert_eq!(of_payment(10_000, 0, -5), Err(RefundError::Nothing));
    }

    proptest! {
        #[test]
        fn refunds_add_up_to_what_was_paid_and_never_exceed_it(
            total in 0_i64..10_000_000,
            rate in 0_i64..1_000_000,
            steps in prop::collection::vec(1_i64..5, 1..12),
        ) {
            let quantity: i64 = steps.iter().sum();
            let tax = scaled(total, rate, 1_000_000 + rate).unwrap();
            let mut sold = line(total, tax, quantity);
            for step in steps {
                let back = take(&mut sold, step);
                prop_assert!(back.amount >= 0 && back.tax >= 0);
                prop_assert!(sold.refunded <= total && sold.refunded_tax <= tax);
            }
            prop_assert_eq!(sold.refunded, total);
        }
    }
}
