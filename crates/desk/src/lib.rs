//! The program: list of stores, sign-in, credentials hand-over, web console on loopback.
