//! Passwords of the sample store's people: drawn once, kept beside the store.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use super::folder::write_private;
use crate::random_password;

/// Name of the file in the folder of a `try`.
const FILE: &str = "people.json";

/// Passwords by login.
pub(super) type Passwords = BTreeMap<String, String>;

/// The kept passwords, where all of these people have one.
pub(super) fn kept(dir: &Path, logins: &[&str]) -> Option<Passwords> {
    let text = std::fs::read(dir.join(FILE)).ok()?;
    let passwords: Passwords = serde_json::from_slice(&text).ok()?;
    logins.iter().all(|login| passwords.contains_key(*login)).then_some(passwords)
}

/// Draws passwords and keeps them.
pub(super) fn draw(dir: &Path, logins: &[&str]) -> Result<Passwords> {
    let drawn: Result<Passwords> =
        logins.iter().map(|login| Ok(((*login).to_owned(), random_password::draw()?))).collect();
    let drawn = drawn?;
    write_private(&dir.join(FILE), &(serde_json::to_string_pretty(&drawn)? + "\n"))?;
    Ok(drawn)
}

/// Drops the kept passwords, so that new ones are drawn.
pub(super) fn forget(dir: &Path) {
    let _ = std::fs::remove_file(dir.join(FILE));
}

#[cfg(test)]
mod tests {
    use super::{draw, kept};

    #[test]
    fn drawn_passwords_are_kept_and_private() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(kept(folder.path(), &["admin"]), None);
        let drawn = draw(folder.path(), &["admin", "oleg"]).unwrap();
        assert_eq!(kept(folder.path(), &["admin"]), Some(drawn));
        assert_eq!(kept(folder.path(), &["nobody"]), None);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let about = std::fs::metadata(folder.path().join("people.json")).unwrap();
            assert_eq!(about.permissions().mode() & 0o777, 0o600);
        }
    }
}
