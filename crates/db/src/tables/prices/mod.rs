//! Prices: the lists that are open to a customer, and which price of them holds.

mod choose;
mod set;

pub use choose::{Price, PriceList, Prices, all_lists, lowest_before, of_variants, open_lists};
pub use set::{NewPrice, set};
