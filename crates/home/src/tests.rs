//! Tests of the home.
