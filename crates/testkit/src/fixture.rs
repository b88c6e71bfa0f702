//! The binary under test and the sample store that every test copies.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

use crate::binary::Binary;
use crate::postgres::psql;
use crate::try_process::{TryOptions, Trying};

/// The binary under test, with the sample store made once by its `try`.
pub struct Fixture {
    binary: Binary,
    /// Where the sample store is made; it stays there for the next run to replace.
    place: PathBuf,
    /// Address of a PostgreSQL server, where the stores of this fixture live there.
    postgres: Option<String>,
    template: Mutex<Option<Template>>,
    databases: AtomicU32,
}

struct Template {
    folder: PathBuf,
    database: Option<String>,
}

impl Fixture {
    /// Stores on SQLite; the sample is made below `place`.
    pub fn new(binary: &str, place: &str) -> Self {
        Self {
            binary: Binary::new(binary),
            place: PathBuf::from(place),
            postgres: None,
            template: Mutex::new(None),
            databases: AtomicU32::new(0),
        }
    }

    /// Stores on the PostgreSQL server of `TEST_DATABASE_URL`, where it is set.
    pub fn postgres(binary: &str, place: &str) -> Option<Self> {
        let url = std::env::var("TEST_DATABASE_URL").ok().filter(|url| !url.is_empty())?;
        Some(Self { postgres: Some(url), ..Self::new(binary, place) })
    }

    /// Short word for the database of this fixture.
    pub fn dialect(&self) -> &'static str {
        if self.postgres.is_some() { "postgres" } else { "sqlite" }
    }

    /// The binary under test.
    pub fn binary(&self) -> &Binary {
        &self.binary
    }

    /// The binary under test, in an environment without settings of the person who runs the tests.
    pub fn command(&self) -> Command {
        self.binary.command()
    }

    /// Copies the sample store into this folder; gives the address of its database on a server.
    pub(crate) fn copy_sample(&self, to: &Path) -> Result<Option<String>> {
        let mut template = self.template.lock().unwrap_or_else(PoisonError::into_inner);
        if template.is_none() {
            *template = Some(self.make_template()?);
        }
        let template = template.as_ref().context("no template")?;
        copy_folder(&template.folder, to)?;
        let Some(from) = &template.database else { return Ok(None) };
        let name = self.database_name();
        self.psql(&format!("create database {name} template {from}"))?;
        self.address_of(&name).map(Some)
    }

    /// Makes the sample store as a person does: by starting `try`; then stops it.
    fn make_template(&self) -> Result<Template> {
        let folder = self.place.join(format!("sample-{}", self.dialect()));
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let mut options = TryOptions::default();
        let mut database = None;
        if self.postgres.is_some() {
            // Each of the test programs that may run at once has its own.
            let user = self.place.file_name().map(|name| name.to_string_lossy().into_owned());
            let name = format!("shopwright_template_{}", user.unwrap_or_default().replace('-', "_"));
            self.psql(&format!("drop database if exists {name} with (force)"))?;
            self.psql(&format!("create database {name}"))?;
            options.arguments = vec!["--database".to_owned(), self.address_of(&name)?];
            database = Some(name);
        }
        let mut trying = Trying::start(&self.binary, &folder, &options)?;
        trying.stop()?;
        // The program's home names the folder of the sample, which no copy should.
        std::fs::remove_dir_all(folder.join("home"))?;
        Ok(Template { folder, database })
    }

    fn database_name(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        format!("shopwright_test_{}_{number}", std::process::id())
    }

    /// The address of a new, empty database on the server; [`Fixture::drop_database`] removes it.
    pub fn empty_database(&self) -> Result<String> {
        let name = self.database_name();
        self.psql(&format!("create database {name}"))?;
        self.address_of(&name)
    }

    /// The address of another database on the same server.
    fn address_of(&self, name: &str) -> Result<String> {
        let url = self.postgres.as_deref().context("no PostgreSQL")?;
        let (server, _) = url.rsplit_once('/').context("TEST_DATABASE_URL names no database")?;
        Ok(format!("{server}/{name}"))
    }

    /// Runs a statement on the server, as its owner.
    fn psql(&self, sql: &str) -> Result<()> {
        psql(self.postgres.as_deref().context("no PostgreSQL")?, sql).map(|_| ())
    }

    /// Removes the database of a finished test, with the login that agents' statements had there.
    pub fn drop_database(&self, url: &str) {
        if let Some((_, name)) = url.rsplit_once('/') {
            let _ = self.psql(&format!("drop database if exists {name} with (force)"));
            let drop = format!(
                "do $$ begin execute 'drop role if exists shopwright_' || left(md5('{name}.public'), 16); end $$"
            );
            let _ = self.psql(&drop);
        }
    }
}

/// Copies files and folders; sockets and links stay behind.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    std::fs::set_permissions(to, std::fs::metadata(from)?.permissions())?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
