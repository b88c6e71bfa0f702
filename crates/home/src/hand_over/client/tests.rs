//! Tests of the hand-over: real processes on both sides of the socket.
//!
//! The other side is this test binary started anew with a role.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use tempfile::TempDir;
use zeroize::Zeroizing;

use super::{Pair, Program, ask_pair, program_state, program_store};
use crate::hand_over::{self, HeldStore};
use crate::{Credentials, DeskFile, Home, HomeError};

const ROLE: &str = "SHOPWRIGHT_TEST_ROLE";
const FOLDER: &str = "SHOPWRIGHT_TEST_FOLDER";
/// The address that the pair was typed for.
const URL: &str = "https://tea.example";
const NOBODY: u32 = 65534;

fn pair() -> Credentials {
    Credentials {
        login: "irina".to_owned(), password: Zeroizing::new("tea \"leaf\" пароль\n".to_owned())
    }
}

struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for store in ["tea", "coffee"] {
            fs::create_dir(folder.path().join(store)).unwrap();
        }
        Self { folder }
    }

    fn home(&self) -> Home {
        Home::at(self.folder.path().join("home"))
    }

    fn store(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn desk_file(&self, pid: u32, socket: &Path) -> DeskFile {
        DeskFile {
            pid: i32::try_from(pid).unwrap(),
            store: Some(self.store("tea")),
            socket: socket.to_owned(),
            build: String::new(),
            console: Some("http://127.0.0.1:8421".to_owned()),
        }
    }

    /// Starts a program that holds `tea`, in this process.
    fn serve(&self, held: HeldStore) -> tokio::task::JoinHandle<()> {
        let listener = hand_over::bind(&self.home()).unwrap();
        self.desk_file(std::process::id(), listener.socket()).write(&self.home()).unwrap();
        tokio::spawn(hand_over::serve(listener, move || held.clone()))
    }

    fn signed_in(&self) -> HeldStore {
        HeldStore { store: Some(self.store("tea")), credentials: Some(pair()), url: URL.to_owned() }
    }

    /// Starts a program that holds `tea`, in a process of its own.
    fn process(&self) -> Child {
        let child = role("program", self.folder.path()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while program_store(&self.home()).is_none() {
            assert!(Instant::now() < until, "the program did not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        child
    }
}

fn role(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "hand_over::client::tests::another_process", "--nocapture"]);
    command.env(ROLE, name).env(FOLDER, folder).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Not a test by itself: what this binary does when a test starts it with a role.
#[test]
fn another_process() {
    let Ok(name) = env::var(ROLE) else {
        return;
    };
    let folder = PathBuf::from(env::var_os(FOLDER).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        if name == "program" {
            let world = World { folder: tempfile::tempdir().unwrap() };
            let home = Home::at(folder.join("home"));
            let held =
                HeldStore { store: Some(folder.join("tea")), credentials: Some(pair()), url: URL.to_owned() };
            let listener = hand_over::bind(&home).unwrap();
            let file = world.desk_file(std::process::id(), listener.socket());
            DeskFile { store: held.store.clone(), ..file }.write(&home).unwrap();
            let _ = tokio::time::timeout(
                Duration::from_secs(60),
                hand_over::serve(listener, move || held.clone()),
            )
            .await;
        } else {
            println!("said: {}", stranger(&folder).await);
        }
    });
}

/// What another user of this computer hears on the socket.
async fn stranger(folder: &Path) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let socket = folder.join("home/desk.sock");
    let mut stream = match tokio::net::UnixStream::connect(&socket).await {
        Ok(stream) => stream,
        Err(error) => return format!("{:?}", error.kind()),
    };
    let question = format!("{{\"ask\":\"pair\",\"store\":\"{}\"}}\n", folder.join("tea").display());
    let _ = stream.write_all(question.as_bytes()).await;
    let mut heard = String::new();
    let _ = stream.read_to_string(&mut heard).await;
    format!("[{heard}]")
}

#[tokio::test]
async fn a_running_program_gives_the_pair_of_the_open_store_only() {
    let world = World::new();
    let (home, tea, coffee) = (world.home(), world.store("tea"), world.store("coffee"));
    let server = world.serve(world.signed_in());
    assert_eq!(program_state(&home, &tea).await, Program::Running { signed_in: true });
    assert_eq!(ask_pair(&home, &tea.join("../tea"), URL).await, Pair::Given(pair()));
    assert_eq!(program_state(&home, &coffee).await, Program::Other { store: tea.clone() });
    for other in [
        "https://evil.example",
        "http://tea.example",
        "https://tea.example:8443",
        "https://tea.example/x",
        "",
    ] {
        assert_eq!(ask_pair(&home, &tea, other).await, Pair::OtherAddress, "{other}");
    }
    assert_eq!(ask_pair(&home, &tea, "HTTPS://Tea.Example/").await, Pair::Given(pair()));
    assert_eq!(ask_pair(&home, &coffee, URL).await, Pair::Other { store: tea.clone() });
    assert_eq!(program_store(&home), Some(tea.canonicalize().unwrap()));
    server.abort();
    let _ = server.await;
    assert_eq!(program_state(&home, &tea).await, Program::Closed);
    assert_eq!(ask_pair(&home, &tea, URL).await, Pair::Closed);
    assert_eq!(program_store(&home), None);
}

#[tokio::test]
async fn a_signed_out_program_says_so() {
    let world = World::new();
    let held = HeldStore { store: Some(world.store("tea")), credentials: None, url: String::new() };
    let _server = world.serve(held);
    assert_eq!(
        program_state(&world.home(), &world.store("tea")).await,
        Program::Running { signed_in: false }
    );
    assert_eq!(ask_pair(&world.home(), &world.store("tea"), URL).await, Pair::SignedOut);
}

#[tokio::test]
async fn a_program_without_a_store_is_closed() {
    let world = World::new();
    let listener = hand_over::bind(&world.home()).unwrap();
    let file = DeskFile { store: None, ..world.desk_file(std::process::id(), listener.socket()) };
    file.write(&world.home()).unwrap();
    let _server = tokio::spawn(hand_over::serve(listener, HeldStore::default));
    assert_eq!(program_state(&world.home(), &world.store("tea")).await, Program::Closed);
    assert_eq!(ask_pair(&world.home(), &world.store("tea"), URL).await, Pair::Closed);
    assert_eq!(program_store(&world.home()), None);
}

#[tokio::test]
async fn a_stopped_program_is_silent_and_a_killed_one_is_closed() {
    let world = World::new();
    let (home, tea, coffee) = (world.home(), world.store("tea"), world.store("coffee"));
    let mut child = world.process();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    assert_eq!(program_state(&home, &tea).await, Program::Running { signed_in: true });

    kill_process(pid, Signal::STOP).unwrap();
    // The signal takes a moment to arrive.
    waitpid(Some(pid), WaitOptions::UNTRACED).unwrap();
    let before = Instant::now();
    assert_eq!(program_state(&home, &tea).await, Program::Silent);
    assert!(before.elapsed() < Duration::from_millis(1500), "{:?}", before.elapsed());
    assert_eq!(ask_pair(&home, &tea, URL).await, Pair::Silent);
    assert_eq!(program_state(&home, &coffee).await, Program::Other { store: tea.clone() });
    assert_eq!(program_store(&home), Some(tea.canonicalize().unwrap()));

    kill_process(pid, Signal::CONT).unwrap();
    assert_eq!(ask_pair(&home, &tea, URL).await, Pair::Given(pair()));

    child.kill().unwrap();
    // Even before its parent has taken note of the end.
    let until = Instant::now() + Duration::from_secs(5);
    while program_state(&home, &tea).await != Program::Closed {
        assert!(Instant::now() < until, "a killed program still counts as running");
    }
    child.wait().unwrap();
    assert_eq!(program_state(&home, &tea).await, Program::Closed);
    assert_eq!(program_store(&home), None);
    // What the killed one left does not keep the next one from starting.
    let _server = world.serve(world.signed_in());
    assert_eq!(ask_pair(&home, &tea, URL).await, Pair::Given(pair()));
}

#[tokio::test]
async fn a_program_whose_queue_is_full_is_silent() {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
    let world = World::new();
    let (home, tea) = (world.home(), world.store("tea"));
    let path = world.store("full.sock");
    let full = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&full, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    listen(&full, 0).unwrap();
    world.desk_file(std::process::id(), &path).write(&home).unwrap();
    for _ in 0..10 {
        assert!(program_store(&home).is_some());
    }
    assert_eq!(program_state(&home, &tea).await, Program::Silent);
    assert_eq!(ask_pair(&home, &tea, URL).await, Pair::Silent);
}

#[tokio::test]
async fn a_stale_file_reads_as_closed() {
    let world = World::new();
    let (home, tea) = (world.home(), world.store("tea"));
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let socket = home.path().join("desk.sock");
    // A dead process; then its number taken by another, with the socket gone, and with it left behind.
    for pid in [gone.id(), std::process::id(), 1] {
        world.desk_file(pid, &socket).write(&home).unwrap();
        assert_eq!(program_state(&home, &tea).await, Program::Closed, "pid {pid}");
        assert_eq!(program_store(&home), None);
    }
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    assert_eq!(program_state(&home, &tea).await, Program::Closed);
    assert_eq!(program_store(&home), None);
    fs::write(home.path().join("desk.json"), "{\"pid\":").unwrap();
    assert_eq!(program_state(&home, &tea).await, Program::Closed);
}

#[tokio::test]
async fn a_second_program_on_the_home_is_refused_by_name() {
    let world = World::new();
    let server = world.serve(world.signed_in());
    let error = hand_over::bind(&world.home()).unwrap_err();
    assert!(matches!(&error, HomeError::InUse(who) if who.starts_with(": process ")), "{error:?}");
    let words = error.to_string();
    assert!(words.contains("8421") && words.contains(&std::process::id().to_string()), "{words}");
    server.abort();
    let _ = server.await;
    // A process that another test starts holds the lock too, until it has begun to be another program.
    let until = Instant::now() + Duration::from_secs(5);
    while hand_over::bind(&world.home()).is_err() {
        assert!(Instant::now() < until, "the home is held for ever");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_home_with_a_long_path_gets_its_socket_elsewhere() {
    let world = World::new();
    let home = Home::at(world.folder.path().join("long".repeat(40)));
    let listener = hand_over::bind(&home).unwrap();
    let folder = listener.socket().parent().unwrap().to_owned();
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    world.desk_file(std::process::id(), listener.socket()).write(&home).unwrap();
    let held = world.signed_in();
    let server = tokio::spawn(hand_over::serve(listener, move || held.clone()));
    assert_eq!(ask_pair(&home, &world.store("tea"), URL).await, Pair::Given(pair()));
    server.abort();
    let _ = server.await;
    assert!(!folder.exists());
}

#[tokio::test]
async fn nonsense_on_the_socket_harms_nobody() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let world = World::new();
    let _server = world.serve(world.signed_in());
    let socket = world.home().path().join("desk.sock");
    for line in [b"\n".as_slice(), b"{}\n", b"\xff\xfe\n", b"{\"ask\":\"pair\"}\n", &[b'x'; 200_000]] {
        let mut stream = tokio::net::UnixStream::connect(&socket).await.unwrap();
        let _ = stream.write_all(line).await;
        let _ = stream.shutdown().await;
        let mut heard = String::new();
        let _ = stream.read_to_string(&mut heard).await;
        assert!(!heard.contains("irina"), "{heard}");
    }
    let mut lines = Vec::new();
    for _ in 0..40 {
        lines.push(tokio::net::UnixStream::connect(&socket).await.unwrap());
    }
    assert_eq!(ask_pair(&world.home(), &world.store("tea"), URL).await, Pair::Given(pair()));
}

/// Runs the stranger as another user; `None` where this user may not become another.
fn as_nobody(world: &World) -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can become another user");
        return None;
    }
    // The test binary may lie where the other user cannot go.
    let copy = world.folder.path().join("stranger");
    fs::copy(env::current_exe().unwrap(), &copy).unwrap();
    fs::set_permissions(world.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(&copy);
    command.args(["--exact", "hand_over::client::tests::another_process", "--nocapture"]);
    command.env(ROLE, "stranger").env(FOLDER, world.folder.path()).uid(NOBODY).gid(NOBODY).current_dir("/");
    let out = loop {
        match command.output() {
            // The copy is still open for writing in a process another test is starting.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {}
            out => break out.unwrap(),
        }
    };
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let said = text.split("said: ").nth(1).unwrap_or_else(|| panic!("{text}"));
    Some(said.lines().next().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_user_of_this_computer_gets_nothing() {
    let world = World::new();
    let _server = world.serve(world.signed_in());
    let home = world.home();
    if let Some(said) = as_nobody(&world) {
        assert_eq!(said, "PermissionDenied");
        // Even where the folder and the socket were opened to everyone by mistake.
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(home.path().join("desk.sock"), fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(as_nobody(&world).unwrap(), "[]");
    }
    assert_eq!(ask_pair(&home, &world.store("tea"), URL).await, Pair::Given(pair()));
}

#[test]
fn a_password_is_never_printed() {
    assert!(!format!("{:?} {:?}", pair(), Pair::Given(pair())).contains("leaf"));
}
