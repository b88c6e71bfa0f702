//! Units: the store's own scripts with their manifests and templates, run in worker processes.
//!
//! A page is a run: one outermost unit in one worker, which asks the engine for
//! data, templates and other units. What it asked for is noted, so that a cache
//! can know when its answer is old. A visitor never sees that a unit failed.

pub(crate) mod cache;
mod checks;
mod commands;
mod compile;
mod dependencies;
mod effects;
mod error;
mod failures;
mod host;
mod loader;
mod manifest;
pub(crate) mod name;
pub(crate) mod path;
mod report;
mod run;
mod shared;
mod stamp;
pub(crate) mod templates;
mod tree;
pub(crate) mod values;
pub(crate) mod visit;
mod writing;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use db::journal::{self, Actor, Entry};
use db::{Db, Tx};
use sandbox::{Pool, PoolConfig, PoolError, Value};

use crate::gate::passwords::Passwords;

pub(crate) use commands::UnitsOfCall;
pub(crate) use error::UnitError;
pub(crate) use manifest::Manifest;
pub(crate) use run::Outcome;
pub(crate) use templates::{clean_html, decimal};
pub(crate) use tree::Tree;
pub(crate) use values::to_json;

use crate::mail::MailTemplates;
use cache::{Cache, Proof};
use failures::Failures;
use loader::Loader;
use run::Run;
use templates::{Look, Templates};
use visit::{Audience, Visit};
use writing::Writing;

/// The units of one store.
pub(crate) struct Units {
    db: Db,
    workers: PoolConfig,
    /// By how much the usual times are multiplied.
    patience: u32,
    /// Started when the first unit runs: most stores' commands run none.
    pool: Mutex<Option<Arc<Pool>>>,
    loader: Loader,
    templates: Templates,
    tree: Tree,
    failures: Failures,
    /// Checks customers' passwords; people's have turns of their own, which no visitor takes.
    passwords: Passwords,
    /// What units and pages answered.
    pub(crate) cache: Cache,
}

impl Units {
    /// The units below a root, with workers to run them.
    pub(crate) fn new(
        root: &Path,
        db: Db,
        mut workers: PoolConfig,
        patience: u32,
        cache_megabytes: u64,
    ) -> Self {
        let tree = Tree::new(root);
        workers.wait *= patience;
        Self {
            cache: Cache::new(db.clone(), cache_megabytes),
            db,
            workers: host::with_calls(workers),
            patience,
            pool: Mutex::new(None),
            loader: Loader::new(tree.clone()),
            templates: Templates::new(tree.clone()),
            tree,
            failures: Failures::new(root.to_owned()),
            passwords: Passwords::new(),
        }
    }

    /// The workers, started where they were not.
    fn pool(&self) -> Result<Arc<Pool>, PoolError> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        match &*pool {
            Some(pool) => Ok(Arc::clone(pool)),
            None => {
                let started = Arc::new(Pool::start(self.workers.clone())?);
                *pool = Some(Arc::clone(&started));
                Ok(started)
            }
        }
    }

    /// Whether the files of a kept answer for a look are as they were.
    pub(crate) fn check_files(&self, proof: &Proof, look: &Look) -> Result<(), String> {
        self.cache.look(proof);
        proof.check_files(self.loader.tree(), &self.templates.group(look))
    }

    /// Whether there is a unit of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.loader.has(name)
    }

    /// A unit's manifest.
    pub(crate) fn manifest(&self, name: &str) -> Result<Manifest, UnitError> {
        self.loader.manifest(name)
    }

    /// Whether the store has this mail among its templates.
    pub(crate) fn has_mail(&self, look: &Look, mail: &str) -> bool {
        MailTemplates::new(self.tree.clone(), look, mail).is_there()
    }

    /// Runs a function of a unit, carries out what it set going, and records what failed.
    pub(crate) fn run(&self, visit: &Visit, name: &str, function: &str, args: Vec<Value>) -> Outcome {
        let ran = self.pool().and_then(|pool| {
            pool.with_session(|session| Run::new(self, &pool, visit).outermost(session, name, function, args))
        });
        let mut outcome = ran.unwrap_or_else(|error| Outcome::broken(error.to_string()));
        let writing = outcome.writing.take();
        if outcome.result.is_ok()
            && (writing.is_some() || !outcome.effects.is_empty())
            && let Err(error) = self.carry_out(visit, name, &outcome, writing)
        {
            outcome.result = Err(error);
        }
        for error in outcome.failures.iter().chain(outcome.result.as_ref().err()) {
            self.failures.record(&self.db, &visit.path, error, visit.now);
        }
        outcome
    }

    /// Runs a function of a unit in the transaction of a call, which ends it. What the unit set going is the caller's
    /// to carry out, and what failed the caller's to tell.
    pub(crate) fn run_within(
        &self,
        tx: &mut Tx,
        visit: &Visit,
        (name, function): (&str, &str),
        args: Vec<Value>,
    ) -> Outcome {
        let ran = self.pool().and_then(|pool| {
            pool.with_session(|session| {
                Run::new(self, &pool, visit).within(tx).outermost(session, name, function, args)
            })
        });
        let outcome = ran.unwrap_or_else(|error| Outcome::broken(error.to_string()));
        for error in outcome.failures.iter().chain(outcome.result.as_ref().err()) {
            self.failures.note(&visit.path, error, visit.now);
        }
        outcome
    }

    /// Keeps what the run wrote, together with what it set going. Where it failed, nobody comes here, and all is
    /// taken back.
    fn carry_out(
        &self,
        visit: &Visit,
        unit: &str,
        outcome: &Outcome,
        writing: Option<Writing<'static>>,
    ) -> Result<(), UnitError> {
        let user = match &visit.audience {
            Audience::Visitor => None,
            Audience::Person(person) => Some(person.id),
        };
        let by = match user {
            None => Entry::of(visit.now, Actor::Visitor, ""),
            Some(person) => Entry { actor: Actor::Person, ..Entry::new(visit.now, person, "") },
        };
        let done = match writing.map(Writing::take) {
            None => self.db.write(|tx| {
                journal::by(tx, by);
                outcome.effects.carry_out(tx, user, visit.now)
            }),
            Some(Some(mut tx)) => {
                journal::by(&mut tx, by);
                outcome.effects.carry_out(&mut tx, user, visit.now).and_then(|()| tx.keep())
            }
            Some(None) => return Err(UnitError::time_of_transaction(unit)),
        };
        done.map_err(|error| {
            tracing::error!(cause = ?error, "What a unit set going was not done");
            UnitError::Broken("the database cannot be used".to_owned())
        })
    }
}
