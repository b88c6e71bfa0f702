//! The database on both sides: SQLite always, PostgreSQL where `TEST_DATABASE_URL` names a server.

mod domain;
mod place;
