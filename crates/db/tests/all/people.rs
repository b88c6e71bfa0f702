//! People, groups, options, rights, built-in names.

use std::collections::BTreeMap;

use db::options::{Scope, Setting};
use db::rights::Limits;
use db::{DbError, groups, options, rights, seed, users};
use jiff::civil::time;

use crate::fixture::{administrators, count, new_user, now, on_both, person};

on_both! {
    fn a_login_is_one_in_all_its_spellings(db: &Db) {
        let irina = person(db, "Irina", None);
        let muller = person(db, "mu\u{308}ller", None);
        let of = |login: &str| db.read(|tx| users::by_login(tx, login)).unwrap().map(|user| user.id);
        for login in ["Irina", "irina", "IRINA"] {
            assert_eq!(of(login), Some(irina), "{login}");
        }
        for login in ["müller", "MÜLLER", "mu\u{308}ller"] {
            assert_eq!(of(login), Some(muller), "{login}");
        }
        assert_eq!(of("irinа"), None, "the last letter is Cyrillic");
        assert_eq!(db.read(|tx| users::by_id(tx, muller)).unwrap().unwrap().login, "müller");
        let again = db.write(|tx| users::create(tx, &new_user("iRINA", None)));
        assert!(matches!(again, Err(DbError::Conflict(_))), "{again:?}");
        let like = |login: &str| db.write(|tx| users::looks_like(tx, login)).unwrap();
        assert_eq!(like("lrina").as_deref(), Some("Irina"));
        assert_eq!(like("IRINA").as_deref(), Some("Irina"));
        assert_eq!(like("oleg"), None);
    }

    fn people_of_an_older_build_keep_their_logins(db: &Db) {
        let older = |login: &str| {
            let sql = "insert into users (login, name, password_hash, created)
                       values (:login, 'x', 'x', '2026-01-01T00:00:00Z') returning id";
            db.write::<_, DbError>(|tx| tx.row(sql, &[("login", login.into())])?.unwrap().get::<i64>("id")).unwrap()
        };
        let (small, large, oleg) = (older("irina"), older("Irina"), older("Oleg"));
        let of = |login: &str| db.read(|tx| users::by_login(tx, login)).unwrap().map(|user| user.id);
        assert_eq!((of("irina"), of("Irina"), of("oleg")), (Some(small), Some(large), None));
        db.migrate().unwrap();
        assert_eq!((of("irina"), of("Irina"), of("IRINA")), (Some(small), Some(large), Some(small)));
        assert_eq!(of("oleg"), Some(oleg));
    }

    fn a_person_is_found_by_login_and_a_login_is_taken_once(db: &Db) {
        let id = person(db, "irina", None);
        let user = db.read(|tx| users::by_login(tx, "irina")).unwrap().unwrap();
        assert_eq!((user.id, user.name.as_str(), user.blocked, user.password_version), (id, "Name of irina", false, 1));
        assert_eq!(db.read(|tx| users::by_id(tx, id)).unwrap(), Some(user.clone()));
        assert_eq!(db.read(users::all).unwrap(), [user]);
        assert_eq!(db.read(|tx| users::by_login(tx, "Irina2")).unwrap(), None);
        let again = db.write(|tx| users::create(tx, &crate::fixture::new_user("irina", None)));
        assert!(matches!(again, Err(DbError::Conflict(_))), "{again:?}");
    }

    fn a_group_that_is_not_there_cannot_be_joined(db: &Db) {
        let lost = db.write(|tx| users::create(tx, &crate::fixture::new_user("irina", Some(777))));
        assert!(matches!(lost, Err(DbError::Dangling(_))), "{lost:?}");
    }

    fn the_main_group_comes_first_and_only_once(db: &Db) {
        let ids: Vec<i64> = ["A", "B", "C"].iter().map(|key| db.write(|tx| groups::create(tx, Some(key), key)).unwrap()).collect();
        let user = person(db, "irina", Some(ids[2]));
        for id in &ids {
            db.write(|tx| users::add_group(tx, user, *id)).unwrap();
            db.write(|tx| users::add_group(tx, user, *id)).unwrap();
        }
        assert_eq!(db.read(|tx| users::groups(tx, user)).unwrap(), [ids[2], ids[0], ids[1]]);
        db.write(|tx| users::set_main_group(tx, user, None)).unwrap();
        db.write(|tx| users::remove_group(tx, user, ids[1])).unwrap();
        assert_eq!(db.read(|tx| users::groups(tx, user)).unwrap(), [ids[0], ids[2]]);
    }

    fn an_administrator_has_every_command_and_a_newcomer_none(db: &Db) {
        let admins = administrators(db);
        let (admin, oleg) = (person(db, "admin", Some(admins)), person(db, "oleg", None));
        let commands = shop::operations::ALL.iter().filter(|operation| operation.command.is_some()).count();
        let granted = db.read(|tx| rights::granted(tx, admin)).unwrap();
        assert_eq!(granted.len(), commands);
        assert!(granted.is_sorted());
        assert!(db.read(|tx| rights::granted(tx, oleg)).unwrap().is_empty());
        assert!(db.read(|tx| users::is_administrator(tx, admin)).unwrap());
        assert!(!db.read(|tx| users::is_administrator(tx, oleg)).unwrap());
        db.write(|tx| users::add_group(tx, oleg, admins)).unwrap();
        assert!(db.read(|tx| users::is_administrator(tx, oleg)).unwrap());
        assert_eq!(db.read(|tx| rights::granted(tx, oleg)).unwrap().len(), commands);
    }

    fn rights_are_the_sum_over_the_person_and_all_groups(db: &Db) {
        let main = db.write(|tx| groups::create(tx, None, "Managers")).unwrap();
        let other = db.write(|tx| groups::create(tx, None, "Night shift")).unwrap();
        let irina = person(db, "irina", Some(main));
        let oleg = person(db, "oleg", None);
        db.write(|tx| -> Result<(), DbError> {
            users::add_group(tx, irina, other)?;
            assert!(rights::grant_to_user(tx, irina, "ORDERS")?);
            assert!(rights::grant_to_user(tx, irina, "ORDERS")?);
            assert!(rights::grant_to_group(tx, main, "AGENT_MEMORY_LIST")?);
            assert!(rights::grant_to_group(tx, other, "AGENT_MEMORY_LOAD")?);
            assert!(!rights::grant_to_group(tx, other, "AGENT_NONE")?);
            Ok(())
        }).unwrap();
        let granted = |id| db.read(|tx| rights::granted(tx, id)).unwrap();
        assert_eq!(granted(irina), ["AGENT_MEMORY_LIST", "AGENT_MEMORY_LOAD", "ORDERS"]);
        assert!(granted(oleg).is_empty());
        let is_granted = |command| db.read(|tx| rights::is_granted(tx, irina, command)).unwrap();
        assert!(is_granted("AGENT_MEMORY_LOAD") && is_granted("ORDERS") && !is_granted("USERS"));
        // Whoever may change files may read them, for as long.
        let develops = || (is_granted("AGENT_ENGINE_DEV_READ"), granted(irina).len());
        assert_eq!(develops(), (false, 3));
        db.write(|tx| rights::grant_to_user(tx, irina, "AGENT_ENGINE_DEV_WRITE")).unwrap();
        assert_eq!(develops(), (true, 5));
        assert!(granted(irina).is_sorted() && granted(oleg).is_empty());
        db.write(|tx| rights::revoke_from_user(tx, irina, "AGENT_ENGINE_DEV_WRITE")).unwrap();
        assert_eq!(develops(), (false, 3));
        db.write(|tx| rights::revoke_from_group(tx, main, "AGENT_MEMORY_LIST")).unwrap();
        assert!(!db.write(|tx| rights::revoke_from_user(tx, irina, "AGENT_MEMORY_LOAD")).unwrap());
        assert!(db.write(|tx| rights::revoke_from_user(tx, irina, "ORDERS")).unwrap());
        assert_eq!(granted(irina), ["AGENT_MEMORY_LOAD"]);
    }

    fn paths_come_in_the_stores_language(db: &Db) {
        let path = |language: &str| db.read(|tx| rights::path(tx, "AGENT_MEMORY_LIST", language)).unwrap().unwrap();
        assert_eq!(path("en"), "AI Assistant -> Memory -> Get list");
        assert_eq!(path("ru"), "ИИ-ассистент -> Память -> Получение списка");
        assert_eq!(path("xx"), path("en"));
        assert_eq!(db.read(|tx| rights::path(tx, "AGENT_NONE", "en")).unwrap(), None);
        let components = db.read(|tx| rights::row_path(tx, "AI_COMPONENTS", "ru")).unwrap();
        assert_eq!(components.as_deref(), Some("Программа -> Компоненты ИИ"));
        let paths = db.read(|tx| rights::paths(tx, "en")).unwrap();
        let both = db.read(|tx| rights::paths_and(tx, "ORDERS", "en")).unwrap();
        assert_eq!(both, (paths.clone(), db.read(|tx| rights::path(tx, "ORDERS", "en")).unwrap()));
        assert!(paths.keys().all(|command| command.starts_with("AGENT_")));
        assert_eq!(paths["AGENT_ENGINE_DB_SELECT"], "AI Assistant -> Direct access -> Database -> Read");
    }

    fn limits_are_read_as_they_were_set(db: &Db) {
        let limits = |command| db.read(|tx| rights::limits(tx, command)).unwrap();
        assert_eq!(limits("AGENT_MEMORY_LIST"), Limits::default());
        assert_eq!(limits("AGENT_NONE"), Limits::default());
        let own = Limits { hours: Some((time(22, 30, 0, 0), time(6, 0, 0, 0))), load: [1.5, 0.0, 20.0], ..Limits::default() };
        assert!(db.write(|tx| rights::set_limits(tx, "AGENT_MEMORY_LIST", &own)).unwrap());
        assert_eq!(limits("AGENT_MEMORY_LIST"), own);
        assert_eq!(limits("AGENT_MEMORY_LOAD"), Limits::default());
        let limited = db.read(rights::limited).unwrap();
        assert_eq!(limited, [("AGENT_MEMORY_LIST".to_owned(), own)]);
    }

    fn half_of_the_hours_reaches_to_midnight(db: &Db) {
        let hours = |begin: Option<&str>, end: Option<&str>| {
            db.write(|tx| {
                tx.run(
                    "update operations set hours_begin = :begin, hours_end = :end where command = 'ORDERS'",
                    &[("begin", begin.into()), ("end", end.into())],
                )?;
                rights::limits(tx, "ORDERS")
            })
        };
        let midnight = time(0, 0, 0, 0);
        assert_eq!(hours(Some("08:00"), None).unwrap().hours, Some((time(8, 0, 0, 0), midnight)));
        assert_eq!(hours(None, Some("17:30")).unwrap().hours, Some((midnight, time(17, 30, 0, 0))));
        assert_eq!(hours(Some("22:00"), Some("24:00")).unwrap().hours, Some((time(22, 0, 0, 0), midnight)));
        assert_eq!(hours(Some(""), Some(" ")).unwrap().hours, None);
        let broken = hours(Some("9"), Some("26:00")).unwrap();
        assert_eq!((broken.hours, broken.broken_hours), (None, Some(("9".to_owned(), "26:00".to_owned()))));
    }

    fn options_come_by_key_name_or_text(db: &Db) {
        let group = administrators(db);
        let user = person(db, "irina", Some(group));
        db.write(|tx| -> Result<(), DbError> {
            let language = options::create(tx, Scope::User, Some("LANG"), "Language")?;
            let russian = options::create_value(tx, language, Some("ru"), "Russian")?;
            let shift = options::create(tx, Scope::User, Some("SHIFT"), "Shift")?;
            let night = options::create_value(tx, shift, None, "Night")?;
            let phone = options::create(tx, Scope::User, Some("PHONE"), "Phone")?;
            let unset = options::create(tx, Scope::User, Some("UNSET"), "Unset")?;
            let keyless = options::create(tx, Scope::User, None, "Keyless")?;
            let empty = options::create(tx, Scope::User, Some(""), "Empty key")?;
            let of_group = options::create(tx, Scope::Group, Some("LANG"), "Language")?;
            let _ = unset;
            options::set_for_user(tx, user, language, &Setting::Text("was".into()))?;
            options::set_for_user(tx, user, language, &Setting::Listed(russian))?;
            options::set_for_user(tx, user, shift, &Setting::Listed(night))?;
            options::set_for_user(tx, user, phone, &Setting::Text("+7 900".into()))?;
            options::set_for_user(tx, user, keyless, &Setting::Text("hidden".into()))?;
            options::set_for_user(tx, user, empty, &Setting::Text("hidden".into()))?;
            options::set_for_group(tx, group, of_group, &Setting::Text("en".into()))
        }).unwrap();
        let wanted = [("LANG", "ru"), ("PHONE", "+7 900"), ("SHIFT", "Night")];
        let wanted: BTreeMap<String, String> = wanted.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        assert_eq!(db.read(|tx| users::options(tx, user)).unwrap(), wanted);
        assert_eq!(db.read(|tx| users::group_options(tx, group)).unwrap(), BTreeMap::from([("LANG".into(), "en".into())]));
        assert!(db.read(|tx| users::options(tx, person(db, "oleg", None))).unwrap().is_empty());
    }

    fn built_in_rows_are_added_once_and_the_owners_changes_stay(db: &Db) {
        let admins = administrators(db);
        let all = |db: &db::Db| ["operations", "grants", "names", "registry", "groups"].map(|table| count(db, table));
        let before = all(db);
        db.write(|tx| -> Result<(), DbError> {
            rights::revoke_from_group(tx, admins, "ORDERS")?;
            tx.run("update names set name = 'Bestellungen' where entity = 'operations' and name = 'Orders'", &[])?;
            tx.run("delete from grants where operation_id in (select id from operations where command = 'USERS')", &[])?;
            tx.run("delete from operations where command = 'USERS'", &[])?;
            Ok(())
        }).unwrap();
        db.write(|tx| seed::base(tx, now())).unwrap();
        db.write(|tx| seed::base(tx, now())).unwrap();
        let user = person(db, "admin", Some(admins));
        let granted = db.read(|tx| rights::granted(tx, user)).unwrap();
        assert!(!granted.contains(&"ORDERS".to_owned()), "a withdrawn grant came back");
        assert!(granted.contains(&"USERS".to_owned()), "a new operation is not granted");
        assert_eq!(db.read(|tx| rights::path(tx, "ORDERS", "en")).unwrap().unwrap(), "Program -> Bestellungen");
        let mut wanted = before;
        wanted[1] -= 1;
        // The removed operation's names stay behind under its old number.
        wanted[2] += shop::locales::LANGUAGES.len() as i64;
        assert_eq!(all(db), wanted);
    }

    fn the_administrators_are_named_in_every_language(db: &Db) {
        let admins = administrators(db);
        let name = |language| db.read(|tx| users::group(tx, admins, language)).unwrap().unwrap().name;
        assert_eq!((name("en"), name("ru")), ("Administrators".to_owned(), "Администраторы".to_owned()));
        assert_eq!(db.read(|tx| users::group(tx, 777, "en")).unwrap(), None);
        assert_eq!(db.read(|tx| groups::all(tx, "ru")).unwrap().len(), 1);
    }
}
