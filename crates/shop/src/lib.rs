//! Rules of the shop as plain functions and types: task states, note levels, hours, address lists.

pub mod address;
pub mod clock;
pub mod hours;
pub mod window;
