//! Notes in the store.
