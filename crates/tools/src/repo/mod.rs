//! Working data the assistants keep for each other.
