//! Files, data and settings of the store. See spec: tools.md, engine.

pub mod db_locks;
pub mod db_unlocks;

#[cfg(test)]
mod tests;
