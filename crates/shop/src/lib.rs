//! Rules of the shop as plain functions and types: money, taxes, totals, stock, order states, task states, note levels, hours, address lists.

pub mod address;
pub mod ai_field;
pub mod caseless;
pub mod clock;
pub mod hours;
pub mod locales;
pub mod login;
pub mod money;
pub mod note;
pub mod operations;
pub mod order;
pub mod price;
pub mod promotion;
pub mod refund;
pub mod registry;
pub mod stock;
pub mod task;
pub mod tax;
pub mod text;
pub mod totals;
pub mod window;
