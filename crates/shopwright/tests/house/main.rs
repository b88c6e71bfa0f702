//! The house rules that a compiler does not hold: arrows between crates and between files, licences, tidiness.

#[cfg(test)]
mod arrows;
#[cfg(test)]
mod circles;
#[cfg(test)]
mod deploy;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod licences;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod workspace;
