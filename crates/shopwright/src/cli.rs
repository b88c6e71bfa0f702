//! The command line: every subcommand, its arguments, their help.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use mcp::StorePin;

use crate::exit::Exit;

/// A shop for people and their AI assistants, in one binary.
#[derive(Debug, Parser)]
#[command(
    name = "shopwright",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make (or reopen) a sample store and start all of it
    Try(Try),
    /// Play an agent application against a running `try` and print every call and answer
    Tour(Tour),
    /// Run the engine of one store
    Serve(Serve),
    /// Run the program: sign-in, list of stores, console on loopback
    Desk(Desk),
    /// Run the MCP server on stdin and stdout, for agent applications
    Mcp(Mcp),
    /// Walk the sign-in step by step and say what is wrong and who mends it
    Check(Check),
    /// Keep a store on the server: make, lock, passwords, rights
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Store {
        /// What to do with the store.
        #[command(subcommand)]
        command: StoreCommand,
    },
    /// Be a licence authority: keys, customers, tokens
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Licensor {
        /// What to do as the authority.
        #[command(subcommand)]
        command: LicensorCommand,
    },
    /// Run units of a store for its engine, which starts this itself
    #[command(hide = true)]
    UnitWorker,
}

/// Arguments of `try`.
#[derive(Debug, Args)]
#[command(after_help = "\
The sample is a small tea shop with three people: `admin`, the owner; `irina`, a manager with some rights; \
`oleg`, a trainee with none. When everything answers, DIR/try.json tells the addresses, the people with \
their passwords and what an agent application must start; it is removed when `try` stops. Ctrl-C stops.")]
pub(crate) struct Try {
    /// Folder of the sample store
    #[arg(default_value = "shopwright-try")]
    pub(crate) dir: PathBuf,
    /// Port of the storefront; the console takes the next one; 0 takes free ports
    #[arg(long, default_value_t = 8420)]
    pub(crate) port: u16,
    /// Who is signed in to the program: admin, irina or oleg
    #[arg(long = "as", value_name = "LOGIN", default_value = "admin")]
    pub(crate) login: String,
    /// Database of a new store: postgres://USER:PASSWORD@HOST/NAME [default: SQLite in DIR]
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Language of the store [default: en, or what the store already has]
    #[arg(long)]
    pub(crate) language: Option<Language>,
}

/// Languages that ship complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// English
    En,
    /// Russian
    Ru,
}

impl Language {
    /// The language's code.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ru => "ru",
        }
    }
}

/// Arguments of `tour`.
#[derive(Debug, Args)]
#[command(after_help = "Start `shopwright try` first, in another terminal.")]
pub(crate) struct Tour {
    /// Folder of the running sample store
    #[arg(default_value = "shopwright-try")]
    pub(crate) dir: PathBuf,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// Listen here instead of where config.json says
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Start in demo mode (admin.here) even on an address that others can reach
    #[arg(long)]
    pub(crate) allow_open_demo: bool,
}

/// Arguments of `desk`.
#[derive(Debug, Args)]
pub(crate) struct Desk {
    /// Where the console listens; loopback only, port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8421")]
    pub(crate) listen: SocketAddr,
    /// Store folder to open at once [default: the one opened last]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Whether agent applications ask a person before each call; kept for later starts [default: as each does by itself]
    #[arg(long, value_enum, value_name = "CHOICE")]
    pub(crate) approval: Option<ApprovalChoice>,
}

/// Whether agent applications ask before each call.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ApprovalChoice {
    /// They ask.
    Ask,
    /// They do not; agents that nobody watches need this.
    Approve,
}

/// Arguments of `mcp`.
#[derive(Debug, Args)]
#[command(after_help = "\
Agent applications start this command themselves; docs/connect.md tells how each is told. \
The login comes from the running program, else from Shop.ini with the saved password.")]
pub(crate) struct Mcp {
    /// Pin the server to this store folder [default: the store last opened in the program]
    // `--store` without a folder is answered in words by `session_init`, where a person sees it:
    // what a child process says about usage is lost in most agent applications.
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<Option<OsString>>,
}

impl Mcp {
    /// The pin: none, a folder, or `--store` without one.
    pub(crate) fn pin(&self) -> Option<StorePin> {
        self.store.as_ref().map(|folder| match folder {
            Some(folder) if !folder.is_empty() => StorePin::Folder(PathBuf::from(folder)),
            _ => StorePin::NoFolder,
        })
    }
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Store folder to check [default: the store last opened in the program]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

/// What can be done with a store on the server.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Make a new store with one administrator
    Init(StoreInit),
    /// Add a person
    #[command(name = "adduser")]
    AddUser(StoreAddUser),
    /// Set a person's password; their open sessions end
    Passwd(StoreLogin),
    /// Close the store for works
    Lock(StoreRoot),
    /// Open the store after works
    Unlock(StoreUnlock),
    /// Move the store to another database
    Migrate(StoreMigrate),
    /// Write the store's rows, settings and files into one file
    Backup(StoreBackup),
    /// Make the store from a backup, in folder of what is there
    Restore(StoreRestore),
    /// Fill an empty shop with sample goods, for measuring
    Seed(StoreSeed),
    /// Make lists of products, their counts and the words for searching anew
    Reindex(StoreReindex),
    /// Take products or a price list from a table of another shop or a supplier
    Import(StoreImport),
    /// Write the products into a table that Shopify or WooCommerce takes
    Export(StoreExport),
    /// Say where totals, payments and stock contradict each other
    CheckBooks(StoreCheckBooks),
    /// Block a person; their open sessions end
    Block(StoreLogin),
    /// Let a blocked person in again
    Unblock(StoreLogin),
    /// Grant a command to a person or a group
    Grant(StoreRight),
    /// Withdraw a command from a person or a group; works at once
    Revoke(StoreRight),
}

/// The store's root.
#[derive(Debug, Args)]
pub(crate) struct StoreRoot {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
}

/// Arguments of `store unlock`.
#[derive(Debug, Args)]
#[command(after_help = "What an interrupted `migrate` or `restore` left is given up, or brought to its end.")]
pub(crate) struct StoreUnlock {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// Open a database too whose rows were moved elsewhere
    #[arg(long)]
    pub(crate) moved: bool,
}

/// Arguments of `store migrate`.
#[derive(Debug, Args)]
#[command(after_help = "\
The store is closed while it moves, and an engine that runs must be stopped or the store locked before. The old \
database stays where it is, closed for writing. Interrupted, the same command goes on.")]
pub(crate) struct StoreMigrate {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// The database to move to: sqlite:PATH below the root, or postgres://…; `-` reads it from stdin
    #[arg(long, value_name = "URL")]
    pub(crate) to: String,
    /// Remove the rows that are there
    #[arg(long)]
    pub(crate) replace: bool,
}

/// Arguments of `store backup`.
#[derive(Debug, Args)]
#[command(after_help = "\
Engines may go on. The file holds password hashes and the secrets of config.json: keep it as you keep the store.")]
pub(crate) struct StoreBackup {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// The backup to write, FILE.tar.gz; an older one there is replaced
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
}

/// Arguments of `store restore`.
#[derive(Debug, Args)]
#[command(after_help = "\
The backup is looked through from end to end before anything is replaced. An engine that runs must be stopped or the \
store locked before. `listen`, `url`, `database` and `trusted_proxies` stay as config.json here has them.")]
pub(crate) struct StoreRestore {
    /// The store's root: that of the store to replace, or a new or empty folder
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// The backup
    #[arg(long, value_name = "FILE")]
    pub(crate) from: PathBuf,
    /// Database to restore into: sqlite:PATH or postgres://… [default: this store's, else SQLite]
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Remove the rows of a database that is not this store's
    #[arg(long)]
    pub(crate) replace: bool,
}

/// Arguments of `store seed`.
#[derive(Debug, Args)]
#[command(after_help = "\
A tea shop with categories, variants, prices, stock, customers, orders and reviews: the same rows at each run. Only a \
shop that has none of these yet is filled. It is one transaction, so stop the engine before: nobody else can write \
meanwhile.")]
pub(crate) struct StoreSeed {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// How many products
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(i64).range(1..=1_000_000))]
    pub(crate) products: i64,
}

/// Arguments of `store reindex`.
#[derive(Debug, Args)]
#[command(after_help = "\
The engine keeps these rows up by itself; this is for after rows were written by other programs, or a doubt. It works \
beside a running engine, and visitors go on reading what there is. Interrupted, the same command goes on, and so does \
the engine.")]
pub(crate) struct StoreReindex {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
}

/// Layouts of tables that are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExchangeFormat {
    /// Products as Shopify exports them
    Shopify,
    /// Products as WooCommerce exports them
    Woocommerce,
    /// A supplier's price list
    Prices,
}

/// Layouts of tables that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Products as Shopify takes them
    Shopify,
    /// Products as WooCommerce takes them
    Woocommerce,
}

/// How the letters of a table are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExchangeEncoding {
    /// UTF-8
    #[value(name = "utf-8")]
    Utf8,
    /// UTF-16, the lower byte first
    #[value(name = "utf-16le")]
    Utf16le,
    /// UTF-16, the higher byte first
    #[value(name = "utf-16be")]
    Utf16be,
    /// Cyrillic of Windows
    #[value(name = "windows-1251")]
    Windows1251,
    /// Latin of Windows
    #[value(name = "windows-1252")]
    Windows1252,
}

/// The sign that parts decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExchangeSign {
    /// 1,50
    Comma,
    /// 1.50
    Point,
}

/// Arguments of `store import`.
#[derive(Debug, Args)]
#[command(after_help = "\
All of the table is taken or nothing: whatever is wrong is told with its line and column, and then nothing is changed. \
The same table again changes nothing. What a table has no column for, or an empty cell, stays as it is; categories, \
tags and pictures are added and never taken away. New products are drafts that no visitor sees, unless --publish is \
given. Pictures are looked for in the folder of --pictures by the end of their address; nothing is fetched from other \
servers. It is one transaction: on SQLite the engine cannot write meanwhile.")]
pub(crate) struct StoreImport {
    /// The table, CSV
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// Only tell what would happen, and the token for exactly that
    #[arg(long)]
    pub(crate) check: bool,
    /// Token that --check told: it is done only if it is still what was looked at
    #[arg(long, value_name = "TOKEN", conflicts_with = "check")]
    pub(crate) token: Option<String>,
    /// Per cent by which a price may change without having been looked at
    #[arg(long, value_name = "PERCENT", default_value_t = engine::exchange::JUMP)]
    pub(crate) jump: u32,
    /// Layout of the table [default: what its header row says]
    #[arg(long, value_enum, value_name = "LAYOUT")]
    pub(crate) format: Option<ExchangeFormat>,
    /// Let the table say what visitors see
    #[arg(long)]
    pub(crate) publish: bool,
    /// Folder of the products' pictures
    #[arg(long, value_name = "DIR")]
    pub(crate) pictures: Option<PathBuf>,
    /// Key of the supplier whose price list it is; a new key makes a new supplier
    #[arg(long, value_name = "SKEY")]
    pub(crate) supplier: Option<String>,
    /// Sign of the decimals [default: what each amount says]
    #[arg(long, value_enum, value_name = "SIGN")]
    pub(crate) decimal: Option<ExchangeSign>,
    /// Encoding of the table [default: what its content says]
    #[arg(long, value_enum, value_name = "ENCODING")]
    pub(crate) encoding: Option<ExchangeEncoding>,
}

/// Arguments of `store export`.
#[derive(Debug, Args)]
#[command(after_help = "\
`store import` takes such a table again and changes nothing. Texts that a spreadsheet would take for formulas begin \
with a ' in it. It only reads, beside a running engine.")]
pub(crate) struct StoreExport {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// Layout of the table
    #[arg(long, value_enum, value_name = "LAYOUT")]
    pub(crate) format: ExportFormat,
    /// The table to write, FILE.csv; an older one there is replaced
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
}

/// Arguments of `store check-books`.
#[derive(Debug, Args)]
#[command(after_help = "\
It only reads, beside a running engine. Exit code 1 means that something contradicts something; which side is wrong is \
for a person to say. The engine does the same every night and tells its log and /core/metrics.")]
pub(crate) struct StoreCheckBooks {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
}

/// A person of a store.
#[derive(Debug, Args)]
pub(crate) struct StoreLogin {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// The person's login
    #[arg(long)]
    pub(crate) login: String,
}

/// A new person of a store.
#[derive(Debug, Args)]
pub(crate) struct StoreAddUser {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// The person's login
    #[arg(long)]
    pub(crate) login: String,
    /// The person's name
    #[arg(long)]
    pub(crate) name: String,
    /// Key of their main group, like ADMIN; without it they have none
    #[arg(long, value_name = "SKEY")]
    pub(crate) group: Option<String>,
}

/// A right of a person or a group.
#[derive(Debug, Args)]
pub(crate) struct StoreRight {
    /// The store's root: the folder with config.json
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// The person
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// The command, like AGENT_MEMORY_LIST or SCHEDULER
    pub(crate) command: String,
}

/// A person or a group.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Whose {
    /// Login of a person
    #[arg(long)]
    pub(crate) login: Option<String>,
    /// Key (skey) of a group
    #[arg(long, value_name = "SKEY")]
    pub(crate) group: Option<String>,
}

/// Arguments of `store init`.
#[derive(Debug, Args)]
#[command(
    after_help = "The administrator's password is asked for on a terminal and read from stdin otherwise."
)]
pub(crate) struct StoreInit {
    /// The store's root: a new or empty folder
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// The store's name
    #[arg(long)]
    pub(crate) name: String,
    /// The store's public address
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8420")]
    pub(crate) url: String,
    /// Where the engine listens
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8420")]
    pub(crate) listen: SocketAddr,
    /// Language of the store's names
    #[arg(long, default_value = "en")]
    pub(crate) language: Language,
    /// Time zone of the store (IANA)
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub(crate) time_zone: String,
    /// Main currency (ISO 4217)
    #[arg(long, value_name = "CODE", default_value = "EUR")]
    pub(crate) currency: String,
    /// sqlite:PATH below the root, or postgres://…
    #[arg(long, value_name = "URL", default_value = "sqlite:core/store.db")]
    pub(crate) database: String,
    /// Login of the administrator
    #[arg(long, value_name = "LOGIN", default_value = "admin")]
    pub(crate) admin_login: String,
    /// Name of the administrator
    #[arg(long, value_name = "NAME", default_value = "Administrator")]
    pub(crate) admin_name: String,
}

/// What a licence authority does.
#[derive(Debug, Subcommand)]
pub(crate) enum LicensorCommand {
    /// Make the authority's keys, where there are none; prints the public one, for config.json of the stores
    Keys(LicensorFolder),
    /// Add a customer; prints the secret for their config.json
    Add(CustomerAdd),
    /// List the customers
    List(LicensorFolder),
    /// Remove a customer: they get no more tokens
    Remove(CustomerRemove),
    /// Give tokens to programs, until stopped
    Serve(LicensorServe),
}

/// The authority's folder.
#[derive(Debug, Args)]
pub(crate) struct LicensorFolder {
    /// Folder with the authority's keys and customers
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

/// Arguments of `licensor add`.
#[derive(Debug, Args)]
pub(crate) struct CustomerAdd {
    /// Folder with the authority's keys and customers
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Name of the customer
    pub(crate) name: String,
    /// Domain of a store, without port; may be repeated
    #[arg(long = "domain", required = true)]
    pub(crate) domains: Vec<String>,
    /// Login that is licensed; may be repeated [default: any]
    #[arg(long = "login")]
    pub(crate) logins: Vec<String>,
    /// Last day of the licence, YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    pub(crate) until: jiff::civil::Date,
}

/// Arguments of `licensor remove`.
#[derive(Debug, Args)]
pub(crate) struct CustomerRemove {
    /// Folder with the authority's keys and customers
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Name of the customer
    pub(crate) name: String,
}

/// Arguments of `licensor serve`.
#[derive(Debug, Args)]
pub(crate) struct LicensorServe {
    /// Folder with the authority's keys and customers
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Where to listen; put TLS in front of it
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8430")]
    pub(crate) listen: SocketAddr,
}

/// Shows what clap has to say: help and version are done, the rest is wrong usage.
pub(crate) fn show(words: &clap::Error) -> Exit {
    let _ = words.print();
    match words.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Done,
        _ => Exit::Usage,
    }
}

#[cfg(test)]
mod tests;
