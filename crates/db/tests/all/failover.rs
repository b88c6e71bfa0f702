//! A PostgreSQL server that became a standby, or takes no writes, counts as one that was lost.
//!
//! Two real servers of the machine's own PostgreSQL programs, one a standby of the other. Where there are none
//! this says so; where `TEST_DATABASE_URL` is set they have to be there.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use db::agent_sql::{self, Limits};
use db::{Db, DbError, groups};
use tempfile::TempDir;

use crate::fixture::Fixture;

/// A server of the test's own, stopped at its end.
struct Server {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
}

/// The folder of PostgreSQL's programs, the newest.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    let found = folders.filter(|folder| folder.join("initdb").is_file()).max();
    if found.is_none() || std::env::var("TEST_DATABASE_URL").is_err() {
        println!("no PostgreSQL here, or TEST_DATABASE_URL is not set: not run");
        return None;
    }
    found
}

/// A port that nobody listens at.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0
}

impl Server {
    fn new(programs: &Path, folder: &TempDir, name: &str) -> Self {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        Self { programs: programs.to_owned(), folder: folder.path().join(name), port: free_port() }
    }

    /// Runs one of PostgreSQL's programs, which do not run as root.
    fn run(&self, program: &str, arguments: &[&str]) -> bool {
        let path = self.programs.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        let log =
            fs::OpenOptions::new().create(true).append(true).open(self.folder.with_extension("out")).unwrap();
        command.args(arguments).current_dir("/").stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log).status().unwrap().success()
    }

    fn must(&self, program: &str, arguments: &[&str]) {
        let is_done = self.run(program, arguments);
        let said = fs::read_to_string(self.folder.with_extension("out")).unwrap_or_default();
        assert!(is_done, "{program} {arguments:?}: {said}");
    }

    fn folder(&self) -> &str {
        self.folder.to_str().unwrap()
    }

    fn init(&self) {
        let options = ["-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-U", "shopwright", "-N"];
        self.must("initdb", &[&["-D", self.folder()], options.as_slice()].concat());
    }

    fn copy_of(&self, other: &Self) {
        let source = format!("host=127.0.0.1 port={} user=shopwright", other.port);
        self.must("pg_basebackup", &["-D", self.folder(), "-d", &source, "-R", "-X", "stream", "-c", "fast"]);
    }

    fn start(&self) {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c hot_standby=on",
            self.port
        );
        let log = format!("{}.log", self.folder());
        self.must("pg_ctl", &["-D", self.folder(), "-w", "-l", &log, "-o", &options, "start"]);
    }

    fn stop(&self) -> bool {
        self.run("pg_ctl", &["-D", self.folder(), "-w", "-m", "fast", "stop"])
    }

    fn promote(&self) {
        self.must("pg_ctl", &["-D", self.folder(), "-w", "promote"]);
    }

    /// From its next start on it follows the other one.
    fn follow(&self, other: &Self) {
        let source = format!("primary_conninfo = 'host=127.0.0.1 port={} user=shopwright'\n", other.port);
        // Written by the server's own user, as the folder is closed to others.
        let script = format!(
            "touch {0}/standby.signal && printf \"%s\" \"$1\" >> {0}/postgresql.auto.conf",
            self.folder()
        );
        let mut shell = if is_root() { Command::new("runuser") } else { Command::new("sh") };
        if is_root() {
            shell.args(["-u", "postgres", "--", "sh"]);
        }
        assert!(shell.args(["-c", &script, "sh", &source]).current_dir("/").status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn add(db: &Db, name: &str) -> Result<i64, DbError> {
    db.write(|tx| groups::create(tx, None, name))
}

fn has(db: &Db, name: &str) -> bool {
    let sql = "select 1 as yes from groups where name = :name";
    db.read::<_, DbError>(|tx| tx.row(sql, &[("name", name.into())])).unwrap().is_some()
}

#[test]
fn after_a_failover_the_server_that_takes_writes_is_used() {
    let Some(programs) = programs() else { return };
    let folder = TempDir::new().unwrap();
    let (first, second) =
        (Server::new(&programs, &folder, "first"), Server::new(&programs, &folder, "second"));
    first.init();
    first.start();
    second.copy_of(&first);
    second.start();
    let url = format!("postgres://shopwright@127.0.0.1:{},127.0.0.1:{}/postgres", first.port, second.port);
    let db = Db::open(&url, folder.path()).unwrap();
    db.migrate().unwrap();
    add(&db, "before").unwrap();
    agent_sql::select(&db, "select name from groups", &[], &Limits::default()).unwrap();

    // The standby takes over, and the first server comes back as its standby at the old address.
    assert!(first.stop());
    second.promote();
    first.follow(&second);
    first.start();
    add(&db, "after").unwrap();
    db.check_writable().unwrap();
    // Not from the standby, which may be behind.
    assert!(has(&db, "before") && has(&db, "after"));
    let told =
        agent_sql::select(&db, "select name from groups where name = 'after'", &[], &Limits::default());
    assert_eq!(told.unwrap().rows.len(), 1);
}

#[test]
fn a_standby_alone_is_no_database_until_it_is_promoted() {
    let Some(programs) = programs() else { return };
    let folder = TempDir::new().unwrap();
    let (first, second) =
        (Server::new(&programs, &folder, "first"), Server::new(&programs, &folder, "second"));
    first.init();
    first.start();
    let address = |server: &Server| format!("postgres://shopwright@127.0.0.1:{}/postgres", server.port);
    let of_first = Db::open(&address(&first), folder.path()).unwrap();
    of_first.migrate().unwrap();
    second.copy_of(&first);
    second.start();
    let db = Db::open(&address(&second), folder.path()).unwrap();
    assert!(matches!(add(&db, "x"), Err(DbError::Unreachable(_))));
    assert!(matches!(db.ready(), Err(DbError::Unreachable(_))));
    assert!(matches!(db.check_writable(), Err(DbError::Unreachable(_))));
    // Who asks for any server may read from a standby; a write is refused, and leaves no connection behind.
    let url = format!("{}?target_session_attrs=any", address(&second));
    let any = Db::open(&url, folder.path()).unwrap();
    any.ready().unwrap();
    assert!(matches!(add(&any, "x"), Err(DbError::Unreachable(_))));
    assert!(matches!(any.check_writable(), Err(DbError::Unreachable(_))));
    second.promote();
    for db in [&db, &any] {
        add(db, "x").unwrap();
        db.check_writable().unwrap();
    }
}

#[test]
fn a_connection_that_takes_no_writes_is_lost_with_the_call_that_found_it() {
    let Some(place) = Fixture::postgres() else { return };
    let db = place.seeded();
    let line = |tx: &mut db::Tx| -> Result<i64, DbError> {
        tx.row("select pg_backend_pid()::bigint as line", &[])?.unwrap().get("line")
    };
    let mut old = 0;
    let refused = db.write::<_, DbError>(|tx| {
        old = line(tx)?;
        tx.run("set transaction read only", &[])?;
        groups::create(tx, None, "x")
    });
    assert!(matches!(refused, Err(DbError::Unreachable(_))), "{refused:?}");
    assert_ne!(db.write(line).unwrap(), old);
    // A change in a transaction that only reads is a mistake of ours, and no lost server.
    let mistake = db.read(|tx| groups::create(tx, None, "x"));
    assert!(matches!(mistake, Err(DbError::Sql(_))), "{mistake:?}");
}

#[test]
fn a_full_disk_is_noticed_without_a_call() {
    let place = Fixture::sqlite();
    let db = place.seeded();
    db.check_writable().unwrap();
    let rest = fs::read_dir(place.root().join("core")).unwrap();
    let names: Vec<_> = rest.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.contains("room")), "{names:?}");
    if !is_root() {
        println!("not root: no small disk can be made, not run");
        return;
    }
    let disk = TempDir::new().unwrap();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(disk.path()).status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("no small disk can be mounted here: not run");
        return;
    }
    let _unmount = Unmount(disk.path().to_owned());
    let db = Db::open("sqlite:store.db", disk.path()).unwrap();
    db.migrate().unwrap();
    db.check_writable().unwrap();
    let filler = disk.path().join("filler");
    let full = fs::write(&filler, vec![b'x'; 8 << 20]).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    assert!(matches!(db.check_writable(), Err(DbError::Unreachable(_))));
    fs::remove_file(&filler).unwrap();
    db.check_writable().unwrap();
}

struct Unmount(PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l"]).arg(&self.0).status();
    }
}
