//! What the domain modules promise.

use db::options::{Setting, Target};
use db::repo::{NewSection, Whom};
use db::tasks::NewTask;
use db::users::NewUser;
use db::{Db, DbError, events, groups, options, registry, repo, rights, seed, tasks, tickets, users};

use crate::place::{later, now, on_both};

fn person(db: &Db, login: &str, group: Option<i64>) -> i64 {
    let new = NewUser {
        login: login.to_owned(),
        name: format!("Name of {login}"),
        password_hash: "hash".to_owned(),
        main_group: group,
        now: now(),
    };
    db.write(|tx| users::create(tx, &new)).unwrap()
}

fn admin_group(db: &Db) -> i64 {
    db.read(|tx| groups::by_skey(tx, groups::ADMIN, "en")).unwrap().unwrap().id
}

on_both! {
    fn a_person_is_found_by_login_and_a_login_is_taken_once(db: &Db) {
        let id = person(db, "irina", None);
        let user = db.read(|tx| users::by_login(tx, "irina")).unwrap().unwrap();
        assert_eq!((user.id, user.name.as_str(), user.blocked, user.password_version), (id, "Name of irina", false, 1));
        assert_eq!(db.read(|tx| users::by_login(tx, "Irina")).unwrap(), None);
        let new = NewUser { login: "irina".into(), name: "x".into(), password_hash: "x".into(), main_group: None, now: now() };
        let again = db.write(|tx| users::create(tx, &new));
        assert!(matches!(again, Err(DbError::Conflict(_))), "{again:?}");
    }

    fn an_administrator_has_every_command_and_a_newcomer_none(db: &Db) {
        let admins = admin_group(db);
        let (admin, oleg) = (person(db, "admin", Some(admins)), person(db, "oleg", None));
        let commands = shop::operations::ALL.iter().filter(|operation| operation.command.is_some()).count();
        let granted = db.read(|tx| rights::granted(tx, admin)).unwrap();
        assert_eq!(granted.len(), commands);
        assert!(granted.is_sorted());
        assert_eq!(db.read(|tx| rights::granted(tx, oleg)).unwrap(), Vec::<String>::new());
        assert!(db.read(|tx| users::is_administrator(tx, admin)).unwrap());
        assert!(!db.read(|tx| users::is_administrator(tx, oleg)).unwrap());
        db.write(|tx| users::add_group(tx, oleg, admins)).unwrap();
        assert!(db.read(|tx| users::is_administrator(tx, oleg)).unwrap());
        assert_eq!(db.read(|tx| rights::granted(tx, oleg)).unwrap().len(), commands);
    }

    fn paths_come_in_the_stores_language(db: &Db) {
        let path = |language: &str| db.read(|tx| rights::path(tx, "AGENT_MEMORY_LIST", language)).unwrap().unwrap();
        assert_eq!(path("en"), "AI Assistant -> Memory -> Get list");
        assert_eq!(path("ru"), "ИИ-ассистент -> Память -> Получение списка");
        assert_eq!(path("xx"), path("en"));
        assert_eq!(db.read(|tx| rights::path(tx, "AGENT_NONE", "en")).unwrap(), None);
        assert_eq!(
            db.read(|tx| rights::row_path(tx, "AI_COMPONENTS", "ru")).unwrap().unwrap(),
            "Программа -> Компоненты ИИ"
        );
        let paths = db.read(|tx| rights::paths(tx, "en")).unwrap();
        assert!(paths.keys().all(|command| command.starts_with("AGENT_")));
        assert_eq!(paths["AGENT_ENGINE_DB_SELECT"], "AI Assistant -> Direct access -> Database -> Read");
    }
}
