//! Stock: what lies where, what is promised, what came and went.
//!
//! Rows of `stock` are always held in the order of their numbers, so that two orders cannot wait for each other.

mod available;
mod moves;

pub use available::{Availability, held_by_cart, of_variants};
pub use moves::{
    Holder, Move, ReserveError, Wanted, add_move, hold, release, release_all_expired, release_pieces,
    reserve, ship,
};
