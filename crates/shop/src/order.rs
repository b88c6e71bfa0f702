//! The three axes of an order: where it stands, what is paid, what is delivered.

use crate::money::{Result, sum};

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OrderState {
    /// Not placed yet.
    Draft,
    /// Waits for its payment.
    Wait,
    /// Placed; nobody has looked at it.
    New,
    /// Accepted, in work.
    Accept,
    /// All sent, nothing owed.
    Done,
    /// Cancelled.
    Cancel,
}

/// What is known of an order when it is to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderFacts {
    /// Must be paid before it counts.
    pub needs_payment_first: bool,
    /// Paid or authorised in full.
    pub is_covered: bool,
    /// The time to pay has run out.
    pub is_overdue: bool,
    /// Pieces that were sent.
    pub sent: i64,
    /// Pieces that are neither sent nor cancelled.
    pub open: i64,
    /// Money that is owed, either way.
    pub owes: bool,
    /// The pieces could be reserved anew.
    pub is_reserved: bool,
}

/// Who moves an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mover {
    /// The customer.
    Shopper,
    /// An employee, or an agent in their name.
    Staff,
    /// The store itself.
    Store,
}

/// Why an order does not move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// There is no such way.
    #[error("an order does not go from `{}` to `{}`", .from.as_str(), .to.as_str())]
    NoWay {
        /// Where it stands.
        from: OrderState,
        /// Where it was to go.
        to: OrderState,
    },
    /// There is one, but not for this mover.
    #[error("only an employee moves an order so")]
    NotYours,
    /// There is one, but something is in its way.
    #[error("{0}")]
    Hindered(&'static str),
}

impl OrderState {
    /// All states.
    pub const ALL: [Self; 6] = [Self::Draft, Self::Wait, Self::New, Self::Accept, Self::Done, Self::Cancel];

    /// The key in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "kDraft",
            Self::Wait => "kWait",
            Self::New => "kNew",
            Self::Accept => "kAccept",
            Self::Done => "kDone",
            Self::Cancel => "kCancel",
        }
    }

    /// The state of this key.
    pub fn parse(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == key)
    }

    /// Nothing more is expected of it.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::Cancel)
    }
}

/// Every way there is. See spec: data.md, orders.
pub const TRANSITIONS: &[(OrderState, OrderState)] = &[
    (OrderState::Draft, OrderState::Wait),
    (OrderState::Draft, OrderState::New),
    (OrderState::Wait, OrderState::New),
    (OrderState::Wait, OrderState::Cancel),
    (OrderState::New, OrderState::Accept),
    (OrderState::New, OrderState::Cancel),
    (OrderState::Accept, OrderState::Done),
    (OrderState::Accept, OrderState::Cancel),
    (OrderState::Cancel, OrderState::New),
];

/// Where a placed order begins.
pub fn placed(facts: OrderFacts) -> OrderState {
    if facts.needs_payment_first && !facts.is_covered { OrderState::Wait } else { OrderState::New }
}

/// Checks a move.
pub fn check_move(
    from: OrderState,
    to: OrderState,
    mover: Mover,
    facts: OrderFacts,
) -> std::result::Result<(), MoveError> {
    use OrderState::{Accept, Cancel, Done, Draft, New, Wait};
    if !TRANSITIONS.contains(&(from, to)) {
        return Err(MoveError::NoWay { from, to });
    }
    let when = |is: bool, words| if is { Ok(()) } else { Err(MoveError::Hindered(words)) };
    match (from, to) {
        (Draft, _) => when(placed(facts) == to, "it depends on the payment where a new order begins"),
        (Wait, New) => when(facts.is_covered, "the order is not paid yet"),
        (Wait, Cancel) if mover == Mover::Store => when(facts.is_overdue, "there is still time to pay"),
        (New | Accept, Cancel) => {
            if from == Accept && mover == Mover::Shopper {
                return Err(MoveError::NotYours);
            }
            when(facts.sent == 0, "goods were sent: take them back as a return")
        }
        (Accept, Done) => {
            when(facts.open == 0, "not everything is sent or cancelled")?;
            when(!facts.owes, "money is owed")
        }
        (New, Accept) if mover == Mover::Shopper => Err(MoveError::NotYours),
        (Cancel, New) if mover != Mover::Staff => Err(MoveError::NotYours),
        (Cancel, New) => when(facts.is_reserved, "the goods cannot be reserved again"),
        _ => Ok(()),
    }
}

/// Sums of an order's money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderMoney {
    /// What is to be paid.
    pub total: i64,
    /// Authorised and not captured.
    pub held: i64,
    /// Captured.
    pub paid: i64,
    /// Given back.
    pub refunded: i64,
}

impl OrderMoney {
    /// The key of the payment axis.
    pub fn state(&self) -> &'static str {
        let Self { total, held, paid, refunded } = *self;
        let kept = paid.saturating_sub(refunded);
        if refunded > 0 {
            return if kept > 0 { "kPartBack" } else { "kBack" };
        }
        match paid {
            _ if paid > total => "kOver",
            _ if paid == total && (paid > 0 || total == 0) => "kPaid",
            1.. => "kPart",
            _ if held >= total && held > 0 => "kHeld",
            _ => "kNone",
        }
    }

    /// Paid or authorised in full.
    pub fn is_covered(&self) -> bool {
        self.paid.saturating_sub(self.refunded).saturating_add(self.held) >= self.total
    }
}

/// Pieces of one line of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinePieces {
    /// Ordered.
    pub quantity: i64,
    /// Cancelled.
    pub cancelled: i64,
    /// Sent.
    pub shipped: i64,
    /// Come back.
    pub returned: i64,
}

impl LinePieces {
    /// Neither sent nor cancelled.
    pub fn open(&self) -> i64 {
        self.quantity - self.cancelled - self.shipped
    }

    /// The numbers can be true.
    pub fn is_sound(&self) -> bool {
        let Self { quantity, cancelled, shipped, returned } = *self;
        [quantity, cancelled, shipped, returned].iter().all(|pieces| *pieces >= 0)
            && cancelled.checked_add(shipped).is_some_and(|gone| gone <= quantity)
            && returned <= shipped
    }
}

/// The key of the delivery axis; `has_arrived` says that every shipment reached its customer.
pub fn delivery_state(lines: &[LinePieces], has_arrived: bool) -> Result<&'static str> {
    let shipped = sum(lines.iter().map(|line| line.shipped))?;
    let returned = sum(lines.iter().map(|line| line.returned))?;
    let open = sum(lines.iter().map(LinePieces::open))?;
    Ok(match (shipped, open) {
        (0, _) => "kNone",
        _ if returned == shipped => "kBack",
        _ if returned > 0 => "kPartBack",
        (_, 0) if has_arrived => "kArrived",
        (_, 0) => "kSent",
        _ => "kPart",
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use OrderState::{Accept, Cancel, Done, Draft, New, Wait};

    #[test]
    fn an_order_goes_its_way() {
        let prepaid = OrderFacts { needs_payment_first: true, ..OrderFacts::default() };
        assert_eq!(placed(prepaid), Wait);
        assert_eq!(
            check_move(Wait, New, Mover::Store, prepaid),
            Err(MoveError::Hindered("the order is not paid yet"))
        );
        let paid = OrderFacts { is_covered: true, ..prepaid };
        assert_eq!(placed(paid), New);
        assert_eq!(check_move(Wait, New, Mover::Store, paid), Ok(()));
        assert_eq!(check_move(New, Accept, Mover::Staff, paid), Ok(()));
        assert_eq!(check_move(Accept, Done, Mover::Staff, paid), Ok(()));
        for hindered in [OrderFacts { open: 1, ..paid }, OrderFacts { owes: true, ..paid }] {
            assert!(check_move(Accept, Done, Mover::Staff, hindered).is_err());
        }
    }

    #[test]
    fn cancelling_and_its_limits() {
        let facts = OrderFacts::default();
        assert_eq!(check_move(New, Cancel, Mover::Shopper, facts), Ok(()));
        assert_eq!(check_move(Accept, Cancel, Mover::Shopper, facts), Err(MoveError::NotYours));
        assert!(check_move(Accept, Cancel, Mover::Staff, OrderFacts { sent: 1, ..facts }).is_err());
        assert!(check_move(Wait, Cancel, Mover::Store, facts).is_err());
        assert_eq!(check_move(Wait, Cancel, Mover::Store, OrderFacts { is_overdue: true, ..facts }), Ok(()));
        assert!(check_move(Cancel, New, Mover::Staff, facts).is_err());
        assert_eq!(check_move(Cancel, New, Mover::Staff, OrderFacts { is_reserved: true, ..facts }), Ok(()));
        assert_eq!(
            check_move(Done, Cancel, Mover::Staff, facts),
            Err(MoveError::NoWay { from: Done, to: Cancel })
        );
    }

    #[test]
    fn payment_follows_from_sums() {
        let money = |total, held, paid, refunded| OrderMoney { total, held, paid, refunded }.state();
        assert_eq!(money(100, 0, 0, 0), "kNone");
        assert_eq!(money(100, 100, 0, 0), "kHeld");
        assert_eq!(money(100, 0, 40, 0), "kPart");
        assert_eq!(money(100, 0, 100, 0), "kPaid");
        assert_eq!(money(0, 0, 0, 0), "kPaid");
        assert_eq!(money(100, 0, 120, 0), "kOver");
        assert_eq!(money(100, 0, 100, 1), "kPartBack");
        assert_eq!(money(100, 0, 100, 100), "kBack");
    }

    #[test]
    fn delivery_follows_from_pieces() {
        let line =
            |quantity, cancelled, shipped, returned| LinePieces { quantity, cancelled, shipped, returned };
        let state = |lines: &[LinePieces]| delivery_state(lines, false).unwrap();
        assert_eq!(state(&[line(2, 0, 0, 0)]), "kNone");
        assert_eq!(state(&[line(2, 0, 1, 0)]), "kPart");
        assert_eq!(state(&[line(2, 1, 1, 0)]), "kSent");
        assert_eq!(delivery_state(&[line(2, 0, 2, 0)], true).unwrap(), "kArrived");
        assert_eq!(state(&[line(2, 0, 2, 1)]), "kPartBack");
        assert_eq!(state(&[line(2, 0, 2, 2), line(1, 1, 0, 0)]), "kBack");
        assert!(!line(2, 1, 2, 0).is_sound() && !line(2, 0, 1, 2).is_sound() && line(2, 1, 1, 1).is_sound());
    }

    proptest! {
        #[test]
        fn no_order_leaves_the_table(
            steps in prop::collection::vec((0_usize..6, 0_usize..3, any::<[bool; 5]>(), 0_i64..2, 0_i64..2), 0..40)
        ) {
            let mut state = Draft;
            for (to, mover, [first, covered, overdue, owes, reserved], sent, open) in steps {
                let to = OrderState::ALL[to];
                let mover = [Mover::Shopper, Mover::Staff, Mover::Store][mover];
                let facts = OrderFacts {
                    needs_payment_first: first, is_covered: covered, is_overdue: overdue, sent, open, owes,
                    is_reserved: reserved,
                };
                if check_move(state, to, mover, facts).is_ok() {
                    prop_assert!(TRANSITIONS.contains(&(state, to)));
                    prop_assert!(to != Cancel || sent == 0 || state == Wait);
                    prop_assert!(to != Done || (open == 0 && !owes));
                    state = to;
                }
            }
        }
    }
}
