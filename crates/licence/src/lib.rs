//! The licence token: its form, signing, checking.
