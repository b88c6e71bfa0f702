//! Single keys of `config.json`, the rest of the file left as its owner wrote it.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::{Config, ConfigError, Settings};
use crate::new_file::replace;

/// Keys that belong to the machine and not to the store.
const OF_THE_MACHINE: [&str; 4] = ["listen", "url", "database", "trusted_proxies"];

/// The file as it is.
pub(crate) type ConfigFile = Map<String, Value>;

/// Reads the file.
pub(crate) fn read(root: &Path) -> Result<ConfigFile, ConfigError> {
    let path = root.join(wire::paths::CONFIG);
    let text = fs::read_to_string(&path)?;
    parse(&text)
}

/// Understands the text of a file; it must be one that an engine takes.
pub(crate) fn parse(text: &str) -> Result<ConfigFile, ConfigError> {
    let text = text.trim_start_matches('\u{feff}');
    Settings::of(Config::parse(text)?)?;
    // What was understood above is an object.
    Ok(serde_json::from_str(text).unwrap_or_default())
}

/// The text of a file.
pub(crate) fn text(file: &ConfigFile) -> String {
    serde_json::to_string_pretty(file).unwrap_or_default() + "\n"
}

/// Writes the file as a whole, readable by whom the old one was, else by its owner only.
pub(crate) fn write(path: &Path, file: &ConfigFile) -> io::Result<()> {
    replace(path, &text(file))
}

/// Names another database in the settings.
pub(crate) fn set_database(root: &Path, url: &str) -> Result<(), ConfigError> {
    let mut file = read(root)?;
    file.insert("database".to_owned(), url.into());
    write(&root.join(wire::paths::CONFIG), &file).map_err(ConfigError::Write)
}

/// The settings as a backup holds them: the address of a server is the machine's, and holds a password.
pub(crate) fn for_backup(mut file: ConfigFile) -> ConfigFile {
    let on_server =
        file.get("database").and_then(Value::as_str).is_some_and(|url| !url.starts_with("sqlite:"));
    if on_server {
        file.remove("database");
    }
    file
}

/// The settings of a backup on this machine.
pub(crate) fn of_backup(mut file: ConfigFile, here: Option<&ConfigFile>, database: &str) -> ConfigFile {
    if let Some(here) = here {
        for key in OF_THE_MACHINE {
            match here.get(key) {
                Some(value) => file.insert(key.to_owned(), value.clone()),
                None => file.remove(key),
            };
        }
    }
    file.insert("database".to_owned(), database.into());
    file
}

/// A database's address without its password.
pub fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    // The parameters may be secrets too.
    let (start, query) = rest.split_once('?').unwrap_or((rest, ""));
    match start.rsplit_once('@') {
        Some((login, server)) => {
            let person = login.split([':', '/', '#']).next().unwrap_or_default();
            format!("{scheme}://{person}@{server}")
        }
        // The question mark may stand in a password.
        None if query.contains('@') => format!("{scheme}://…"),
        None => format!("{scheme}://{start}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_changes_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(wire::paths::CONFIG);
        fs::write(&file, "\u{feff}{\"own\": {\"b\": 1, \"a\": 2}, \"database\": \"sqlite:core/store.db\", \"name\": \"я\"}")
            .unwrap();
        set_database(folder.path(), "postgres://shop@localhost/shop").unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let keys: Vec<String> = serde_json::from_str::<ConfigFile>(&text).unwrap().keys().cloned().collect();
        assert_eq!(keys, ["own", "database", "name"]);
        assert!(text.contains("postgres://shop@localhost/shop") && text.contains('я'));
        fs::write(&file, "{\"database\": 1}").unwrap();
        assert!(set_database(folder.path(), "x").is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "{\"database\": 1}");
    }

    #[cfg(unix)]
    #[test]
    fn owner_mode_and_link_of_the_file_stay() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, real) = (folder.path().join(wire::paths::CONFIG), folder.path().join("etc.json"));
        fs::write(&real, "{\"database\": \"sqlite:core/store.db\"}").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        // Only the system's administrator can.
        let gives = chown(&real, Some(65534), Some(65534)).is_ok();
        symlink("etc.json", &file).unwrap();
        // What a killed command left is neither followed nor lent its mode.
        let stale = folder.path().join("etc.json.new");
        fs::write(&stale, "").unwrap();
        fs::set_permissions(&stale, fs::Permissions::from_mode(0o666)).unwrap();
        set_database(folder.path(), "sqlite:core/other.db").unwrap();
        let meta = fs::symlink_metadata(&real).unwrap();
        assert!(fs::symlink_metadata(&file).unwrap().is_symlink() && !stale.exists());
        assert_eq!(meta.mode() & 0o777, 0o640);
        assert_eq!(gives, (meta.uid(), meta.gid()) == (65534, 65534));
        assert!(fs::read_to_string(&real).unwrap().contains("other.db"));
        // A new file is its owner's only.
        let new = folder.path().join("new.json");
        write(&new, &ConfigFile::new()).unwrap();
        assert_eq!(fs::metadata(&new).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (url, words) in [
            ("postgres://shop:secret@db:5432/shop", "postgres://shop@db:5432/shop"),
            ("postgres://shop:se@cret:x@db/shop?password=secret", "postgres://shop@db/shop"),
            ("postgres://shop:se/cret#x@db/shop", "postgres://shop@db/shop"),
            ("postgres://shop:se?cret@db/shop", "postgres://…"),
            ("postgres://db/shop", "postgres://db/shop"),
            ("postgres://db?password=secret", "postgres://db"),
            ("sqlite:core/store.db", "sqlite:core/store.db"),
        ] {
            assert_eq!(shown(url), words);
        }
    }

    #[test]
    fn a_backup_takes_no_servers_address_and_leaves_the_machines_own() {
        let file = |text: &str| serde_json::from_str::<ConfigFile>(text).unwrap();
        let kept =
            for_backup(file(r#"{"database": "postgres://u:p@h/d", "name": "A", "listen": "1.2.3.4:5"}"#));
        assert!(!kept.contains_key("database"));
        let here = file(r#"{"name": "B", "listen": "127.0.0.1:1", "database": "sqlite:x.db"}"#);
        let both = of_backup(kept.clone(), Some(&here), "sqlite:x.db");
        assert_eq!(
            Value::Object(both),
            serde_json::json!({"name": "A", "listen": "127.0.0.1:1", "database": "sqlite:x.db"})
        );
        let fresh = of_backup(kept, None, "sqlite:y.db");
        assert_eq!(fresh["listen"], "1.2.3.4:5");
    }
}
