//! Orders: placed in one transaction from totals that were worked out, moved by the table of states, sent and returned.

mod delivery;
mod place;
mod read;
mod state;

pub use delivery::{has_open_return, receive_return, request_return, ship};
pub use place::{NewLine, NewOrder, PlaceError, Placed, Use, place};
pub use read::{
    AdjustmentRow, HistoryEntry, Line, Order, Selection, Shipment, address, adjustments, by_cart, by_id,
    by_token, has_ordered, history, lines, list, of_customer, shipments,
};
pub use state::{StateError, cancel_overdue, move_to, note, overdue, recount};
