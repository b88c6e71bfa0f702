//! What a store's owner does on the server: making a store, passwords, lock, rights.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use db::users::NewUser;
use db::{Db, DbError, Tx, groups, rights, users};
use jiff::Timestamp;
use shop::login::LoginError;
use zeroize::Zeroizing;

pub use crate::gate::passwords::{HashError, hash_password};
use crate::maintenance::database_address;
use crate::new_file::replace;
use crate::settings::{Config, ConfigError, Settings};

/// Folders of a store's root.
const FOLDERS: [&str; 8] = [
    "units",
    "templates/default/units",
    "templates/default/statics",
    "templates/default/images",
    "templates/default/bundles",
    "files",
    "profiles",
    "core/cache",
];
/// Folders that only the engine looks into.
const CORE_FOLDERS: [&str; 2] = ["core/log", "core/tmp"];

/// What a new store needs.
#[derive(Clone)]
pub struct InitOptions {
    /// The store's name, as visitors read it.
    pub name: String,
    /// Its public address; empty is `http://` and the address to listen on.
    pub url: String,
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Its language.
    pub language: String,
    /// Its IANA time zone.
    pub time_zone: String,
    /// Its main currency.
    pub currency: String,
    /// `sqlite:core/store.db` or `postgres://…`.
    pub database: String,
    /// Login of the first administrator.
    pub admin_login: String,
    /// Name of the first administrator.
    pub admin_name: String,
    /// Their password.
    pub admin_password: Zeroizing<String>,
}

impl Default for InitOptions {
    fn default() -> Self {
        let config = Config::default();
        Self {
            name: "Shop".to_owned(),
            url: String::new(),
            listen: SocketAddr::from(([127, 0, 0, 1], 8420)),
            language: config.language,
            time_zone: config.time_zone,
            currency: config.currency,
            database: config.database,
            admin_login: "admin".to_owned(),
            admin_name: "Administrator".to_owned(),
            admin_password: Zeroizing::default(),
        }
    }
}

/// Why a store was not made or changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is a store in this folder already.
    #[error("there is a store in `{0}` already")]
    Exists(PathBuf),
    /// There is a store in this database already.
    #[error(
        "the database holds people of a store already; name an empty one, or put the address of this one into the \
         config.json of its store"
    )]
    Taken,
    /// The settings cannot be used.
    #[error("config.json {0}")]
    Config(#[from] ConfigError),
    /// The database cannot be used.
    #[error("the store's database cannot be used")]
    Db(#[from] DbError),
    /// The database cannot lie there.
    #[error("{0}")]
    Database(String),
    /// A file or folder cannot be written.
    #[error("`{0}` cannot be written: {1}")]
    File(PathBuf, #[source] io::Error),
    /// A login or password is empty.
    #[error("a login and a password cannot be empty")]
    Empty,
    /// A login that could not be typed, shown or part of a file's name.
    #[error("`{0}` is no login: {1}")]
    NotALogin(String, #[source] LoginError),
    /// A login that people would take for another one.
    #[error("`{0}` looks like the login `{1}`, which is there already")]
    LooksLike(String, String),
    /// A password cannot be hashed.
    #[error(transparent)]
    Hash(#[from] HashError),
    /// There is a user of this login already.
    #[error("there is a user `{0}` already")]
    LoginTaken(String),
    /// There is no user of this login.
    #[error("no such user: `{0}`")]
    NoSuchUser(String),
    /// There is no group of this key.
    #[error("no such group: `{0}`")]
    NoSuchGroup(String),
    /// There is no such command in the rights tree.
    #[error("no such command in the rights tree: `{0}`")]
    NoSuchCommand(String),
}

/// Whom a right is granted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The user of this login.
    Login(String),
    /// The group of this key.
    Group(String),
}

/// A new login in its one spelling.
fn new_login(login: &str) -> Result<String, StoreError> {
    shop::login::parse(login)
        .map_err(|why| StoreError::NotALogin(wire::text::quoted(login, shop::login::LONGEST), why))
}

/// Makes a store: folders, settings, database, the first administrator.
pub fn init(root: &Path, options: &InitOptions) -> Result<(), StoreError> {
    if options.admin_login.trim().is_empty() || options.admin_password.is_empty() {
        return Err(StoreError::Empty);
    }
    new_login(&options.admin_login)?;
    if root.join(wire::paths::CONFIG).exists() {
        return Err(StoreError::Exists(root.to_owned()));
    }
    let config = config(options);
    // Understood before anything is written.
    Settings::of(config.clone())?;
    database_address::check(root, &config.database)
        .map_err(|error| StoreError::Database(error.to_string()))?;
    let password_hash = hash_password(&options.admin_password)?;
    make_folders(root).map_err(|(folder, error)| StoreError::File(folder, error))?;
    let now = Timestamp::now();
    let db = Db::open(&config.database, root)?;
    // Before the tables are touched: they may be another store's, of another build.
    if db.is_there()? {
        db.read(|tx| refuse_taken(tx, options))?;
    }
    prepare(&db, now)?;
    db.write(|tx| add_administrator(tx, options, password_hash, now))?;
    // Last: a root with settings is a store that was made whole.
    write_config(root, &config)
}

/// Makes the folders of a root, where they are missing; else the one that could not be made.
pub(crate) fn make_folders(root: &Path) -> Result<(), (PathBuf, io::Error)> {
    for folder in FOLDERS.iter().chain(&CORE_FOLDERS) {
        let folder = root.join(folder);
        fs::create_dir_all(&folder).map_err(|error| (folder, error))?;
    }
    Ok(())
}

fn config(options: &InitOptions) -> Config {
    let url = if options.url.is_empty() { format!("http://{}", options.listen) } else { options.url.clone() };
    Config {
        name: options.name.clone(),
        url,
        listen: options.listen.to_string(),
        language: options.language.clone(),
        time_zone: options.time_zone.clone(),
        currency: options.currency.clone(),
        database: options.database.clone(),
        ..Config::default()
    }
}

/// A database in which people work belongs to another store: its administrator may not get a new password.
fn refuse_taken(tx: &mut Tx, options: &InitOptions) -> Result<(), StoreError> {
    if users::nobody_worked_but(tx, options.admin_login.trim())? { Ok(()) } else { Err(StoreError::Taken) }
}

fn add_administrator(
    tx: &mut Tx,
    options: &InitOptions,
    password_hash: String,
    now: Timestamp,
) -> Result<(), StoreError> {
    refuse_taken(tx, options)?;
    let login = options.admin_login.trim();
    if let Some(user) = users::by_login(tx, login)? {
        // A start that broke off before the settings were written.
        return Ok(users::set_password(tx, user.id, &password_hash)?);
    }
    let group = groups::by_skey(tx, groups::ADMIN, &options.language)?;
    let new = users::NewUser {
        login: login.to_owned(),
        name: options.admin_name.clone(),
        password_hash,
        main_group: group.map(|group| group.id),
        now,
    };
    users::create(tx, &new)?;
    Ok(())
}

/// Writes the settings as a whole: nobody ever sees half of them. The file holds secrets, so a new one is its owner's only.
pub fn write_config(root: &Path, config: &Config) -> Result<(), StoreError> {
    let file = root.join(wire::paths::CONFIG);
    let write = || {
        let mut text = serde_json::to_string_pretty(config)?;
        text.push('\n');
        replace(&file, &text)
    };
    write().map_err(|error| StoreError::File(file.clone(), error))
}

/// Opens a store's database, brought to this build.
pub fn open_db(root: &Path) -> Result<Db, StoreError> {
    let settings = Settings::read(root)?;
    Ok(open(&settings.config, root, Timestamp::now())?)
}

pub(crate) fn open(config: &Config, root: &Path, now: Timestamp) -> Result<Db, DbError> {
    let db = Db::open(&config.database, root)?;
    prepare(&db, now)?;
    Ok(db)
}

/// Brings a database to this build.
pub(crate) fn prepare(db: &Db, now: Timestamp) -> Result<(), DbError> {
    db.migrate()?;
    db.write(|tx| db::seed::base(tx, now))
}

/// Changes a password; whoever is signed in with the old one is signed out.
pub fn set_password(root: &Path, login: &str, password: &str) -> Result<(), StoreError> {
    if password.is_empty() {
        return Err(StoreError::Empty);
    }
    let hash = hash_password(password)?;
    open_db(root)?.write(|tx| {
        let user = find_user(tx, login)?;
        Ok(users::set_password(tx, user, &hash)?)
    })
}

/// Adds a person; `group` is the key of their main group. Rights come with the group, or are granted.
pub fn add_user(
    root: &Path,
    login: &str,
    name: &str,
    group: Option<&str>,
    password: &str,
) -> Result<(), StoreError> {
    if login.trim().is_empty() || password.is_empty() {
        return Err(StoreError::Empty);
    }
    let login = new_login(login)?;
    let password_hash = hash_password(password)?;
    open_db(root)?.write(|tx| {
        if users::by_login(tx, &login)?.is_some() {
            return Err(StoreError::LoginTaken(login));
        }
        if let Some(there) = users::looks_like(tx, &login)? {
            return Err(StoreError::LooksLike(login, there));
        }
        let main_group = match group {
            None => None,
            Some(skey) => {
                let group = groups::by_skey(tx, skey, "en")?;
                Some(group.ok_or_else(|| StoreError::NoSuchGroup(skey.to_owned()))?.id)
            }
        };
        let name = name.to_owned();
        users::create(tx, &NewUser { login, name, password_hash, main_group, now: Timestamp::now() })?;
        Ok(())
    })
}

/// Sets a password unless it is this one already, so that nobody is signed out in vain. Whether it was set.
pub fn keep_password(root: &Path, login: &str, password: &str) -> Result<bool, StoreError> {
    let user = open_db(root)?.read(|tx| users::by_login(tx, login))?;
    let user = user.ok_or_else(|| StoreError::NoSuchUser(login.to_owned()))?;
    if crate::gate::passwords::is_right(password, &user.password_hash) {
        return Ok(false);
    }
    set_password(root, login, password).map(|()| true)
}

/// Blocks a user, at once and everywhere, or lets them work again.
pub fn set_blocked(root: &Path, login: &str, blocked: bool) -> Result<(), StoreError> {
    open_db(root)?.write(|tx| {
        let user = find_user(tx, login)?;
        Ok(users::set_blocked(tx, user, blocked)?)
    })
}

/// Grants a command.
pub fn grant(root: &Path, holder: &Holder, command: &str) -> Result<(), StoreError> {
    open_db(root)?.write(|tx| {
        let is_known = match find_holder(tx, holder)? {
            Id::User(id) => rights::grant_to_user(tx, id, command)?,
            Id::Group(id) => rights::grant_to_group(tx, id, command)?,
        };
        if is_known { Ok(()) } else { Err(StoreError::NoSuchCommand(command.to_owned())) }
    })
}

/// Takes a granted command back. Whether it was granted.
pub fn revoke(root: &Path, holder: &Holder, command: &str) -> Result<bool, StoreError> {
    open_db(root)?.write(|tx| match find_holder(tx, holder)? {
        Id::User(id) => Ok(rights::revoke_from_user(tx, id, command)?),
        Id::Group(id) => Ok(rights::revoke_from_group(tx, id, command)?),
    })
}

enum Id {
    User(i64),
    Group(i64),
}

fn find_holder(tx: &mut Tx, holder: &Holder) -> Result<Id, StoreError> {
    match holder {
        Holder::Login(login) => find_user(tx, login).map(Id::User),
        Holder::Group(skey) => {
            let group = groups::by_skey(tx, skey, "en")?;
            group.map(|group| Id::Group(group.id)).ok_or_else(|| StoreError::NoSuchGroup(skey.clone()))
        }
    }
}

fn find_user(tx: &mut Tx, login: &str) -> Result<i64, StoreError> {
    let user = users::by_login(tx, login)?;
    user.map(|user| user.id).ok_or_else(|| StoreError::NoSuchUser(login.to_owned()))
}

/// Closes a store for works: nobody is let in until it is opened.
pub fn lock(root: &Path) -> Result<(), StoreError> {
    // A marker where no store is would leave the store open that was meant.
    let config = root.join(wire::paths::CONFIG);
    fs::metadata(&config).map_err(|error| StoreError::File(config, error))?;
    let marker = root.join(wire::paths::SHOP_LOCK);
    fs::write(&marker, "").map_err(|error| StoreError::File(marker, error))
}

#[cfg(test)]
mod tests;
