//! Tests of the transport as a whole.
