//! Rules of the shop as plain functions and types: task states, note levels, hours, address lists.

pub mod address;
pub mod clock;
pub mod hours;
pub mod locales;
pub mod note;
pub mod operations;
pub mod registry;
pub mod task;
pub mod window;
