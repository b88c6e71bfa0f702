//! Several engine nodes on one PostgreSQL: started at once, killed, behind a round-robin.
//!
//! Runs where `TEST_DATABASE_URL` names a server.

#[cfg(test)]
mod chaos;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod direct;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod together;
