//! What units write: kept with the answer or not at all, only in tables that their manifest names, on both databases.

use serde_json::{Value, json};

use crate::client::{Answer, raw};
use crate::test_store::{TestStore, on_both};
use crate::units::{home, log, put_unit};

const MAY_WRITE: &str = r#"{"writes": ["suppliers", "users", "grants", "outbox", "changes"]}"#;

async fn post(store: &TestStore, form: &str) -> Answer {
    let request = format!(
        "POST / HTTP/1.1\r\nhost: shop.example.com\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: {}\r\n\r\n{form}",
        form.len()
    );
    raw(store, request.as_bytes()).await
}

/// What the home page answers to a form.
async fn posted(store: &TestStore, form: &str) -> (u16, String) {
    let answer = post(store, form).await;
    (answer.status, answer.text())
}

/// Keys and names of the suppliers.
fn suppliers(store: &TestStore) -> Vec<(String, String)> {
    let rows = store.db.read(|tx| tx.rows("select skey, name from suppliers order by skey", &[])).unwrap();
    rows.iter().map(|row| (row.get("skey").unwrap(), row.get("name").unwrap())).collect()
}

fn pair(skey: &str, name: &str) -> (String, String) {
    (skey.to_owned(), name.to_owned())
}

fn events(store: &TestStore) -> Vec<String> {
    let rows = store
        .db
        .read(|tx| tx.rows("select key from events where key like 'kOwn%' order by id", &[]))
        .unwrap();
    rows.iter().map(|row| row.get("key").unwrap()).collect()
}

on_both! {
    async fn what_a_run_wrote_stays_with_its_answer(store: TestStore) {
        put_unit(store, "home", "export function main() {
            const ids = shop.insert('suppliers', [{ skey: 'a', name: 'Anna' }, { skey: 'b', name: 'Bo' }]);
            const rows = shop.execute('update suppliers set name = name || :more where id = :id', { more: '!', id: ids[1] });
            const name = shop.value('select name from suppliers where id = :id', { id: ids[1] });
            shop.event('kOwnDone');
            if (shop.request.post.fail === 'throw') nix();
            if (shop.request.post.fail === 'memory') { const all = []; for (;;) all.push('x'.repeat(100000) + all.length); }
            return JSON.stringify([ids.length, ids[1] - ids[0], rows, name]);
        }", MAY_WRITE);
        for fail in ["fail=throw", "fail=memory"] {
            assert_eq!(posted(store, fail).await.0, 500, "{fail}");
            assert_eq!((suppliers(store), events(store)), (vec![], vec![]), "{fail}");
        }
        assert_eq!(posted(store, "").await, (200, "[2,1,1,\"Bo!\"]".to_owned()), "{:?}", log(store));
        assert_eq!(suppliers(store), [pair("a", "Anna"), pair("b", "Bo!")]);
        assert_eq!(events(store), ["kOwnDone"]);
        // The same keys again: refused by the database, and nothing of the run stays.
        assert_eq!(posted(store, "").await.0, 500);
        assert_eq!((suppliers(store).len(), events(store).len()), (2, 1));
    }

    async fn a_visitors_get_changes_nothing(store: TestStore) {
        put_unit(store, "home", "export function main() {
            const codes = [];
            for (const call of [
                () => shop.insert('suppliers', { skey: 'a', name: 'Anna' }),
                () => shop.execute('delete from suppliers'),
                () => shop.transaction(() => 1),
            ]) try { call(); } catch (error) { codes.push(error.code); }
            return codes.join(' ');
        }", MAY_WRITE);
        assert_eq!(home(store).await, (200, "READ_ONLY READ_ONLY READ_ONLY".to_owned()));
        assert_eq!(suppliers(store), []);
    }

    async fn the_work_of_staff_is_for_no_page(store: TestStore) {
        let unit = "export function main() {
            const codes = [];
            for (const call of [
                () => shop.staff.move_order(1, 'kDone'), () => shop.staff.ship(1), () => shop.staff.note(1, 'x'),
                () => shop.staff.cancel_pieces(1, { lines: [{ line: 1, pieces: 1 }] }),
                () => shop.staff.refund(1, { key: 'a', shipping: 1 }), () => shop.staff.review(1, { state: 'kShown' }),
                () => shop.staff.add_task('admin', 'x'), () => shop.staff.hand_task(1, 'admin'),
                () => shop.staff.import_products([{ name: 'x' }], { apply: true, keyless: true }),
                () => shop.staff.change_product(1, { name: 'x' }), () => shop.staff.change_variant(1, { sku: 'x' }),
                () => shop.staff.remove_variant(1), () => shop.staff.set_prices([{ variant: 1, list: 1, amount: 1 }]),
                () => shop.staff.set_stock(1, { count: 1 }), () => shop.staff.move_stock(1, 1, 2, 1),
                () => shop.staff.save_category(null, { name: 'x' }), () => shop.staff.remove_category(1),
                () => shop.staff.save_brand(null, { name: 'x' }), () => shop.staff.remove_brand(1),
                () => shop.staff.save_user(null, { login: 'x', name: 'x' }), () => shop.staff.save_registry('task_state', 'kX', 'x'),
                () => shop.staff.change_customer(1, { name: 'x' }), () => shop.staff.erase_customer(1),
            ]) try { call(); } catch (error) { codes.push(error.code); }
            return codes.join(' ');
        }";
        put_unit(store, "home", unit, MAY_WRITE);
        let refused = ["NOT_GRANTED"; 23].join(" ");
        assert_eq!(home(store).await, (200, refused.clone()));
        assert_eq!(posted(store, "a=1").await, (200, refused));
    }

    async fn a_unit_writes_only_what_it_may(store: TestStore) {
        let dump = |store: &TestStore| {
            let mut dump = store.dump();
            // Nothing but what tells of the failures themselves, and the journal of that.
            let told = ["events", "changes", "journal", "journal_changes"];
            dump.retain(|name, _| !told.contains(&name.as_str()));
            dump
        };
        let before = dump(store);
        let statements: &[&str] = &[
            "update products set name = 'x'",
            "update users set name = 'x'",
            "delete from grants",
            "insert into grants (operation_id, user_id) select o.id, u.id from operations o, users u",
            "update outbox set address = 'x'",
            "delete from changes",
            "insert into suppliers (skey, name) select login, password_hash from users",
            "insert into suppliers (skey, name) select skey, value from secrets",
            "insert into suppliers (skey, name) values ('a', (select max(hash) from tickets))",
            "update suppliers set name = 'x' where exists (select 1 from tickets)",
            "insert into suppliers (skey, name) values ('a', 'b') returning id",
            "with gone as (delete from suppliers returning id) select * from gone",
            "insert into suppliers (skey, name) values ('a', 'b'); delete from suppliers",
            "insert into suppliers (skey, name) values ('a', pg_sleep(1))",
            "insert into suppliers (skey, name) values ('a', pg_read_file('/etc/passwd'))",
            "insert into suppliers (skey, name) select rolname, rolname from pg_catalog.pg_roles",
            "insert into suppliers (skey, name) select name, sql from sqlite_master",
            "insert into suppliers (skey, name) values ('a', load_extension('x'))",
            "update suppliers set nix = 1",
            "insert into suppliers (skey, name) values ('a', :nix)",
            "drop table suppliers",
            "create table own_x (id int)",
            "alter table suppliers add column x text",
            "truncate suppliers",
            "pragma foreign_keys = off",
            "vacuum",
            "commit",
            "rollback",
            "savepoint x",
            "set role postgres",
            "explain delete from suppliers",
            "select 1",
            "",
            "copy suppliers to program 'id'",
            "do $$ begin delete from suppliers; end $$",
            "attach database '/tmp/x' as x",
        ];
        put_unit(store, "home", &format!("export function main() {{
            const wrong = [];
            for (const sql of {}) try {{ shop.execute(sql); wrong.push(sql); }}
                catch (error) {{ if (error.code !== 'SQL') wrong.push(error.code + ' ' + sql); }}
            for (const [table, row] of [
                ['products', {{}}], ['users', {{ login: 'x' }}], ['nix', {{}}], ['suppliers; drop table users', {{}}],
                ['suppliers', {{ nix: 1 }}], ['suppliers', {{ 'name\\\") values (1); --': 1 }}], ['suppliers', {{ skey: ['a'] }}],
                ['suppliers', {{ skey: 'a', name: null }}],
            ]) try {{ shop.insert(table, row); wrong.push(table); }}
                catch (error) {{ if (error.code !== 'SQL') wrong.push(error.code + ' ' + table); }}
            return wrong.join('\\n');
        }}", json!(statements)), MAY_WRITE);
        assert_eq!(posted(store, "").await, (200, String::new()), "{:?}", log(store));
        // The schema's own name would lead past the views.
        if store.is_postgres() {
            let schema = store.db.read(|tx| tx.row("select current_schema()::text as s", &[])).unwrap().unwrap();
            let schema: String = schema.get("s").unwrap();
            put_unit(store, "home", &format!("export function main() {{
                shop.insert('suppliers', {{ skey: 'a', name: 'Anna' }});
                const told = [];
                for (const sql of ['select password_hash from {schema}.users', 'select password_hash from \"{schema}\".users', 'select password_hash from users'])
                    try {{ shop.select(sql); told.push(sql); }} catch (error) {{ told.push(error.code); }}
                throw new Error(told.join(' '));
            }}"), MAY_WRITE);
            assert_eq!(posted(store, "").await.0, 500);
            assert!(log(store).pop().unwrap()["error"].as_str().unwrap().contains("SQL SQL SQL"), "{:?}", log(store).pop());
        }
        assert_eq!(dump(store), before);
    }

    async fn a_secret_is_not_read_in_a_transaction_either(store: TestStore) {
        put_unit(store, "home", "export function main() {
            shop.insert('suppliers', { skey: 'a', name: 'Anna' });
            const row = shop.one('select * from users order by id limit 1');
            let hidden = 'refused';
            try { hidden = JSON.stringify(shop.select('select * from secrets')); } catch (error) { hidden = error.code; }
            return JSON.stringify([Object.keys(row).includes('login'), Object.keys(row).includes('password_hash'), hidden]);
        }", MAY_WRITE);
        assert_eq!(posted(store, "").await, (200, "[true,false,\"SQL\"]".to_owned()), "{:?}", log(store));
    }

    async fn parts_of_a_transaction_are_taken_back_by_themselves(store: TestStore) {
        put_unit(store, "home", "export function main() {
            const add = (skey) => shop.insert('suppliers', { skey, name: skey })[0];
            const told = [];
            const first = shop.transaction(() => { add('a'); return 'one'; });
            try { shop.transaction(() => { add('b'); throw new Error('no'); }); } catch (error) { told.push(error.message); }
            shop.transaction(() => {
                add('c');
                try { shop.transaction(() => { add('d'); add('a'); }); } catch (error) { told.push(error.code); }
                add('e');
            });
            try { shop.transaction(async () => add('f')); } catch (error) { told.push(error.name); }
            try { shop.transaction(5); } catch (error) { told.push(error.name); }
            try { shop.transaction = 1; } catch (error) { told.push(error.name); }
            return [first, ...told].join(' ');
        }", MAY_WRITE);
        assert_eq!(posted(store, "").await, (200, "one no SQL TypeError TypeError TypeError".to_owned()), "{:?}", log(store));
        assert_eq!(suppliers(store), [pair("a", "a"), pair("c", "c"), pair("e", "e")]);
    }

    async fn a_unit_that_is_left_out_leaves_nothing(store: TestStore) {
        put_unit(store, "home", "export function main() {
            const before = shop.unit('bad', { skey: 'x' });
            shop.insert('suppliers', { skey: 'a', name: 'Anna' });
            shop.event('kOwnHome');
            return before + shop.unit('bad', { skey: 'b' }) + shop.unit('good');
        }", MAY_WRITE);
        put_unit(store, "bad", "export function main({ skey }) {
            shop.insert('suppliers', { skey, name: 'Bad' });
            shop.event('kOwnBad');
            nix();
        }", MAY_WRITE);
        put_unit(store, "good", "export function main() {
            shop.insert('suppliers', { skey: 'g', name: 'Good' });
            try { shop.insert('products', {}); } catch (error) { return error.code; }
        }", MAY_WRITE);
        assert_eq!(posted(store, "").await, (200, "SQL".to_owned()), "{:?}", log(store));
        assert_eq!(suppliers(store), [pair("a", "Anna"), pair("g", "Good")]);
        assert_eq!(events(store), ["kOwnHome"]);
    }

    async fn what_a_run_wrote_is_seen_by_all_that_it_reads(store: TestStore) {
        put_unit(store, "home", "export function main() {
            const [id] = shop.insert('brands', { name: 'Own', name_folded: 'own' });
            const seen = [shop.brands.get(id).name, shop.value('select name from brands where id = :id', { id })];
            shop.execute('update brands set name = :name where id = :id', { id, name: 'Changed' });
            seen.push(shop.brands.get(id).name, shop.cart.get() === undefined);
            try {
                shop.transaction(() => {
                    shop.execute('update brands set name = :name where id = :id', { id, name: 'Taken back' });
                    seen.push(shop.brands.get(id).name);
                    throw new Error('no');
                });
            } catch { seen.push(shop.brands.get(id).name); }
            return seen.join();
        }", r#"{"writes": ["brands"]}"#);
        assert_eq!(posted(store, "").await, (200, "Own,Own,Changed,false,Taken back,Changed".to_owned()), "{:?}", log(store));
        assert_eq!(store.count("brands"), 1);
    }

    async fn a_visitor_does_not_keep_others_from_writing(store: TestStore) {
        store.with_usual_times().await;
        put_unit(store, "home", "export function main() {
            shop.insert('suppliers', { skey: 'a', name: 'Anna' });
            const begin = Date.now();
            while (Date.now() - begin < 1300);
            return 'ok';
        }", MAY_WRITE);
        assert_eq!(posted(store, "").await.0, 500);
        let told = log(store).pop().unwrap()["error"].as_str().unwrap().to_owned();
        assert!(told.contains("over the limit: time of a transaction"), "{told}");
        assert_eq!(suppliers(store), []);
        put_unit(store, "home", "export function main() { return String(shop.insert('suppliers', { skey: 'a', name: 'Anna' }).length); }", MAY_WRITE);
        assert_eq!(posted(store, "").await, (200, "1".to_owned()));
    }

    async fn a_unit_without_writes_writes_nothing(store: TestStore) {
        put_unit(store, "home", "export function main() {
            try { shop.execute('delete from suppliers'); } catch (error) { return error.code; }
        }", "");
        assert_eq!(posted(store, "").await, (200, "SQL".to_owned()));
        let none: [Value; 0] = [];
        assert_eq!(log(store), none);
    }
}
