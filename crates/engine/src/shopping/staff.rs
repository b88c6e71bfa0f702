//! What staff does with orders: accept, cancel, send, take back, write down money that came, give money back.
//!
//! Rights are the caller's to check. Every step is one transaction, and what may be repeated
//! after a lost answer bears a key or changes nothing when it is said again. What asks a
//! provider works outside of any transaction.

mod error;
mod money;
mod parcels;
mod returning;
mod states;

use db::Db;
use db::Tx;
use db::orders::{self, Order};
use jiff::Timestamp;

pub use db::orders::Arrived;
pub use db::refunds::{LineBack, NewRefund};
pub use error::{StaffDone, StaffError};
pub use money::{Left, LineLeft, MoneyCame, RefundOf};
pub use parcels::{CancelPieces, Pieces, Ship};
pub use returning::{AnswerReturn, AskReturn, ReceiveReturn, ReturnedLine};
pub use states::{MoveOrder, Note};

use super::Cx;
use crate::settings::Settings;
use crate::units::templates::Look;
use crate::units::visit::Visit;

/// A person at work on orders.
pub struct Staff<'a> {
    db: &'a Db,
    settings: &'a Settings,
    look: Look,
    user: Option<i64>,
    now: Timestamp,
}

impl<'a> Staff<'a> {
    /// A person, at a moment.
    pub fn new(db: &'a Db, settings: &'a Settings, user: Option<i64>, now: Timestamp) -> Self {
        let look = Visit::look(settings, &settings.config.language);
        Self { db, settings, look, user, now }
    }

    fn cx(&self) -> Cx<'_> {
        Cx { settings: self.settings, look: &self.look, now: self.now }
    }
}

fn order(tx: &mut Tx, id: i64) -> StaffDone<Order> {
    orders::by_id(tx, id)?.ok_or(StaffError::Unknown { what: "order", id })
}
