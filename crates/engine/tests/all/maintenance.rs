//! A database that is closed under its engine, and what a killed move or restore leaves at each of its steps.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use db::transfer::{self, TransferError};
use db::{Db, DbError, FreezeReason, WriteFreeze};
use engine::maintenance::{self, MaintenanceError, Migration, RestoreOptions};
use engine::{Engine, Options, StartError};
use serde_json::{Value, json};

use crate::client::{TestRequest, ticket};
use crate::test_store::{TestStore, on_both};

/// Somewhere else to move to.
const OTHER: &str = "sqlite:core/other.db";

fn address(root: &Path) -> String {
    let config: Value =
        serde_json::from_str(&std::fs::read_to_string(root.join("config.json")).unwrap()).unwrap();
    config["database"].as_str().unwrap().to_owned()
}

/// Does what waits for a database, on a thread that may.
async fn aside<T: Send + 'static>(root: &Path, work: impl FnOnce(&Path) -> T + Send + 'static) -> T {
    let root = root.to_owned();
    tokio::task::spawn_blocking(move || work(&root)).await.unwrap()
}

fn open(root: &Path) -> Db {
    Db::open(&address(root), root).unwrap()
}

fn sums(db: &Db) -> Vec<(String, String)> {
    let tables = transfer::tables().unwrap();
    db.read::<_, TransferError>(|tx| {
        tables
            .iter()
            .map(|table| Ok((table.name.clone(), transfer::read(tx, table, &mut |_, _| Ok(()))?.hex())))
            .collect()
    })
    .unwrap()
}

fn migrate(root: &Path, to: &str, replace: bool) -> Result<maintenance::Migrated, MaintenanceError> {
    maintenance::migrate(root, &Migration { to: to.to_owned(), replace }, &mut |_| ControlFlow::Continue(()))
}

on_both! {
    async fn what_writes_to_a_closed_database_finds_the_store_closed(store: TestStore) {
        let ask = |tool, params| TestRequest::tool(tool, params);
        let ticket = ticket(store, "irina").await;
        let save = ask("memory_save", json!({"name": "n"})).with("session", ticket.clone());
        let list = ask("memory_list", json!({})).with("session", ticket);
        save.result(store).await.unwrap();
        let before = store.dump();
        let closure = WriteFreeze::new(FreezeReason::Moving).unwrap();
        let closing = closure.clone();
        aside(store.root(), move |root| open(root).freeze_writes(&closing).unwrap()).await;
        // At once, and soon for those too who only read.
        assert_eq!(save.result(store).await, Err("SHOP_IS_LOCK".to_owned()));
        let since = Instant::now();
        while list.result(store).await.is_ok() {
            assert!(since.elapsed() < Duration::from_secs(3));
        }
        assert_eq!(list.result(store).await, Err("SHOP_IS_LOCK".to_owned()));
        assert_eq!(TestRequest::sign_in("irina", "x").result(store).await, Err("SHOP_IS_LOCK".to_owned()));
        assert!(store.dump() == before);
        aside(store.root(), |root| open(root).unfreeze_writes().unwrap()).await;
        let since = Instant::now();
        while save.result(store).await.is_err() {
            assert!(since.elapsed() < Duration::from_secs(3));
        }
        list.result(store).await.unwrap();
        // It starts on a closed database only in a store that is closed for people.
        store.stop().await;
        aside(store.root(), move |root| open(root).freeze_writes(&closure.because(FreezeReason::Moved)).unwrap()).await;
        let options = Options { listen: Some("127.0.0.1:0".parse().unwrap()), ..Options::default() };
        let refused = Engine::start(store.root().to_owned(), options).await;
        assert!(matches!(refused.err(), Some(StartError::Closed(_))));
        store.mark("shop.lock", true);
        store.restart().await;
        assert_eq!(list.result(store).await, Err("SHOP_IS_LOCK".to_owned()));
    }

    async fn a_move_killed_between_its_last_steps_goes_on(store: TestStore) {
        store.stop().await;
        aside(store.root(), |root| {
            let (first, before) = (address(root), sums(&open(root)));
            migrate(root, OTHER, false).unwrap();
            let (from, to) = (Db::open(&first, root).unwrap(), Db::open(OTHER, root).unwrap());
            let moved = from.write_freeze().unwrap().unwrap();
            assert_eq!(moved.reason, FreezeReason::Moved);
            let marker = root.join("shop.lock");
            let killed = |named: &str, old: FreezeReason| {
                let file = root.join("config.json");
                let mut config: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
                config["database"] = json!(named);
                std::fs::write(&file, config.to_string()).unwrap();
                std::fs::write(&marker, "closed by `shopwright store migrate`\n").unwrap();
                from.freeze_writes(&moved.because(old)).unwrap();
                to.freeze_writes(&moved.because(FreezeReason::Copy)).unwrap();
            };
            // The rows are in, the old database is still the store's.
            for old in [FreezeReason::Moving, FreezeReason::Moved] {
                killed(&first, old);
                let done = migrate(root, OTHER, false).unwrap();
                assert!(!done.tables.is_empty() && !done.is_closed);
                assert_eq!((address(root).as_str(), to.write_freeze().unwrap()), (OTHER, None));
                assert_eq!(sums(&to), before);
            }
            // The settings name the new one already.
            killed(OTHER, FreezeReason::Moved);
            let done = migrate(root, OTHER, false).unwrap();
            assert!(done.tables.is_empty() && !done.is_closed && !marker.exists());
            assert_eq!(to.write_freeze().unwrap(), None);
            // Or it is given up, and the store is where the settings say.
            killed(OTHER, FreezeReason::Moved);
            assert!(maintenance::unlock(root, false).unwrap());
            assert_eq!((to.write_freeze().unwrap(), marker.exists()), (None, false));
            killed(&first, FreezeReason::Moved);
            assert!(matches!(maintenance::unlock(root, false), Err(MaintenanceError::MovedAway)));
            killed(&first, FreezeReason::Moving);
            assert!(maintenance::unlock(root, false).unwrap());
            assert_eq!((from.write_freeze().unwrap(), marker.exists()), (None, false));
            // The copy of an attempt that was given up is somebody's rows like any.
            assert!(matches!(migrate(root, OTHER, false), Err(MaintenanceError::NotEmpty)));
            migrate(root, OTHER, true).unwrap();
            assert_eq!(sums(&to), before);
        }).await;
    }

    async fn what_is_half_done_newer_or_in_the_way_is_neither_backed_up_nor_restored(store: TestStore) {
        store.stop().await;
        aside(store.root(), |root| {
            let go = &mut |_: maintenance::Step<'_>| ControlFlow::Continue(());
            let (db, file) = (open(root), root.join("backup.tar.gz"));
            // What an earlier restore could not remove is not the store's.
            std::fs::create_dir_all(root.join("files/.shopwright-restore-old/old")).unwrap();
            std::fs::write(root.join("files/.shopwright-restore-old/old/a"), "a").unwrap();
            maintenance::backup(root, &file, go).unwrap();
            let kept = std::fs::read(&file).unwrap();
            let closure = WriteFreeze::new(FreezeReason::Copy).unwrap();
            db.freeze_writes(&closure).unwrap();
            assert!(matches!(maintenance::backup(root, &file, go), Err(MaintenanceError::Unfinished)));
            db.unfreeze_writes().unwrap();
            std::fs::create_dir_all(root.join("core/restore")).unwrap();
            assert!(matches!(maintenance::backup(root, &file, go), Err(MaintenanceError::Unfinished)));
            assert_eq!(std::fs::read(&file).unwrap(), kept);
            let restore = |to: Option<&str>| {
                let database = to.map(str::to_owned);
                let options = RestoreOptions { from: file.clone(), database, replace: true };
                maintenance::restore(root, &options, &mut |_| ControlFlow::Continue(()))
            };
            let inside = "sqlite:files/store.db";
            assert!(matches!(restore(Some(inside)), Err(MaintenanceError::DatabaseInside)));
            assert!(matches!(migrate(root, inside, true), Err(MaintenanceError::DatabaseInside)));
            restore(None).unwrap();
            assert!(!root.join("files/.shopwright-restore-old").exists());
            let newer = "insert into migrations (number, name, applied) values (999, 'later', '')";
            db.write::<_, DbError>(|tx| tx.run(newer, &[])).unwrap();
            assert!(maintenance::backup(root, &file, go).is_err() && migrate(root, OTHER, true).is_err());
            assert!(restore(None).is_err());
            assert_eq!((std::fs::read(&file).unwrap(), db.write_freeze().unwrap()), (kept, None));
            assert!(!root.join("shop.lock").exists());
        }).await;
    }

    async fn a_restore_goes_on_with_its_own_settings_and_where_another_node_opened_the_database(store: TestStore) {
        store.stop().await;
        aside(store.root(), |root| {
            let (first, before, file) = (address(root), sums(&open(root)), root.join("backup.tar.gz"));
            std::fs::write(root.join("files/a"), "a").unwrap();
            maintenance::backup(root, &file, &mut |_| ControlFlow::Continue(())).unwrap();
            let going_on = root.join("core/restore");
            // Killed when the rows were in and no file had moved; then opened from elsewhere.
            let kill = || {
                std::fs::create_dir_all(&going_on).unwrap();
                std::fs::write(going_on.join("token"), "t").unwrap();
                std::fs::write(going_on.join("rows-in"), "").unwrap();
                let config = json!({"database": OTHER, "name": "Restored"});
                std::fs::write(going_on.join("config.json"), config.to_string()).unwrap();
                std::fs::create_dir_all(root.join("files/.shopwright-restore/new")).unwrap();
                std::fs::write(root.join("files/.shopwright-restore/new/a"), "new").unwrap();
            };
            let options = RestoreOptions { from: file.clone(), database: Some(OTHER.to_owned()), replace: false };
            maintenance::restore(root, &options, &mut |_| ControlFlow::Continue(())).unwrap();
            let config = json!({"database": first});
            std::fs::write(root.join("config.json"), config.to_string()).unwrap();
            kill();
            assert!(!maintenance::unlock(root, false).unwrap());
            assert_eq!((address(root).as_str(), sums(&open(root))), (OTHER, before.clone()));
            assert_eq!(std::fs::read_to_string(root.join("files/a")).unwrap(), "new");
            // A move reads the settings after that: it carries the restored rows.
            std::fs::write(root.join("config.json"), config.to_string()).unwrap();
            kill();
            let moved = migrate(root, "sqlite:core/third.db", false).unwrap();
            assert_eq!((moved.from.as_str(), sums(&open(root))), (OTHER, before));
        }).await;
    }

    async fn two_addresses_of_one_database_are_one(store: TestStore) {
        store.stop().await;
        aside(store.root(), |root| {
            let (first, before) = (address(root), sums(&open(root)));
            let mark = if first.contains('?') { '&' } else { '?' };
            let same = match first.strip_prefix("sqlite:") {
                Some(path) => format!("sqlite:core/../{path}"),
                None => format!("{first}{mark}application_name=other"),
            };
            for replace in [false, true] {
                assert!(migrate(root, &same, replace).is_err());
                assert_eq!((address(root), sums(&open(root)), open(root).write_freeze().unwrap()), (first.clone(), before.clone(), None));
            }
        }).await;
    }

    async fn work_that_is_stopped_leaves_nothing_behind(store: TestStore) {
        store.stop().await;
        aside(store.root(), |root| {
            let before = sums(&open(root));
            let file = root.join("backup.tar.gz");
            maintenance::backup(root, &file, &mut |_| ControlFlow::Continue(())).unwrap();
            let kept = std::fs::read(&file).unwrap();
            let stop = &mut |_: maintenance::Step<'_>| ControlFlow::Break(());
            let wish = Migration { to: OTHER.to_owned(), replace: false };
            assert!(matches!(maintenance::migrate(root, &wish, stop), Err(MaintenanceError::Stopped)));
            assert!(matches!(maintenance::backup(root, &file, stop), Err(MaintenanceError::Stopped)));
            // At each kind of step of a restore.
            for what in [maintenance::Activity::Backup, maintenance::Activity::Rows, maintenance::Activity::Check] {
                let options = RestoreOptions { from: file.clone(), database: None, replace: false };
                let stopped = maintenance::restore(root, &options, &mut |step| {
                    if step.what == what { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                assert!(matches!(stopped, Err(MaintenanceError::Stopped)), "{what:?}");
            }
            assert_eq!(std::fs::read(&file).unwrap(), kept);
            assert_eq!((sums(&open(root)), open(root).write_freeze().unwrap()), (before, None));
            assert!(!root.join("shop.lock").exists() && !root.join("core/restore").exists());
            assert!(!root.join("backup.tar.gz.part").exists());
        }).await;
    }
}
