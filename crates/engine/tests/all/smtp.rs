//! A small mail server for tests: it does to each connection what it is told.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Patience of tests, far longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the server does with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// Takes the mail.
    Accepts,
    /// Answers the recipient with this line.
    Refuses(&'static str),
    /// Answers the mail with this line, after it was told.
    RefusesMail(&'static str),
    /// Hangs up in the middle of the mail.
    HangsUp,
    /// Has the whole mail and never says so.
    Swallows,
    /// Greets with this line.
    Greets(&'static str),
}

/// A mail that the server was told.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// Whom it goes to, as the envelope says: `<a@b>`.
    pub(crate) to: Vec<String>,
    /// Headers and body.
    pub(crate) text: String,
    /// Login and password of the connection, as they were sent.
    pub(crate) auth: String,
}

impl Told {
    /// A header, its lines put together.
    pub(crate) fn header(&self, name: &str) -> String {
        let head = self.text.split("\r\n\r\n").next().unwrap().replace("\r\n ", " ").replace("\r\n\t", " ");
        let mut found = head.lines().filter_map(|line| line.strip_prefix(&format!("{name}: ")));
        let value = found.next().unwrap_or_default().to_owned();
        assert_eq!(found.next(), None, "{name} twice in {head}");
        value
    }
}

#[derive(Default)]
struct Shared {
    plan: Mutex<Vec<Does>>,
    told: Mutex<Vec<Told>>,
    came: Condvar,
}

/// The server. Connections beyond its plan are taken.
pub(crate) struct Smtp {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

impl Smtp {
    pub(crate) fn start(plan: &[Does]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared { plan: Mutex::new(plan.to_vec()), ..Shared::default() });
        let served = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&served);
                std::thread::spawn(move || drop(serve(stream.unwrap(), &shared)));
            }
        });
        Self { port, shared }
    }

    /// The mails that were told, once there are so many. Those that were not taken count too.
    pub(crate) fn wait(&self, many: usize) -> Vec<Told> {
        tokio::task::block_in_place(|| {
            let told = self.shared.told.lock().unwrap();
            let wait = self.shared.came.wait_timeout_while(told, PATIENCE, |told| told.len() < many);
            wait.unwrap().0.clone()
        })
    }

    pub(crate) fn told(&self) -> Vec<Told> {
        self.shared.told.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut plan = shared.plan.lock().unwrap();
    let does = if plan.is_empty() { Does::Accepts } else { plan.remove(0) };
    drop(plan);
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let mut say = move |line: &str| stream.write_all(format!("{line}\r\n").as_bytes());
    if let Does::Greets(line) = does {
        return say(line);
    }
    say("220 mail.test ESMTP")?;
    let (mut to, mut auth) = (Vec::new(), String::new());
    while let Some(line) = lines.next().transpose()? {
        let word = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
        match (word.as_str(), does) {
            ("EHLO", _) => say("250-mail.test\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN")?,
            ("AUTH", _) => {
                line.clone_into(&mut auth);
                say("235 ok")?;
            }
            ("RCPT", Does::Refuses(answer)) => say(answer)?,
            ("RCPT", _) => {
                to.push(line.split_once(':').unwrap().1.split(' ').next().unwrap().to_owned());
                say("250 ok")?;
            }
            ("DATA", Does::HangsUp) => {
                say("354 go on")?;
                let _ = lines.next();
                return Ok(());
            }
            ("DATA", _) => {
                say("354 go on")?;
                let mut text = String::new();
                while let Some(line) = lines.next().transpose()?.filter(|line| line != ".") {
                    text.push_str(line.strip_prefix('.').unwrap_or(&line));
                    text.push_str("\r\n");
                }
                let told = Told { to: std::mem::take(&mut to), text, auth: auth.clone() };
                shared.told.lock().unwrap().push(told);
                shared.came.notify_all();
                match does {
                    Does::Swallows => {
                        // Until the other end is gone.
                        lines.by_ref().for_each(drop);
                        return Ok(());
                    }
                    Does::RefusesMail(answer) => say(answer)?,
                    _ => say("250 taken")?,
                }
            }
            ("QUIT", _) => return say("221 bye"),
            _ => say("250 ok")?,
        }
    }
    Ok(())
}
