//! Agents' statements that want more than reading: none has an effect, none tells a secret, none runs for ever.

use std::time::{Duration, Instant};

use db::agent_sql::{Limits, SelectError, select};
use db::tickets::NewTicket;
use db::{Db, DbError, Dialect, tickets};

use crate::fixture::{Fixture, now, person};

/// Tricks that both databases are tried with. `{own}` is the schema of the store's own tables.
const ON_BOTH: &[&str] = &[
    // Other kinds of statements.
    "insert into groups (name) values ('x')",
    "update users set name = 'x'",
    "delete from users",
    "replace into groups (id, name) values (1, 'x')",
    "drop table journal_changes",
    "drop view users",
    "create table x (id int)",
    "create temp table x as select 1 as a",
    "create view x as select 1 as a",
    "create index x on users (name)",
    "alter table users add column x text",
    "truncate users",
    "begin",
    "begin immediate",
    "commit",
    "rollback",
    "savepoint x",
    "release x",
    "explain select 1",
    "explain analyze select 1",
    "analyze",
    "vacuum",
    "reindex",
    // A second one.
    "select 1; delete from users",
    "select 1; select 2",
    "select 1;; select 2",
    "select 1; commit; delete from users",
    "select 1 /* ; */ ; -- ;\n delete from users",
    "select 1) q; drop table users; --",
    "values (1); drop table users",
    // Writing inside of reading.
    "with x as (delete from users returning id) select * from x",
    "with x as (insert into groups (name) values ('x') returning id) select * from x",
    "with x as (update users set name = 'x' returning id) select * from x",
    "with x as (select 1) delete from users",
    "with x as (select 1 as n) insert into groups (name) select n from x",
    "select * from (delete from users returning id) q",
    "select 1 into x",
    // Secrets.
    "select password_hash from users",
    "select u.password_hash from users u",
    "select U.PASSWORD_HASH from USERS u",
    "select \"password_hash\" from \"users\"",
    "select password_hash from {own}.users",
    "select * from {own}.users",
    "select id from users where password_hash like 'secret%'",
    "select id from users order by password_hash",
    "select * from users natural join (select password_hash from {own}.users) q",
    "select 1) q, (select password_hash from {own}.users) r --",
    "select * from tickets",
    "select count(*) from tickets",
    "select 1 where exists (select 1 from {own}.tickets)",
    "select value from secrets",
    "select value from {own}.secrets",
    "select answer from calls",
    "select subject from attempts",
    "select holder from leases",
    "select rowid from tickets",
    // The database's own tables.
    "select * from sqlite_master",
    "select sql from sqlite_schema",
    "select * from pragma_table_info('users')",
    "select * from pg_catalog.pg_authid",
    "select * from information_schema.tables",
    // More than there is room or time for.
    "with recursive t(n) as (select 1 union all select n + 1 from t) select n from t",
    "with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t",
    "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3000)
     select count(*) from t a, t b, t c, t d where a.n + b.n + c.n + d.n < 0",
    "with recursive t(s, n) as (select 'xxxxxxxxxxxxxxxx', 1 union all select s || s, n + 1 from t where n < 23)
     select s from t",
    "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3000)
     select length(string_agg(cast(a.n as text) || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', '')) from t a, t b, t c",
    "select \0 1",
    "",
    "   ",
    "-- nothing",
];

const ON_SQLITE: &[&str] = &[
    "pragma query_only = 0",
    "pragma writable_schema = 1",
    "pragma journal_mode = delete",
    "pragma user_version",
    "attach database '/tmp/x' as x",
    "detach main",
    "vacuum into '/tmp/x'",
    "explain query plan select 1",
    "create virtual table x using fts5(a)",
    "create temp trigger x after insert on groups begin select 1; end",
    "select load_extension('x')",
    "select * from dbstat",
    "select * from sqlite_dbpage",
    "select * from pragma_database_list",
    "select fts3_tokenizer('simple')",
    "select randomblob(100000000)",
    "select zeroblob(100000000)",
    "select hex(zeroblob(100000000))",
    "select printf('%1000000000d', 1)",
    "select writefile('/tmp/x', 'x')",
    "select readfile('/etc/passwd')",
    "select sqlite_version()",
    "select last_insert_rowid()",
    "select changes()",
    "select * from main.sqlite_master",
    "select * from temp.sqlite_temp_master",
    "select 'a' like replace('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'a', '%a')",
    "with recursive t(s, n) as (select 'aaaaaaaaaaaaaaaa', 1 union all select s || s, n + 1 from t where n < 17),
     big as (select s from t where n = 17), r(n) as (select 1 union all select n + 1 from r where n < 100000)
     select count(*) from r, big where instr(s, s || 'b') > 0 or s || cast(n as text) = ''",
    "select replace(replace(replace('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'a',
       'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'), 'a',
       'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'), 'a',
       'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
];

const ON_POSTGRES: &[&str] = &[
    "set role postgres",
    "reset role",
    "set session authorization postgres",
    "set transaction read write",
    "show all",
    "do $$ begin delete from users; end $$",
    "call x()",
    "prepare x as delete from users",
    "execute x",
    "deallocate all",
    "discard all",
    "listen x",
    "notify x",
    "lock table users",
    "copy users to stdout",
    "copy (select 1) to program 'id'",
    "copy users from '/etc/passwd'",
    "table users",
    "create role x superuser",
    "grant select on users to public",
    "select * from users for update",
    "select pg_sleep(60)",
    "select \"pg_sleep\"(60)",
    "select pg_catalog.pg_sleep(60)",
    "select pg_sleep /* wait */ (60)",
    "select U&\"pg\\005fsleep\"(60)",
    "select E'a'\n'\\', id, ' , pg_sleep(60) from users --' from users",
    "select pg_read_file('/etc/passwd')",
    "select pg_ls_dir('.')",
    "select * from pg_ls_dir('/')",
    "select lo_create(0)",
    "select lo_import('/etc/passwd')",
    "select pg_notify('shopwright_public', 'x')",
    "select set_config('role', 'postgres', false)",
    "select set_config('statement_timeout', '0', false)",
    "select current_setting('data_directory')",
    "select pg_advisory_lock(1)",
    "select pg_terminate_backend(1)",
    "select pg_cancel_backend(1)",
    "select query_to_xml('delete from users', true, true, '')",
    "select table_to_xml('users', true, true, '')",
    "select * from ts_stat('select 1')",
    "select nextval('{own}.users_id_seq')",
    "select repeat('x', 500000000)",
    "select lpad('x', 500000000)",
    "select rolpassword from pg_authid",
    "select passwd from pg_shadow",
    "select * from pg_stat_activity",
    "select ('x'::text).pg_sleep from (select 1) q",
    "select count(*) from generate_series(1, 1000000000000)",
    "select * from generate_series(1, 1000000)",
];

/// Everything that a trick could have changed.
fn state(db: &Db) -> Vec<String> {
    let tables = match db.dialect() {
        Dialect::Sqlite => "select name as line from sqlite_master order by 1",
        Dialect::Postgres => "select nspname || '.' || relname as line from pg_class c, pg_namespace n
                              where n.oid = relnamespace and nspname = current_schema()
                              union all select rolname || rolsuper from pg_roles where rolname in ('x', 'postgres')
                              union all select 'objects ' || count(*) from pg_largeobject_metadata order by 1",
    };
    db.read::<_, DbError>(|tx| {
        let mut lines = Vec::new();
        for sql in [tables, "select login || name || password_hash as line from users order by id"] {
            for row in tx.rows(sql, &[])? {
                lines.push(row.get("line")?);
            }
        }
        lines.push(format!(
            "{:?}",
            tx.row("select max(id) as m, count(*) as c from groups", &[])?.map(|row| row.get::<i64>("m"))
        ));
        Ok(lines)
    })
    .unwrap()
}

fn try_all(place: Option<Fixture>, own: &[&str]) {
    let Some(place) = place else { return };
    let db = place.seeded();
    let irina = person(&db, "irina", None);
    let ticket = NewTicket {
        hash: [7; 32],
        user_id: irina,
        password_version: 1,
        address: "::1".into(),
        kind: "agent".into(),
        now: now(),
    };
    db.write(|tx| tickets::create(tx, &ticket)).unwrap();
    let schema = place.schema().unwrap_or("main");
    let limits = Limits { time: Duration::from_millis(400), ..Limits::default() };
    let before = state(&db);
    for trick in ON_BOTH.iter().chain(own) {
        let sql = trick.replace("{own}", schema);
        let began = Instant::now();
        let ended = select(&db, &sql, &[], &limits);
        let took = began.elapsed();
        assert!(ended.is_err(), "`{sql}` was carried out: {ended:?}");
        assert!(!matches!(ended, Err(SelectError::Db(_) | SelectError::NotReady(_))), "`{sql}`: {ended:?}");
        assert!(!format!("{ended:?}").contains("secret-hash"), "`{sql}`: {ended:?}");
        assert!(took < Duration::from_secs(10), "`{sql}` took {took:?}");
        let rows = select(&db, "select login from users", &[], &limits).unwrap().rows;
        assert_eq!(rows, [["irina"]], "after `{sql}`");
    }
    assert_eq!(state(&db), before);
    let added = place.open();
    person(&added, "oleg", None);
    assert_eq!(select(&db, "select count(*) as n from users", &[], &limits).unwrap().rows, [[2]]);
}

#[test]
fn tricks_on_sqlite_have_no_effect() {
    try_all(Some(Fixture::sqlite()), ON_SQLITE);
}

#[test]
fn tricks_on_postgres_have_no_effect() {
    try_all(Fixture::postgres(), ON_POSTGRES);
}

/// The database itself holds, with no look at the text before.
#[test]
fn the_agents_login_can_do_nothing_but_read_the_views() {
    let Some(place) = Fixture::postgres() else { return };
    let db = place.seeded();
    person(&db, "irina", None);
    let sql =
        "select 'shopwright_' || left(md5(current_database() || '.' || current_schema()), 16) as role, value
               from secrets where skey = 'reader_password'";
    let row = db.read::<_, DbError>(|tx| tx.row(sql, &[])).unwrap().unwrap();
    let (role, password): (String, String) = (row.get("role").unwrap(), row.get("value").unwrap());
    let at = place.url.find('@').unwrap();
    let own = place.schema().unwrap();
    let url =
        format!("postgres://{role}:{password}{}", &place.url[at..]).replace(own, &format!("{own}_read"));
    let reader = Db::open(&url, place.root()).unwrap();
    let run = |sql: &str| reader.write::<_, DbError>(|tx| tx.rows(&sql.replace("{own}", own), &[]));
    assert_eq!(run("select login from users").unwrap().len(), 1);
    for sql in [
        "delete from users",
        "insert into users (id, login) values (1, 'x')",
        "update notes set name = 'x'",
        "select password_hash from {own}.users",
        "select * from {own}.tickets",
        "select * from {own}.secrets",
        "create table {own}.x (id int)",
        "create table {own}_read.x (id int)",
        "create table public.x (id int)",
        "create schema x",
        "create role x",
        "drop table {own}.users",
        "select rolpassword from pg_authid",
        "select pg_read_file('/etc/passwd')",
        "copy users to program 'id'",
        "set role postgres",
        "select nextval('{own}.users_id_seq')",
    ] {
        let ended = run(sql);
        assert!(ended.is_err(), "`{sql}` was carried out");
    }
}
