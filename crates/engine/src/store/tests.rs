//! Tests of making a store where one is.

use super::*;

fn options(login: &str, password: &str) -> InitOptions {
    let admin_password = Zeroizing::new(password.to_owned());
    InitOptions { admin_login: login.to_owned(), admin_password, ..InitOptions::default() }
}

fn hash_of(db: &Db, login: &str) -> String {
    db.read(|tx| users::by_login(tx, login)).unwrap().unwrap().password_hash
}

#[test]
fn a_start_that_broke_off_goes_on_and_a_living_stores_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (root, config) = (folder.path(), folder.path().join(wire::paths::CONFIG));
    init(root, &options("admin", "first")).unwrap();
    assert!(matches!(init(root, &options("admin", "second")), Err(StoreError::Exists(_))));
    // Broken off before the settings were written: nobody ever worked.
    fs::rename(&config, root.join("config.json.kept")).unwrap();
    assert!(matches!(init(root, &options("boss", "second")), Err(StoreError::Taken)));
    init(root, &options("admin", "second")).unwrap();
    let db = open_db(root).unwrap();
    assert!(crate::gate::passwords::is_right("second", &hash_of(&db, "admin")));
    // Somebody signed in.
    fs::remove_file(&config).unwrap();
    let before = hash_of(&db, "admin");
    let ticket = db::tickets::NewTicket {
        hash: [0; 32],
        user_id: db.read(|tx| users::by_login(tx, "admin")).unwrap().unwrap().id,
        password_version: 1,
        address: "127.0.0.1".to_owned(),
        kind: "agent".to_owned(),
        now: Timestamp::now(),
    };
    db.write(|tx| db::tickets::create(tx, &ticket)).unwrap();
    assert!(matches!(init(root, &options("admin", "third")), Err(StoreError::Taken)));
    db.write(|tx| db::tickets::drop_one(tx, &[0; 32])).unwrap();
    // There is a second person.
    fs::rename(root.join("config.json.kept"), &config).unwrap();
    add_user(root, "irina", "Irina", None, "correct horse").unwrap();
    fs::remove_file(&config).unwrap();
    assert!(matches!(init(root, &options("admin", "third")), Err(StoreError::Taken)));
    assert_eq!(hash_of(&db, "admin"), before);
    assert!(!config.exists());
}

#[test]
fn a_password_nobody_could_sign_in_with_is_not_set() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let long = "x".repeat(1025);
    let words = init(root, &options("admin", &long)).unwrap_err().to_string();
    assert_eq!(words, "a password has at most 1024 bytes");
    init(root, &options("admin", "right")).unwrap();
    assert!(matches!(set_password(root, "admin", &long), Err(StoreError::Hash(HashError::TooLong))));
    assert!(matches!(add_user(root, "irina", "", None, &long), Err(StoreError::Hash(HashError::TooLong))));
    assert!(matches!(set_password(root, "admin", ""), Err(StoreError::Empty)));
}

#[test]
fn a_login_is_letters_digits_and_a_few_marks() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    init(root, &options("marta.l@shop", "correct horse")).unwrap();
    let too_long = "a".repeat(shop::login::LONGEST + 1);
    for login in ["../../x", "a/b", "an na", "a\nb", "a\0b", "a\\b", "a\u{200b}b", "mаrta", &too_long] {
        let told = add_user(root, login, "Anna", None, "correct horse");
        assert!(matches!(told, Err(StoreError::NotALogin(..))), "{login:?}: {told:?}");
    }
    for login in ["anna", "anna-2", "Анна_К", "mu\u{308}ller"] {
        add_user(root, login, "Anna", None, "correct horse").unwrap();
    }
    let add = |login: &str| add_user(root, login, "Anna", None, "correct horse");
    for login in ["Anna", "ANNA-2", "анна_к", "MÜLLER"] {
        assert!(matches!(add(login), Err(StoreError::LoginTaken(_))), "{login}");
    }
    add("coco1").unwrap();
    for login in ["cocol", "сосо1"] {
        assert!(matches!(add(login), Err(StoreError::LooksLike(_, there)) if there == "coco1"), "{login}");
    }
    set_password(root, "ANNA", "another horse").unwrap();
    assert!(!keep_password(root, "anna", "another horse").unwrap());
}
