//! The store's HTTP server: the gate, the envelope, sign-in, the agent's and the program's endpoint.
