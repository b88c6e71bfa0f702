//! Notes, tasks, events, lists, the repository, AI tools.

use db::events::NewEvent;
use db::notes::{Fields, Level, Owner};
use db::repo::{NewSection, Whom};
use db::tasks::NewTask;
use db::{Db, DbError, ai_tools, events, groups, notes, registry, repo, tasks, translations};
use serde_json::json;

use crate::fixture::{administrators, later, now, on_both, person};

pub(crate) fn fields(name: &str, kind: &str) -> Fields {
    Fields {
        name: name.to_owned(),
        kind_key: kind.to_owned(),
        category: "Prices".to_owned(),
        info: "About it".to_owned(),
        body: format!("<p>{name}</p>"),
    }
}

fn note(db: &Db, owner: Owner, name: &str, kind: &str) -> i64 {
    db.write(|tx| notes::create(tx, owner, &fields(name, kind), now())).unwrap()
}

on_both! {
    fn notes_come_in_order_of_precedence_and_only_ones_own(db: &Db) {
        let group = db.write(|tx| groups::create(tx, Some("MANAGER"), "Managers")).unwrap();
        db.write(|tx| translations::set(tx, "groups", group, "ru", "Менеджеры")).unwrap();
        let (irina, oleg) = (person(db, "irina", Some(group)), person(db, "oleg", None));
        note(db, Owner::All, "z default", "kDefault");
        note(db, Owner::Own(irina), "b skill", "kSkill");
        note(db, Owner::Own(irina), "Я critical", "kCritical");
        note(db, Owner::Own(irina), "a skill", "kSkill");
        note(db, Owner::Group(group), "direct", "kDirect");
        note(db, Owner::All, "critical", "kCritical");
        note(db, Owner::All, "B own kind", "kRecipe");
        note(db, Owner::Own(oleg), "not irina's", "kCritical");
        note(db, Owner::Group(administrators(db)), "not irina's either", "kCritical");
        let heads = db.read(|tx| notes::visible(tx, irina, &[group], "ru")).unwrap();
        let order: Vec<_> = heads.iter().map(|head| head.name.as_str()).collect();
        assert_eq!(order, ["critical", "direct", "Я critical", "a skill", "b skill", "B own kind", "z default"]);
        let direct = &heads[1];
        assert_eq!((direct.level, direct.group.as_deref()), (Level::Group, Some("Менеджеры")));
        assert_eq!((heads[2].size, heads[2].edit_time.as_str()), ("<p>Я critical</p>".len() as u64, "2026-11-30T10:00:00Z"));
        assert_eq!(db.read(|tx| notes::count(tx, irina, &[group])).unwrap(), 7);
        assert_eq!(db.read(|tx| notes::critical(tx, irina, &[group])).unwrap(), [heads[2].id, heads[0].id]);
        assert_eq!(db.read(|tx| notes::count(tx, irina, &[])).unwrap(), 6);
    }

    fn notes_are_loaded_in_the_order_asked_each_once_and_never_another_persons(db: &Db) {
        let (irina, oleg) = (person(db, "irina", None), person(db, "oleg", None));
        let own: Vec<i64> = (0..5).map(|n| note(db, Owner::Own(irina), &format!("n{n}"), "kDefault")).collect();
        let other = note(db, Owner::Own(oleg), "secret", "kDefault");
        let mut asked = vec![own[3], other, own[0], own[3], 99_999];
        asked.extend(100_000..103_000);
        asked.push(own[4]);
        let loaded = db.read(|tx| notes::load(tx, irina, &[], &asked, "en")).unwrap();
        let ids: Vec<_> = loaded.iter().map(|note| note.head.id).collect();
        assert_eq!(ids, [own[3], own[0], own[4]]);
        assert_eq!(loaded[0].body, "<p>n3</p>");
        assert!(db.read(|tx| notes::load(tx, irina, &[], &[], "en")).unwrap().is_empty());
        assert_eq!(db.read(|tx| notes::find(tx, irina, &[], other, "en")).unwrap(), None);
    }

    fn a_note_is_changed_and_removed(db: &Db) {
        let irina = person(db, "irina", None);
        let id = note(db, Owner::Own(irina), "old", "kDefault");
        assert!(db.write(|tx| notes::update(tx, id, &fields("new", "kSkill"), later(60))).unwrap());
        let found = db.read(|tx| notes::find(tx, irina, &[], id, "en")).unwrap().unwrap();
        assert_eq!((found.head.name.as_str(), found.head.kind_key.as_str()), ("new", "kSkill"));
        assert_eq!(found.head.edit_time, "2026-11-30T10:01:00Z");
        let row = db.write(|tx| notes::row(tx, id)).unwrap().unwrap();
        assert_eq!(row, json!({
            "id": id, "level": "own", "user_id": irina, "group_id": null, "kind_key": "kSkill", "name": "new",
            "category": "Prices", "info": "About it", "body": "<p>new</p>", "edit_time": "2026-11-30T10:01:00Z",
        }));
        assert!(db.write(|tx| notes::remove(tx, id)).unwrap());
        assert!(!db.write(|tx| notes::remove(tx, id)).unwrap());
        assert!(!db.write(|tx| notes::update(tx, id, &fields("x", "kSkill"), now())).unwrap());
        assert_eq!(db.write(|tx| notes::row(tx, id)).unwrap(), None);
    }

    fn tasks_are_counted_as_the_shops_rule_says(db: &Db) {
        let people = ["admin", "irina", "oleg"].map(|login| person(db, login, None));
        let mut given = Vec::new();
        for (n, state) in shop::task::STATES.iter().enumerate() {
            for creator in people {
                for executor in people {
                    // Different numbers of tasks, so that a mix-up cannot come out right.
                    for _ in 0..=((creator * 3 + executor * 7 + n as i64) % 4) {
                        let task = NewTask {
                            creator_id: creator, executor_id: executor, state: (*state).to_owned(), name: "Do".into(),
                            body: String::new(), due: Some(later(3600)), now: now(),
                        };
                        db.write(|tx| tasks::create(tx, &task)).unwrap();
                        given.push(task);
                    }
                }
            }
        }
        for me in people {
            let wanted = |rule: fn(&str, bool, bool) -> bool| -> Vec<(String, u64)> {
                shop::task::STATES.iter().filter_map(|state| {
                    let fits = |task: &&NewTask| task.state == *state && rule(state, task.creator_id == me, task.executor_id == me);
                    let count = given.iter().filter(fits).count() as u64;
                    (count > 0).then(|| ((*state).to_owned(), count))
                }).collect()
            };
            let got = |counts: Vec<tasks::StateCount>| counts.into_iter().map(|c| (c.state, c.count)).collect::<Vec<_>>();
            assert_eq!(got(db.read(|tx| tasks::waiting(tx, me, "en")).unwrap()), wanted(shop::task::waits_for));
            assert_eq!(got(db.read(|tx| tasks::given(tx, me, "en")).unwrap()), wanted(shop::task::is_given));
        }
        let names: Vec<_> = db.read(|tx| tasks::given(tx, people[0], "ru")).unwrap().into_iter().map(|c| c.name).collect();
        assert_eq!(names, ["Новая", "Переназначена", "Принята", "Требует уточнения", "Выполнена"]);
    }

    fn a_task_moves_and_gets_notes(db: &Db) {
        let irina = person(db, "irina", None);
        let task = NewTask {
            creator_id: irina, executor_id: irina, state: shop::task::NEW.into(), name: "Do".into(), body: "It".into(),
            due: None, now: now(),
        };
        let id = db.write(|tx| tasks::create(tx, &task)).unwrap();
        db.write(|tx| tasks::add_note(tx, id, irina, "Done?", now())).unwrap();
        assert!(db.write(|tx| tasks::set_state(tx, id, shop::task::CLOSE, later(1))).unwrap());
        assert!(!db.write(|tx| tasks::set_state(tx, 777, shop::task::CLOSE, later(1))).unwrap());
        assert!(db.read(|tx| tasks::waiting(tx, irina, "en")).unwrap().is_empty());
    }

    fn an_event_comes_back_as_it_was_raised(db: &Db) {
        let irina = person(db, "irina", None);
        let data = json!({"order": 17, "sum": 19.9, "note": "Ёлка \u{1F384} \"quoted\"", "list": [null, true]});
        let new = NewEvent {
            user_id: None, to_user: Some(irina), to_group: None, princ_id: Some(irina), key: "kOrderNew".into(),
            data: data.clone(), now: now(),
        };
        let id = db.write(|tx| events::create(tx, &new)).unwrap();
        let event = db.read(|tx| events::find(tx, id)).unwrap().unwrap();
        assert_eq!((event.user_id, event.to_user, event.princ_id), (None, Some(irina), Some(irina)));
        assert_eq!((event.state.as_str(), event.time.as_str(), event.data), ("kNew", "2026-11-30T10:00:00Z", data));
        assert_eq!(db.read(|tx| events::find(tx, id + 1)).unwrap(), None);
    }

    fn lists_keep_their_order_and_take_the_owners_keys(db: &Db) {
        let keys = |branch: &str| db.read(|tx| registry::values(tx, branch, "ru")).unwrap();
        assert_eq!(keys("note_kind")[0], ("kCritical".to_owned(), "Критическая".to_owned()));
        db.write(|tx| registry::create(tx, "note_kind", "kRecipe", "Recipe")).unwrap();
        assert_eq!(keys("note_kind").last().unwrap(), &("kRecipe".to_owned(), "Recipe".to_owned()));
        assert_eq!(db.read(|tx| notes::kinds(tx, "ru")).unwrap(), keys("note_kind"));
        assert!(db.read(|tx| registry::has(tx, "note_kind", "kRecipe")).unwrap());
        assert!(!db.read(|tx| registry::has(tx, "task_state", "kRecipe")).unwrap());
        assert!(keys("nothing").is_empty());
        let again = db.write(|tx| registry::create(tx, "note_kind", "kRecipe", "Recipe"));
        assert!(matches!(again, Err(DbError::Conflict(_))));
    }

    fn a_section_shows_only_with_a_flag_and_flags_add_up(db: &Db) {
        let group = administrators(db);
        let (irina, oleg) = (person(db, "irina", Some(group)), person(db, "oleg", None));
        let section = |parent, skey: Option<&str>, name: &str| {
            let new = NewSection {
                parent, skey: skey.map(str::to_owned), name: name.into(), descr: format!("About {name}"), kind_key: "kDefault".into(),
            };
            db.write(|tx| repo::create_section(tx, &new)).unwrap()
        };
        let top = section(None, None, "Work");
        let second = section(None, None, "Archive");
        let prices = section(Some(top), Some("PRICES"), "Prices");
        let deep = section(Some(prices), None, "September");
        db.write(|tx| -> Result<(), DbError> {
            repo::set_flags(tx, prices, Whom::User(irina), &["store_write", "topic_list"])?;
            repo::set_flags(tx, prices, Whom::Group(group), &["store_read", "topic_list"])?;
            repo::set_flags(tx, second, Whom::User(irina), &["topic_list"])?;
            repo::set_flags(tx, deep, Whom::User(irina), &["topic_list"])?;
            repo::set_flags(tx, deep, Whom::User(irina), &[])?;
            repo::set_flags(tx, deep, Whom::User(oleg), &["store_read"])?;
            tx.run(
                "insert into repo_topics (section_id, user_id, name, name_folded, created, changed)
                 values (:section, :user_id, 'T', 't', 'x', 'x')",
                &[("section", prices.into()), ("user_id", irina.into())],
            )?;
            Ok(())
        }).unwrap();
        let wrong = db.write(|tx| repo::set_flags(tx, top, Whom::User(irina), &["all"]));
        assert!(matches!(wrong, Err(DbError::Parameter(_))));
        let sections = db.read(|tx| repo::sections(tx, irina, &[group])).unwrap();
        let seen: Vec<_> = sections.iter().map(|s| (s.path.as_str(), s.topics, s.may.join(" "))).collect();
        assert_eq!(seen, [
            ("Work -> Prices", 1, "topic_list store_read store_write".to_owned()),
            ("Archive", 0, "topic_list".to_owned()),
        ]);
        assert_eq!(sections[0].skey.as_deref(), Some("PRICES"));
        let sections = db.read(|tx| repo::sections(tx, oleg, &[])).unwrap();
        assert_eq!(sections.iter().map(|s| s.path.as_str()).collect::<Vec<_>>(), ["Work -> Prices -> September"]);
    }

    fn tools_are_counted_and_folders_are_not(db: &Db) {
        assert_eq!(db.read(ai_tools::count).unwrap(), 0);
        db.write(|tx| -> Result<(), DbError> {
            let folder = ai_tools::create_folder(tx, None, "Catalogue")?;
            let tool = ai_tools::create_tool(tx, Some(folder), "AI_PRODUCTS", "Products", "Products of the store")?;
            ai_tools::create_tool(tx, None, "AI_ORDERS", "Orders", "Orders of the store")?;
            let command = ai_tools::create_command(tx, tool, "CmdList", "Lists")?;
            let field = shop::ai_field::Field { name: "page".into(), kind: "int".into(), required: false, default: Some("1".into()), descr: "Page".into() };
            ai_tools::create_field(tx, command, &field)?;
            Ok(())
        }).unwrap();
        assert_eq!(db.read(ai_tools::count).unwrap(), 2);
    }
}
