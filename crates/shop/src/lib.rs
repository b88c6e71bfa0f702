//! Rules of the shop as plain functions and types: task states, note levels, hours, address lists.
