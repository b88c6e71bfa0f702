//! Working data the assistants keep for each other. See spec: tools.md, repo.

pub mod list;

#[cfg(test)]
mod tests;
