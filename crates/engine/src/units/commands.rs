//! Commands of the store's own AI tools: a unit's function, run in the transaction of the call, with the rights of its
//! person.

use std::time::Instant;

use db::{Tx, users};
use sandbox::Value;
use serde_json::{Map, Value as Json};
use tools::{Caller, CodeReport, CommandCall, CommandDone, CommandFailed, Mistake};
use wire::{Fault, Stop};

use super::error::UnitError;
use super::run::Outcome;
use super::values::{from_json, to_json};
use super::visit::{Audience, Person, Visit};
use super::{Units, loader};
use crate::request_context::RequestContext;

/// The part of a transaction that a command is.
const PART: &str = "command";

/// The units as one call of a person sees them.
pub(crate) struct UnitsOfCall<'a> {
    units: &'a Units,
    context: &'a RequestContext,
    caller: &'a Caller,
}

impl<'a> UnitsOfCall<'a> {
    /// The units for a call.
    pub(crate) fn new(units: &'a Units, context: &'a RequestContext, caller: &'a Caller) -> Self {
        Self { units, context, caller }
    }

    fn visit(&self, name: String, unit: &str) -> Visit {
        let settings = &self.context.settings;
        let person = Person { id: self.caller.id, login: self.caller.login.clone(), name };
        Visit {
            method: "POST".to_owned(),
            path: format!("/tool_run/{unit}"),
            query: Vec::new(),
            post: Vec::new(),
            cookies: Vec::new(),
            client: Some(self.context.client),
            audience: Audience::Person(person),
            look: Visit::look(settings, &settings.config.language),
            settings: std::sync::Arc::clone(settings),
            now: self.context.now,
            is_debugged: false,
        }
    }

    fn run(&self, tx: &mut Tx, call: &CommandCall) -> Result<(CommandDone, Outcome), CommandFailed> {
        let name = users::by_id(tx, self.caller.id).map_err(broke)?.map(|user| user.name);
        let visit = self.visit(name.unwrap_or_default(), &call.unit);
        let args = vec![self.caller.id.into(), from_json(Json::Object(call.params.clone()))];
        let started = Instant::now();
        let mut outcome = self.units.run_within(tx, &visit, (&call.unit, &call.function), args);
        let took = started.elapsed();
        let answer = std::mem::replace(&mut outcome.result, Ok(Value::Null)).map_err(failed)?;
        let (queries, query_time) = outcome.report.queries();
        Ok((CommandDone { answer: to_json(&answer), took, queries, query_time }, outcome))
    }
}

impl tools::Units for UnitsOfCall<'_> {
    fn command(&self, tx: &mut Tx, call: CommandCall) -> Result<CommandDone, CommandFailed> {
        tx.mark(PART).map_err(broke)?;
        let ran = self.run(tx, &call);
        let is_kept = matches!(&ran, Ok((done, _)) if done.answer["result"] == Json::Bool(true));
        if let (true, Ok((_, outcome))) = (is_kept, &ran) {
            outcome.effects.carry_out(tx, Some(self.caller.id), self.context.now).map_err(broke)?;
        }
        tx.end_mark(PART, is_kept).map_err(broke)?;
        ran.map(|(done, _)| done)
    }

    fn code(&self, path: &str, source: &str) -> Result<Result<CodeReport, Mistake>, Stop> {
        self.units.read_code(path, source)
    }

    fn template(&self, path: &str, source: &str) -> Result<(), Mistake> {
        super::checks::template(path, source)
    }

    fn manifest(&self, path: &str, source: &str) -> Result<Map<String, Json>, Mistake> {
        super::checks::manifest(path, source)
    }

    fn has_runtime(&self, ending: &str) -> bool {
        ending == "js"
    }
}

fn broke(error: db::DbError) -> CommandFailed {
    CommandFailed::Broke(error.into())
}

fn failed(error: UnitError) -> CommandFailed {
    match error {
        UnitError::NotFound(name) => CommandFailed::NoModule(loader::source_path(&name)),
        UnitError::NoModule(file) => CommandFailed::NoModule(file),
        UnitError::NoFunction { function, .. } => CommandFailed::NoFunction(function),
        UnitError::Broken(why) => CommandFailed::Broke(Fault::new(why).into()),
        other => CommandFailed::Failed(words(&other)),
    }
}

/// The error without the beginning that all of its kind have.
fn words(error: &UnitError) -> String {
    let text = error.to_string();
    text.strip_prefix("Module Runtime Exception: ").unwrap_or(&text).to_owned()
}
