//! Stock: what can be sold, and from which locations an order is filled.

/// One variant in one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationStock {
    /// Number of the location.
    pub location_id: i64,
    /// Pieces on the shelf.
    pub on_hand: i64,
    /// Pieces promised to carts and orders.
    pub reserved: i64,
}

/// How a variant is sold beyond its stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backorder {
    /// So many pieces more than there are; usually none.
    UpTo(i64),
    /// Any number.
    Any,
}

/// A part of a line from one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taking {
    /// Number of the location.
    pub location_id: i64,
    /// Pieces.
    pub quantity: i64,
}

/// There is not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("only {available} can be had")]
pub struct OutOfStock {
    /// What can be had, over all locations.
    pub available: i64,
}

impl LocationStock {
    /// What is not promised; below 0 where more was sold than there is.
    pub fn available(&self) -> i64 {
        self.on_hand.saturating_sub(self.reserved)
    }
}

/// Deals a quantity out over locations, which come by priority: whole from the first that has it, else split.
/// What may be sold beyond the stock is taken from the first location.
pub fn allocate(
    quantity: i64,
    backorder: Backorder,
    locations: &[LocationStock],
) -> Result<Vec<Taking>, OutOfStock> {
    let Some(first) = locations.first() else { return Err(OutOfStock { available: 0 }) };
    if let Some(whole) = locations.iter().find(|place| place.available() >= quantity) {
        return Ok(vec![Taking { location_id: whole.location_id, quantity }]);
    }
    let mut left = quantity;
    let mut parts: Vec<Taking> = Vec::new();
    for place in locations.iter().filter(|place| place.available() > 0) {
        let part = left.min(place.available());
        if part > 0 {
            parts.push(Taking { location_id: place.location_id, quantity: part });
            left -= part;
        }
    }
    let oversold = (-first.available()).max(0);
    let beyond = match backorder {
        Backorder::Any => left,
        Backorder::UpTo(most) => left.min((most - oversold).max(0)),
    };
    if beyond < left {
        return Err(OutOfStock { available: quantity - left + beyond });
    }
    if beyond > 0 {
        match parts.iter_mut().find(|part| part.location_id == first.location_id) {
            Some(part) => part.quantity += beyond,
            None => parts.insert(0, Taking { location_id: first.location_id, quantity: beyond }),
        }
    }
    Ok(parts)
}

/// Why a customer may not have this many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Less than the least.
    #[error("at least {0}")]
    TooFew(i64),
    /// More than the most.
    #[error("at most {0}")]
    TooMany(i64),
    /// Not a multiple of the step.
    #[error("only in steps of {0}")]
    Step(i64),
}

/// Which quantities of a variant can be bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantityRule {
    /// Least, at least 1.
    pub least: i64,
    /// Most.
    pub most: Option<i64>,
    /// Steps from the least on.
    pub step: i64,
}

/// The most pieces of a line, whatever a variant allows.
pub const MOST_PIECES: i64 = 1_000_000;

impl QuantityRule {
    /// Checks what somebody wants.
    pub fn check(&self, quantity: i64) -> Result<(), QuantityError> {
        let least = self.least.max(1);
        let most = self.most.unwrap_or(MOST_PIECES).min(MOST_PIECES);
        let step = self.step.max(1);
        if quantity < least {
            Err(QuantityError::TooFew(least))
        } else if quantity > most {
            Err(QuantityError::TooMany(most))
        } else if (quantity - least) % step != 0 {
            Err(QuantityError::Step(step))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(location_id: i64, on_hand: i64, reserved: i64) -> LocationStock {
        LocationStock { location_id, on_hand, reserved }
    }

    fn taken(parts: &[Taking]) -> Vec<(i64, i64)> {
        parts.iter().map(|part| (part.location_id, part.quantity)).collect()
    }

    #[test]
    fn a_line_comes_whole_from_the_first_that_has_it() {
        let places = [place(1, 3, 0), place(2, 9, 1), place(3, 50, 0)];
        assert_eq!(taken(&allocate(8, Backorder::UpTo(0), &places).unwrap()), [(2, 8)]);
        assert_eq!(taken(&allocate(60, Backorder::UpTo(0), &places).unwrap()), [(1, 3), (2, 8), (3, 49)]);
        assert_eq!(allocate(62, Backorder::UpTo(0), &places), Err(OutOfStock { available: 61 }));
        assert_eq!(allocate(1, Backorder::Any, &[]), Err(OutOfStock { available: 0 }));
    }

    #[test]
    fn what_is_beyond_the_stock_is_taken_from_the_first() {
        let places = [place(1, 2, 0), place(2, 1, 0)];
        assert_eq!(taken(&allocate(7, Backorder::UpTo(4), &places).unwrap()), [(1, 6), (2, 1)]);
        assert_eq!(allocate(8, Backorder::UpTo(4), &places), Err(OutOfStock { available: 7 }));
        assert_eq!(taken(&allocate(9, Backorder::Any, &[place(5, 0, 3)]).unwrap()), [(5, 9)]);
        assert_eq!(allocate(3, Backorder::UpTo(5), &[place(5, 0, 3)]), Err(OutOfStock { available: 2 }));
    }

    #[test]
    fn quantities_keep_to_the_rule() {
        let rule = QuantityRule { least: 2, most: Some(10), step: 4 };
        assert_eq!(rule.check(6), Ok(()));
        assert_eq!(rule.check(0), Err(QuantityError::TooFew(2)));
        assert_eq!(rule.check(-6), Err(QuantityError::TooFew(2)));
        assert_eq!(rule.check(14), Err(QuantityError::TooMany(10)));
        assert_eq!(rule.check(5), Err(QuantityError::Step(4)));
        let any = QuantityRule { least: 0, most: None, step: 0 };
        assert_eq!(any.check(i64::MAX), Err(QuantityError::TooMany(MOST_PIECES)));
    }

    proptest! {
        #[test]
        fn no_more_is_taken_than_there_is(
            stock in prop::collection::vec((0_i64..20, 0_i64..20), 1..5),
            quantity in 1_i64..60,
            most in 0_i64..10,
        ) {
            let places: Vec<_> = (1..).zip(&stock).map(|(id, (on_hand, reserved))| place(id, *on_hand, *reserved)).collect();
            let Ok(parts) = allocate(quantity, Backorder::UpTo(most), &places) else { return Ok(()) };
            prop_assert_eq!(parts.iter().map(|part| part.quantity).sum::<i64>(), quantity);
            for part in parts {
                let at = places.iter().find(|place| place.location_id == part.location_id).unwrap();
                let allowed = if at.location_id == 1 { most } else { 0 };
                prop_assert!(part.quantity > 0 && at.available() + allowed >= part.quantity);
            }
        }
    }
}
