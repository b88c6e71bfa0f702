//! Notes in the store's memory. See spec: tools.md, memory.

mod allowed;
mod body;
pub mod list;
pub mod load;
pub mod remove;
pub mod save;
mod weight;

#[cfg(test)]
mod tests;
