//! The house rules that a compiler does not hold: arrows between crates, licences, tidiness.

#[cfg(test)]
mod arrows;
#[cfg(test)]
mod deploy;
#[cfg(test)]
mod licences;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod workspace;
