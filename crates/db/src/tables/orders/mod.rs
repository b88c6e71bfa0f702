//! Orders: placed in one transaction from totals that were worked out, moved by the table of states, sent and returned.

mod delivery;
mod place;
mod read;
mod returns;
mod state;

pub use delivery::{arrive, cancel_pieces, is_pickup, ship};
pub use place::{NewLine, NewOrder, PlaceError, Placed, Use, place};
pub use read::{
    AdjustmentRow, HistoryEntry, Line, Order, Selection, Shipment, address, adjustments, by_cart, by_id,
    by_token, has_ordered, history, lines, list, of_customer, shipments,
};
pub use returns::{Arrived, Return, answer_return, has_open_return, receive_return, request_return, returns};
pub(crate) use state::held;
pub use state::{StateError, cancel_overdue, due, is_key, move_to, note, overdue, recount};
