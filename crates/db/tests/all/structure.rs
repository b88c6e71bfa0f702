//! Tables as agents see them.

use db::structure::{self, Dependent};
use db::{Dialect, schema};

use crate::fixture::on_both;
use crate::shop::{read, write};

on_both! {
    fn every_table_is_told_with_all_its_columns_and_no_secret(db: &Db) {
        let tables = read(db, |tx| structure::tables(tx).unwrap());
        assert!(tables.iter().all(|table| table.name != "secrets" && !table.about.is_empty()));
        for table in &tables {
            let spec = schema::table(&table.name).unwrap();
            let open: Vec<&str> = spec.columns().filter(|column| !column.is_secret).map(|column| column.name).collect();
            let told: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            assert_eq!(told, open, "{}", table.name);
            assert!(table.columns.iter().all(|column| !column.about.is_empty()), "{table:?}");
        }
        let products = tables.iter().find(|table| table.name == "products").unwrap();
        let column = |name: &str| products.columns.iter().find(|column| column.name == name).unwrap();
        assert_eq!((column("id").kind.as_str(), column("id").key, column("id").is_nullable), ("int", "PRI", false));
        assert_eq!(column("brand_id").points_to.as_deref(), Some("brands"));
        let users = tables.iter().find(|table| table.name == "users").unwrap();
        assert!(users.columns.iter().all(|column| column.name != "password_hash"));
    }

    fn tables_of_the_owner_are_told_as_the_database_knows_them(db: &Db) {
        let number = if db.dialect() == Dialect::Postgres { "bigint" } else { "integer" };
        let make = format!(
            "create table own_shelves (id {number} primary key, product_id bigint not null references products (id),
             code text unique, note text)"
        );
        write(db, |tx| tx.run(&make, &[]).unwrap());
        let tables = read(db, |tx| structure::tables(tx).unwrap());
        let own = tables.iter().find(|table| table.name == "own_shelves").unwrap();
        let told: Vec<_> = own.columns.iter().map(|column| (column.name.as_str(), column.key, column.is_nullable)).collect();
        assert_eq!(told, [("id", "PRI", false), ("product_id", "", false), ("code", "UNI", true), ("note", "", true)]);
        let dependents = read(db, |tx| structure::dependents(tx, "Products").unwrap().unwrap());
        let own = Dependent { table: "own_shelves".to_owned(), column: "product_id".to_owned(), is_nullable: false };
        assert!(dependents.contains(&own) && dependents.iter().any(|one| one.table == "variants"), "{dependents:?}");
        assert_eq!(read(db, |tx| structure::pointing(tx, &own, &[1, 2, 3]).unwrap()), 0);
        assert!(read(db, |tx| structure::dependents(tx, "nothing").unwrap()).is_none());
    }
}
