//! The sample store's units and templates, which a new store begins with and every agent may change.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// Path from the store's root, and content.
type StoreFile = (&'static str, &'static [u8]);

/// All files, by path.
static FILES: &[StoreFile] = include!(concat!(env!("OUT_DIR"), "/store_files.rs"));

/// Lays the files into a store. What is there already stays as it is.
pub(crate) fn lay(root: &Path) -> io::Result<()> {
    for (path, content) in FILES {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        match File::create_new(&path) {
            Ok(mut file) => file.write_all(content)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_there_stays_and_what_is_missing_comes() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("units")).unwrap();
        fs::write(root.path().join("units/home.js"), "mine").unwrap();
        lay(root.path()).unwrap();
        lay(root.path()).unwrap();
        assert_eq!(fs::read_to_string(root.path().join("units/home.js")).unwrap(), "mine");
        for (path, content) in FILES.iter().filter(|(path, _)| *path != "units/home.js") {
            assert_eq!(fs::read(root.path().join(path)).unwrap(), *content, "{path}");
        }
    }

    #[test]
    fn every_unit_has_a_manifest_and_words_in_both_languages() {
        let paths: BTreeSet<&str> = FILES.iter().map(|(path, _)| *path).collect();
        for path in paths.iter().filter(|path| path.ends_with(".js") && path.starts_with("units/")) {
            assert!(paths.contains(path.replace(".js", ".json").as_str()), "{path}");
        }
        for path in &paths {
            let Some(other) =
                path.strip_suffix("words.en.json").map(|before| format!("{before}words.ru.json"))
            else {
                continue;
            };
            let keys = |path: &str| -> BTreeSet<String> {
                let content = FILES.iter().find(|(known, _)| *known == path).unwrap().1;
                let words: serde_json::Map<String, serde_json::Value> =
                    serde_json::from_slice(content).unwrap();
                // Counted nouns have other forms in each language.
                let plural = |key: &String| {
                    ["one", "few", "many", "other"]
                        .iter()
                        .find_map(|form| key.strip_suffix(&format!(".{form}")).map(str::to_owned))
                };
                words.keys().map(|key| plural(key).unwrap_or_else(|| key.clone())).collect()
            };
            assert_eq!(keys(path), keys(&other), "{path}");
        }
    }
}
