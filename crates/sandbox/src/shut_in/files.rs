//! Landlock: no files, no connections, no signals to anybody.

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetError, RulesetStatus,
    Scope,
};

/// The newest version whose rights are known here; an older kernel enforces those that it knows.
const KNOWN: ABI = ABI::V6;

/// Takes from this process every right to files that Landlock knows; tells the version in force.
pub(super) fn no_files() -> Result<u32, String> {
    let restricted = restrict().map_err(|error| error.to_string())?;
    match (restricted.ruleset, restricted.landlock) {
        (RulesetStatus::NotEnforced, _) => {
            Err("the kernel does not have it or has it switched off".to_owned())
        }
        (_, LandlockStatus::Available { effective_abi, .. }) => {
            effective_abi.to_string().parse().map_err(|_| "its version is none".to_owned())
        }
        _ => Err("the kernel does not have it or has it switched off".to_owned()),
    }
}

fn restrict() -> Result<landlock::RestrictionStatus, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(KNOWN))?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?
        .restrict_self()
}
