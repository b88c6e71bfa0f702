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
    /// Pieces of them that came back or were never sent: no others are refunded.
    pub back: i64,
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

impl LineSold {
    /// Pieces that can still be refunded.
    pub fn pieces_left(&self) -> i64 {
        (self.back - self.refunded_quantity).max(0)
    }

    fn check_pieces(&self, pieces: i64) -> std::result::Result<(), RefundError> {
        let left = self.pieces_left();
        if pieces > left { Err(RefundError::TooMany { left }) } else { Ok(()) }
    }
}

/// What `pieces` of a line bring back: the rounded share of all refunded pieces, less what was given before, so that
/// the last piece brings exactly the rest.
pub fn of_pieces(line: LineSold, pieces: i64) -> std::result::Result<Refund, RefundError> {
    if pieces < 1 {
        return Err(RefundError::Nothing);
    }
    line.check_pieces(pieces)?;
    let up_to = line.refunded_quantity + pieces;
    let share = |whole: i64| -> Result<i64> { scaled(whole, up_to, line.quantity) };
    // Money that was given beside the pieces (for the trouble) is already part of it.
    let amount = (share(line.total)? - line.refunded).max(0);
    let tax = (share(line.tax)? - line.refunded_tax).clamp(0, amount.max(0));
    Ok(Refund { amount, tax })
}

/// An amount that somebody names for a line: for its trouble, with no pieces, or less than the pieces cost. Its tax is
/// the share of the line's, and the last unit brings exactly the rest of it.
pub fn of_amount(line: LineSold, pieces: i64, amount: i64) -> std::result::Result<Refund, RefundError> {
    if pieces < 0 || amount < 1 {
        return Err(RefundError::Nothing);
    }
    line.check_pieces(pieces)?;
    let left = line.total - line.refunded;
    if amount > left {
        return Err(RefundError::TooMuch { left });
    }
    let tax = scaled(line.tax, line.refunded + amount, line.total)? - line.refunded_tax;
    Ok(Refund { amount, tax: tax.clamp(0, amount) })
}

/// Deals an amount out to payments by what each still holds: the first that holds all of it, else one after the other.
/// `None` where all together hold less.
pub fn over_payments(left: &[i64], amount: i64) -> Option<Vec<i64>> {
    if let Some(whole) = left.iter().position(|left| *left >= amount) {
        return Some((0..left.len()).map(|at| if at == whole { amount } else { 0 }).collect());
    }
    let mut rest = amount;
    let take = |left: &i64| {
        let part = (*left).clamp(0, rest);
        rest -= part;
        part
    };
    let parts = left.iter().map(take).collect();
    (rest == 0).then_some(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(total: i64, tax: i64, quantity: i64) -> LineSold {
        LineSold { total, tax, quantity, back: quantity, refunded_quantity: 0, refunded: 0, refunded_tax: 0 }
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
    fn pieces_that_did_not_come_back_are_not_refunded() {
        let mut sold = LineSold { back: 2, ..line(1000, 0, 10) };
        assert_eq!(of_pieces(sold, 3), Err(RefundError::TooMany { left: 2 }));
        assert_eq!(of_amount(sold, 3, 1), Err(RefundError::TooMany { left: 2 }));
        assert_eq!(take(&mut sold, 2).amount, 200);
        assert_eq!(of_pieces(sold, 1), Err(RefundError::TooMany { left: 0 }));
        assert_eq!(of_pieces(sold, 0), Err(RefundError::Nothing));
    }

    #[test]
    fn a_named_amount_is_at_most_what_the_line_still_holds() {
        let all_but_one = of_amount(line(10_000, 2000, 3), 0, 9999).unwrap();
        assert_eq!(all_but_one, Refund { amount: 9999, tax: 2000 });
        let sold = LineSold { refunded: 9999, refunded_tax: 2000, ..line(10_000, 2000, 3) };
        assert_eq!(of_amount(sold, 0, 2), Err(RefundError::TooMuch { left: 1 }));
        assert_eq!(of_amount(sold, 0, 1), Ok(Refund { amount: 1, tax: 0 }));
        // What was given for the trouble is part of what the pieces bring later.
        assert_eq!(of_pieces(LineSold { refunded: 400, ..line(900, 0, 3) }, 2).unwrap().amount, 200);
        for amount in [0, -5] {
            assert_eq!(of_amount(sold, 0, amount), Err(RefundError::Nothing));
        }
    }

    #[test]
    fn an_amount_goes_back_to_the_payments_it_came_by() {
        assert_eq!(over_payments(&[60, 100], 80), Some(vec![0, 80]));
        assert_eq!(over_payments(&[60, 0, 40], 100), Some(vec![60, 0, 40]));
        assert_eq!(over_payments(&[60, 40], 101), None);
        assert_eq!(over_payments(&[], 1), None);
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
