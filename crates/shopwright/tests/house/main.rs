//! The house rules that a compiler does not hold: arrows between crates, licences, tidiness.

mod arrows;
mod licences;
mod tidy;
mod workspace;
