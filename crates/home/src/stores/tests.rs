//! Tests of the list of stores.

use std::path::PathBuf;

use proptest::prelude::*;

use crate::{Home, HomeError, StoreEntry, StoreList};

fn entry(name: &str, folder: &str) -> StoreEntry {
    StoreEntry { name: name.to_owned(), folder: PathBuf::from(folder) }
}

#[test]
fn no_file_is_an_empty_list() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Home::at(folder.path().join("home")).stores().unwrap(), StoreList::default());
}

#[test]
fn a_list_is_written_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("a/home"));
    let mut list = StoreList::default();
    list.put(entry("Tea", "/stores/tea"));
    list.put(entry("Чай", "/stores/чай"));
    list.last = Some(PathBuf::from("/stores/чай"));
    home.save_stores(&list).unwrap();
    assert_eq!(home.stores().unwrap(), list);
}

#[cfg(unix)]
#[test]
fn the_home_is_for_this_user_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    home.save_stores(&StoreList::default()).unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(home.path()), 0o700);
    assert_eq!(mode(&home.path().join("stores.toml")), 0o600);
}

#[test]
fn a_folder_is_listed_once_however_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let tea = folder.path().join("tea");
    std::fs::create_dir(&tea).unwrap();
    let mut list = StoreList::default();
    list.put(StoreEntry { name: "Tea".to_owned(), folder: tea.clone() });
    let dotted = folder.path().join("tea/../tea/.");
    list.put(StoreEntry { name: "Tea shop".to_owned(), folder: dotted.clone() });
    assert_eq!(list.stores.len(), 1);
    assert_eq!(list.find(&tea).unwrap().name, "Tea shop");
    list.last = Some(dotted);
    list.remove(&tea);
    assert_eq!(list, StoreList::default());
}

#[test]
fn a_damaged_list_is_named_and_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().to_owned());
    std::fs::write(home.path().join("stores.toml"), "stores = 3").unwrap();
    let error = home.stores().unwrap_err();
    assert!(matches!(error, HomeError::Broken { .. }));
    assert!(error.to_string().contains("stores.toml"), "{error}");
}

proptest! {
    #[test]
    fn reading_never_fails_badly(text in "(\\[\\[stores\\]\\]\n|name = \"|folder = |last|[=\"\\[\\]\n]|\u{feff}|.){0,40}") {
        let _ = StoreList::parse(&text);
    }

    #[test]
    fn any_list_survives(names in proptest::collection::vec(("\\PC{0,12}", "/[^/\\x00]{1,12}"), 0..6)) {
        let stores = names.into_iter().map(|(name, folder)| entry(&name, &folder)).collect();
        let list = StoreList { last: None, stores };
        prop_assert_eq!(StoreList::parse(&toml::to_string(&list).unwrap()).unwrap(), list);
    }
}
