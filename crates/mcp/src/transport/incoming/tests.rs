//! Tests of this part of the transport.
