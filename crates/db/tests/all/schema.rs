//! The declared tables are the real ones, on both databases, and what people read of them is made of the declarations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use db::schema::{self, Access};
use db::{Db, DbError, Dialect};

use crate::fixture::on_both;

fn columns(db: &Db) -> BTreeMap<String, BTreeSet<String>> {
    let sql = match db.dialect() {
        Dialect::Sqlite => {
            "select m.name as tab, c.name as col from sqlite_master m join pragma_table_info(m.name) c
             where m.type = 'table' and m.name not like 'sqlite_%'"
        }
        Dialect::Postgres => {
            "select table_name as tab, column_name as col from information_schema.columns
             where table_schema = current_schema()"
        }
    };
    let mut columns: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in db.read::<_, DbError>(|tx| tx.rows(sql, &[])).unwrap() {
        columns.entry(row.get("tab").unwrap()).or_default().insert(row.get("col").unwrap());
    }
    columns
}

on_both! {
    fn every_table_and_column_is_declared_and_no_other(db: &Db) {
        let declared: BTreeMap<String, BTreeSet<String>> = schema::tables()
            .map(|table| (table.name.to_owned(), table.columns().map(|column| column.name.to_owned()).collect()))
            .collect();
        let real = columns(db);
        assert_eq!(declared.keys().collect::<Vec<_>>(), real.keys().collect::<Vec<_>>());
        for (table, columns) in &declared {
            assert_eq!(columns, &real[table], "{table}");
        }
    }

    fn trees_removed_rows_and_secrets_are_declared_as_such(db: &Db) {
        let real = columns(db);
        for table in schema::tables() {
            assert!(!table.name.starts_with(schema::OWNERS));
            assert_eq!(table.is_tree, real[table.name].contains("parent_id"), "{}", table.name);
            assert_eq!(table.keeps_deleted, real[table.name].contains("deleted"), "{}", table.name);
            for column in table.columns() {
                assert!(!column.meaning().is_empty(), "{}.{} has no meaning", table.name, column.name);
                let sounds_secret = ["password_hash", "token_hash"].contains(&column.name);
                assert!(!sounds_secret || column.is_secret, "{}.{}", table.name, column.name);
            }
        }
    }
}

#[test]
fn secrets_are_found_whatever_their_case_and_what_nobody_declared_is_one() {
    assert!(schema::is_secret("Customers", "PASSWORD_HASH"));
    assert!(schema::is_secret("tickets", "kind"));
    assert!(schema::is_secret("nobody_knows", "id"));
    assert!(schema::is_secret("users", "not_yet_declared"));
    assert!(!schema::is_secret("customers", "email"));
    assert!(!schema::is_secret("own_things", "id"));
    assert_eq!(schema::table("ORDERS").unwrap().access, Access::Closed);
}

#[test]
fn the_page_for_people_lists_the_declared_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/database.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, _) = text.split_once("## People\n").unwrap();
    let wanted = format!("{before}{}", schema::tables_as_markdown());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    assert!(text == wanted || std::env::var_os("UPDATE").is_some(), "run this test with UPDATE=1");
}
