//! Making or reopening the store, starting engine and program, waiting for the end.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use db::Db;
use engine::settings::{Config, Settings};
use home::{Credentials, Home, ShopIni};
use jiff::Timestamp;
use zeroize::Zeroizing;

use super::fill;
use super::folder::TryFolder;
use super::people::{self, Passwords};
use super::print::print;
use super::ready::{Launch, Ready, Someone};
use super::sample::{Sample, of};
use crate::exit::Exit;
use crate::{cli, log, random_password, sample_shop, signal, store_files};

/// Runs `try` until it is asked to stop.
pub(crate) fn run(arguments: &cli::Try) -> Result<Exit> {
    log::start("warn");
    let sample = Sample::read()?;
    let login = &arguments.login;
    ensure!(
        sample.logins().contains(&login.as_str()),
        "nobody has the login `{login}` here: the people are {}",
        sample.logins().join(", ")
    );
    let folder = TryFolder::take(&arguments.dir)?;
    Ready::remove(folder.dir());
    make(&folder, &sample, arguments)?;
    let passwords = passwords(&folder, &sample, &arguments.login)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(hold(&folder, arguments, &sample, &passwords));
    Ready::remove(folder.dir());
    done.map(|()| Exit::Done)
}

/// Makes the store, where there is none yet; a half-made one is made anew.
fn make(folder: &TryFolder, sample: &Sample, arguments: &cli::Try) -> Result<()> {
    let root = folder.root();
    if root.join(wire::paths::CONFIG).exists() {
        return reopen(&root, arguments);
    }
    ensure!(
        !root.exists(),
        "{} is there, but it is no store: it has no {}",
        root.display(),
        wire::paths::CONFIG
    );
    let fresh = folder.dir().join("server.new");
    if fresh.exists() {
        std::fs::remove_dir_all(&fresh)?;
    }
    let language = arguments.language.unwrap_or(cli::Language::En).code();
    let store = &sample.people.store;
    let admin = sample.people.people.first().context("the sample has no people")?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    engine::store::init(
        &fresh,
        &engine::store::InitOptions {
            name: of(&store.name, language).to_owned(),
            url: format!("http://{address}"),
            listen: address,
            language: language.to_owned(),
            time_zone: store.time_zone.clone(),
            currency: store.currency.clone(),
            database: arguments.database.clone().unwrap_or_else(|| "sqlite:core/store.db".to_owned()),
            admin_login: admin.login.clone(),
            admin_name: of(&admin.name, language).to_owned(),
            // Nobody learns this one: all passwords are set when the store is opened.
            admin_password: Zeroizing::new(random_password::draw()?),
        },
    )?;
    store_files::lay(&fresh)?;
    let db = engine::store::open_db(&fresh)?;
    db.write(|tx| -> Result<(), Failure> {
        if !fill::is_filled(tx, sample)? {
            fill::fill(tx, sample, language, Timestamp::now())?;
        }
        Ok(())
    })
    .map_err(|failure| failure.0)?;
    fill_shop(&db, &fresh, language)?;
    drop(db);
    std::fs::rename(&fresh, &root)?;
    // The passwords of another store of the same folder would not fit.
    people::forget(folder.dir());
    Ok(())
}

/// Puts goods on the shelves, where there are none.
fn fill_shop(db: &Db, root: &Path, language: &str) -> Result<()> {
    if db.read(|tx| sample_shop::taken(tx).map_err(Failure)).map_err(|failure| failure.0)?.is_some() {
        return Ok(());
    }
    let setting = sample_shop::Setting { language, now: Timestamp::now(), root };
    sample_shop::fill(db, sample_shop::Size::SAMPLE, setting, &mut |_| ControlFlow::Continue(()))?;
    Ok(())
}

/// An error of a transaction, of the database's or of our own making.
struct Failure(anyhow::Error);

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// What the arguments ask of a store that is there already.
fn reopen(root: &Path, arguments: &cli::Try) -> Result<()> {
    let has = Settings::read(root)?.config.database;
    if arguments.database.as_ref().is_some_and(|asked| *asked != has) {
        bail!("this store lives in another database already; name another folder for a new store");
    }
    match arguments.language {
        Some(language) => change(root, |config| config.language = language.code().to_owned()),
        None => Ok(()),
    }
}

fn change(root: &Path, change: impl FnOnce(&mut Config)) -> Result<()> {
    let mut config = Settings::read(root)?.config;
    change(&mut config);
    Ok(engine::store::write_config(root, &config)?)
}

/// The people's passwords: those of the last time, else new ones for everybody.
fn passwords(folder: &TryFolder, sample: &Sample, chosen: &str) -> Result<Passwords> {
    let logins = sample.logins();
    if let Some(kept) = people::kept(folder.dir(), &logins) {
        // Somebody may have tried `store passwd`: what is told here is what lets the chosen person in.
        if let Some(password) = kept.get(chosen) {
            engine::store::keep_password(&folder.root(), chosen, password)?;
        }
        return Ok(kept);
    }
    let drawn = people::draw(folder.dir(), &logins)?;
    for (login, password) in &drawn {
        if let Err(error) = engine::store::set_password(&folder.root(), login, password) {
            // Passwords that were kept but not set would lock everybody out.
            people::forget(folder.dir());
            return Err(error.into());
        }
    }
    Ok(drawn)
}

/// Starts engine and program, tells where they are, and waits.
async fn hold(
    folder: &TryFolder,
    arguments: &cli::Try,
    sample: &Sample,
    passwords: &Passwords,
) -> Result<()> {
    let stop = signal::asked_to_stop()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let options = engine::Options { listen: Some(address), ..engine::Options::default() };
    let engine = match engine::Engine::start(folder.root(), options).await {
        Err(error @ engine::StartError::Listen(..)) => return Err(error).context(busy(arguments.port)),
        started => started?,
    };
    let url = format!("http://{}", engine.address());
    change(&folder.root(), |config| config.url.clone_from(&url))?;
    let home = register(folder, arguments, &url)?;
    let desk = open_program(folder, arguments, &home, passwords).await?;
    let ready = Ready {
        storefront: url,
        console: desk.console_url(),
        store: folder.store(),
        root: folder.root(),
        home: home.path().to_owned(),
        people: people_of(folder, sample, passwords)?,
        mcp: launch(folder, &home)?,
    };
    ready.write(folder.dir())?;
    print(&ready, &arguments.login, folder.dir());
    stop.await;
    Ready::remove(folder.dir());
    desk.stop().await;
    engine.stop().await;
    Ok(())
}

/// Starts the program with the store open and the chosen person signed in.
async fn open_program(
    folder: &TryFolder,
    arguments: &cli::Try,
    home: &Home,
    passwords: &Passwords,
) -> Result<desk::RunningDesk> {
    let port = match arguments.port {
        0 => 0,
        port => {
            port.checked_add(1).context("the console needs the port after this one; name a smaller one")?
        }
    };
    let password = passwords.get(&arguments.login).context("no password")?;
    let options = desk::Options {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        open_store: Some(folder.store()),
        credentials: Some(Credentials {
            login: arguments.login.clone(),
            password: Zeroizing::new(password.clone()),
        }),
    };
    match desk::Desk::start(home.clone(), options).await {
        Err(error @ desk::DeskError::Listen { .. }) => Err(error).context(busy(port)),
        started => started.context("the program cannot start"),
    }
}

fn busy(port: u16) -> String {
    match port {
        0 => "cannot start".to_owned(),
        port => format!(
            "cannot start at port {port}; another one is chosen by `--port N`, any free one by `--port 0`"
        ),
    }
}

/// Writes `Shop.ini`. Into its list the program itself puts the store, once the home is its own: it may
/// be a person's, with another program on it.
fn register(folder: &TryFolder, arguments: &cli::Try, url: &str) -> Result<Home> {
    let store = folder.store();
    std::fs::create_dir_all(&store)?;
    let name = Settings::read(&folder.root())?.config.name;
    let mut ini = ShopIni::read(&store).unwrap_or_else(|_| ShopIni::new(&name, url));
    url.clone_into(&mut ini.url);
    arguments.login.clone_into(&mut ini.login);
    wire::BUILD.clone_into(&mut ini.build);
    ini.write(&store)?;
    Ok(Home::at(folder.home()?))
}

fn people_of(folder: &TryFolder, sample: &Sample, passwords: &Passwords) -> Result<Vec<Someone>> {
    let language = Settings::read(&folder.root())?.config.language;
    let people = sample.people.people.iter().map(|person| {
        let group = sample.people.groups.iter().find(|group| group.skey.as_deref() == Some(&person.group));
        Ok(Someone {
            login: person.login.clone(),
            password: passwords.get(&person.login).context("no password")?.clone(),
            name: of(&person.name, &language).to_owned(),
            group: group.map(|group| of(&group.name, &language).to_owned()).unwrap_or_default(),
        })
    });
    people.collect()
}

/// What an agent application must start: this very binary, pinned to the store.
fn launch(folder: &TryFolder, home: &Home) -> Result<Launch> {
    let command = std::env::current_exe()?.canonicalize()?;
    Ok(Launch {
        command: command.display().to_string(),
        args: vec!["mcp".to_owned(), "--store".to_owned(), folder.store().display().to_string()],
        env: [(wire::env::HOME.to_owned(), home.path().display().to_string())].into(),
    })
}
