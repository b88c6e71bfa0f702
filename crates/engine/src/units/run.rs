//! One run: an outermost call of a unit and everything it calls, with its limits, effects and report.

use std::sync::Arc;
use std::time::{Duration, Instant};

use db::{DbError, Tx};
use sandbox::{Call, CallError, Limits, Pool, Session, Value};
use serde_json::Value as Json;

use super::Units;
use super::dependencies::Dependencies;
use super::effects::Effects;
use super::error::{Place, UnitError};
use super::loader::Unit;
use super::report::Report;
use super::shared::Shared;
use super::templates::Group;
use super::visit::{Audience, Reply, Visit, map};
use super::writing::Writing;

/// How deep units may call each other.
const DEPTH: u32 = 16;
/// Memory of one call.
const MEMORY_MB: u64 = 64;
/// Largest answer of a call, and of one host call's arguments.
const OUTPUT: u64 = 8 << 20;
/// Time of a page.
pub(crate) const PAGE_TIME: Duration = Duration::from_secs(2);
/// Time of a form that a visitor sent: an order may wait for others of the same goods, and a password for its turn.
const FORM_TIME: Duration = Duration::from_secs(15);
/// Time of a unit that a person or an agent runs.
pub(crate) const PERSON_TIME: Duration = Duration::from_secs(60);
/// Statements and typed calls of one call.
const QUERIES: u32 = 500;
/// Host calls of one call.
const CALLS: u32 = 20_000;
/// Longest error text that goes into a page's report or a log.
const LONGEST_TEXT: usize = 4000;

/// What came of a run.
pub(crate) struct Outcome {
    /// What the unit answered.
    pub(crate) result: Result<Value, UnitError>,
    /// Status, headers, cookies.
    pub(crate) reply: Reply,
    /// What is done once the answer stands.
    pub(crate) effects: Effects,
    /// What was written, to be kept with the answer.
    pub(super) writing: Option<Writing<'static>>,
    /// What the answer was made of.
    pub(crate) dependencies: Dependencies,
    /// What the debugger tells.
    pub(crate) report: Report,
    /// The templates it was made with.
    pub(crate) group: Option<Arc<Group>>,
    /// Units that failed and were left out.
    pub(crate) failures: Vec<UnitError>,
}

impl Outcome {
    /// A run that could not begin.
    pub(super) fn broken(why: String) -> Self {
        Self {
            result: Err(UnitError::Broken(why)),
            reply: Reply::default(),
            effects: Effects::default(),
            writing: None,
            dependencies: Dependencies::default(),
            report: Report::default(),
            group: None,
            failures: Vec::new(),
        }
    }
}

/// A run.
pub(crate) struct Run<'a> {
    pub(super) units: &'a Units,
    pub(super) pool: &'a Pool,
    pub(super) visit: &'a Visit,
    pub(super) group: Arc<Group>,
    pub(super) reply: Reply,
    pub(super) effects: Effects,
    /// The transaction that units write in, once one has.
    pub(super) writing: Option<Writing<'a>>,
    pub(super) report: Report,
    /// Values of secrets that were handed out: none of them leaves the run.
    pub(super) hidden: Vec<String>,
    pub(super) deadline: Instant,
    /// Words that the visitor got or lost in this run: of the cart, of the session.
    pub(super) words: Vec<(u8, Option<String>)>,
    /// What its calls read alike.
    pub(super) shared: Shared,
    /// How often other servers were asked.
    pub(super) fetches: u32,
    /// How far the node had heard of commits when the run began; `None` where the cache is not used.
    pub(super) since: Option<u64>,
    /// Keys of the cache whose answers are being made by this run.
    pub(super) busy: Vec<[u8; 32]>,
    /// Why the kept answer of the unit that begins is not true any more.
    pub(super) stale: Option<String>,
    stack: Vec<Frame>,
    failures: Vec<UnitError>,
    /// The error of a nested unit on its way through its callers.
    raised: Option<UnitError>,
    /// Where no unit runs nothing depends on anything.
    spare: Dependencies,
}

/// What there was before a unit inside another.
struct Nested {
    effects: Effects,
    was_writing: bool,
}

/// The part of a transaction that a unit inside another is.
const NESTED_PART: &str = "nested";

fn broken(error: DbError) -> UnitError {
    tracing::error!(cause = ?error, "A unit's transaction failed");
    UnitError::Broken("the database cannot be used".to_owned())
}

/// One unit that runs.
pub(super) struct Frame {
    pub(super) unit: Unit,
    pub(super) dependencies: Dependencies,
    pub(super) at: usize,
    pub(super) queries: u32,
}

impl<'a> Run<'a> {
    /// A run for a visit.
    pub(super) fn new(units: &'a Units, pool: &'a Pool, visit: &'a Visit) -> Self {
        let time = match visit.audience {
            Audience::Visitor if visit.method == "POST" => FORM_TIME,
            Audience::Visitor => PAGE_TIME,
            Audience::Person(_) => PERSON_TIME,
        };
        // Agents and people see what there is, and leave nothing behind.
        // What is kept was made for who only looks; a form is read anew by every unit.
        let is_cached =
            visit.settings.config.cache && visit.audience == Audience::Visitor && visit.method == "GET";
        Self {
            since: if is_cached { units.cache.ask() } else { None },
            busy: Vec::new(),
            stale: None,
            units,
            pool,
            visit,
            group: units.templates.group(&visit.look),
            reply: Reply::default(),
            effects: Effects::default(),
            writing: None,
            report: Report::default(),
            hidden: Vec::new(),
            deadline: Instant::now() + time * units.patience,
            words: Vec::new(),
            shared: Shared::default(),
            fetches: 0,
            stack: Vec::new(),
            failures: Vec::new(),
            raised: None,
            spare: Dependencies::default(),
        }
    }

    /// Reads in one transaction, which is the run's own where it has written; `None` if the time of that one was up.
    pub(super) fn read<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Tx) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        match &self.writing {
            Some(writing) => writing.read(work),
            None => Some(self.units.db.read(work)),
        }
    }

    /// The same, whose units write in the transaction of a call.
    pub(super) fn within(mut self, tx: &'a mut Tx) -> Self {
        self.writing = Some(Writing::lend(tx, PERSON_TIME));
        self
    }

    /// Runs the outermost unit.
    pub(super) fn outermost(
        mut self,
        session: &mut Session<'_>,
        name: &str,
        function: &str,
        args: Vec<Value>,
    ) -> Outcome {
        let mut dependencies = Dependencies::default();
        let result = self.call(session, name, function, args, &mut dependencies);
        let result = result.map(|value| self.veil_value(value)).map_err(|error| self.veil_error(error));
        let failures = std::mem::take(&mut self.failures);
        let failures = failures.into_iter().map(|error| self.veil_error(error)).collect();
        let Self { reply, effects, writing, report, group, .. } = self;
        let writing = writing.and_then(Writing::own);
        Outcome { result, reply, effects, writing, dependencies, report, group: Some(group), failures }
    }

    /// The HTML of a unit inside another. A visitor's page goes on without one that failed.
    pub(super) fn unit(
        &mut self,
        session: &mut Session<'_>,
        name: &str,
        vars: Value,
    ) -> Result<String, UnitError> {
        let mut dependencies = Dependencies::default();
        let made = self.kept_or_made(session, name, vars, &mut dependencies);
        if let Some(frame) = self.stack.last_mut() {
            frame.dependencies.merge(&dependencies);
        }
        match made {
            Err(error) if self.visit.audience == Audience::Visitor => {
                self.failures.push(error);
                // What went wrong may go right the next time.
                self.dependencies().own();
                Ok(String::new())
            }
            made => made,
        }
    }

    pub(super) fn call(
        &mut self,
        session: &mut Session<'_>,
        name: &str,
        function: &str,
        args: Vec<Value>,
        dependencies: &mut Dependencies,
    ) -> Result<Value, UnitError> {
        let started = Instant::now();
        let loaded = self.units.loader.load(name, self.pool);
        self.report.compiled(started.elapsed());
        let at = self.report.begin(name, loaded.as_ref().is_ok_and(|unit| unit.manifest.cache.on));
        let stale = self.stale.take();
        let result =
            loaded.and_then(|unit| self.call_loaded(session, unit, at, function, args, dependencies));
        if let Some(row) = self.report.unit(at) {
            row.took = started.elapsed();
            row.stale = stale;
            row.cache_allow = row.cache_on && dependencies.can_be_kept(self.visit);
            row.is_by_request = dependencies.is_by_request();
            if self.visit.is_debugged {
                row.depends = dependencies.iter().map(ToString::to_string).collect();
            }
        }
        if let Err(error) = &result {
            self.report.fail(at, &self.veil(&error.to_string()));
        }
        result
    }

    fn call_loaded(
        &mut self,
        session: &mut Session<'_>,
        unit: Unit,
        at: usize,
        function: &str,
        args: Vec<Value>,
        dependencies: &mut Dependencies,
    ) -> Result<Value, UnitError> {
        let call = Call {
            modules: unit.modules.clone(),
            function: function.to_owned(),
            args,
            globals: self.globals(&unit),
            limits: self.limits(&unit),
        };
        for (path, stamp) in &unit.files {
            dependencies.file(path, stamp.clone());
        }
        if unit.uses.visitor {
            dependencies.visitor();
        }
        let rule = &unit.manifest.cache;
        if unit.uses.chance || !rule.on {
            dependencies.own();
        }
        if let Ok(seconds @ 1..) = i64::try_from(rule.seconds)
            && let Ok(until) = self.visit.now.checked_add(jiff::SignedDuration::from_secs(seconds))
        {
            dependencies.until(until);
        }
        if unit.uses.request {
            dependencies.request();
        }
        let name = unit.name.clone();
        let before = self.begin_nested()?;
        self.stack.push(Frame { unit, dependencies: std::mem::take(dependencies), at, queries: 0 });
        let result = session.call(&call, self);
        if let Some(frame) = self.stack.pop() {
            *dependencies = frame.dependencies;
        }
        let raised = self.raised.take();
        let result = result.map_err(|error| told(&name, error, raised));
        self.end_nested(before, result.is_ok())?;
        result
    }

    /// Before a unit inside another: what it sets going and writes can be taken back by itself.
    fn begin_nested(&mut self) -> Result<Option<Nested>, UnitError> {
        if self.stack.is_empty() {
            return Ok(None);
        }
        if let Some(writing) = &self.writing {
            // Of a transaction that is over already the next write tells.
            writing.with(|tx| tx.mark(NESTED_PART)).transpose().map_err(broken)?;
        }
        Ok(Some(Nested { effects: self.effects.clone(), was_writing: self.writing.is_some() }))
    }

    /// After it: the page goes on without a unit that failed, and without what that one did.
    fn end_nested(&mut self, before: Option<Nested>, is_kept: bool) -> Result<(), UnitError> {
        let Some(before) = before else { return Ok(()) };
        if !is_kept {
            self.effects = before.effects;
        }
        if before.was_writing {
            if let Some(writing) = &self.writing {
                writing.with(|tx| tx.end_mark(NESTED_PART, is_kept)).transpose().map_err(broken)?;
            }
        } else if !is_kept {
            self.writing = None;
        }
        Ok(())
    }

    /// Hosts that the unit that runs would ask.
    pub(super) fn network(&self) -> Vec<String> {
        self.stack.last().map(|frame| frame.unit.manifest.network.clone()).unwrap_or_default()
    }

    /// Tables that the unit that runs may write.
    pub(super) fn writes(&self) -> Vec<String> {
        self.stack.last().map(|frame| frame.unit.manifest.writes.clone()).unwrap_or_default()
    }

    /// What a unit is told of the visit: only what its code mentions, so that its answer cannot differ by more.
    fn globals(&self, unit: &Unit) -> Value {
        let look = &self.visit.look;
        let mut globals = map([
            ("language", look.language.as_str().into()),
            ("currency", look.currency.as_str().into()),
            ("template", look.group.as_str().into()),
        ]);
        if let Value::Map(fields) = &mut globals {
            if unit.uses.request {
                fields.push(("request".to_owned(), self.visit.request()));
            }
            if unit.uses.visitor {
                fields.push(("user".to_owned(), self.visit.user()));
                fields.push(("cookies".to_owned(), self.visit.cookies()));
            }
        }
        globals
    }

    /// The unit's own limits, never above the store's.
    fn limits(&self, unit: &Unit) -> Limits {
        let own = &unit.manifest.limits;
        let left = self.deadline.saturating_duration_since(Instant::now());
        Limits {
            memory: own.memory_mb.unwrap_or(MEMORY_MB).clamp(1, MEMORY_MB) << 20,
            time: own.ms.map_or(left, |ms| Duration::from_millis(ms).min(left)),
            calls: CALLS,
            output: OUTPUT,
            depth: DEPTH,
        }
    }

    /// Whether the unit that runs lies so deep that it may call no other.
    pub(super) fn is_deepest(&self) -> bool {
        self.stack.len() >= DEPTH as usize
    }

    /// What the running unit's answer is made of.
    pub(super) fn dependencies(&mut self) -> &mut Dependencies {
        match self.stack.last_mut() {
            Some(frame) => &mut frame.dependencies,
            None => &mut self.spare,
        }
    }

    /// The name of the unit that runs.
    pub(super) fn unit_name(&self) -> String {
        self.stack.last().map(|frame| frame.unit.name.clone()).unwrap_or_default()
    }

    /// Keeps the error of a nested unit for its callers.
    pub(super) fn raise(&mut self, error: UnitError) {
        self.raised = Some(error);
    }

    /// Counts a statement or typed call; `false` is one too many.
    pub(super) fn count_query(&mut self) -> bool {
        let Some(frame) = self.stack.last_mut() else { return false };
        frame.queries += 1;
        frame.queries <= frame.unit.manifest.limits.queries.unwrap_or(QUERIES).min(QUERIES)
    }

    /// Notes a statement or typed call for the debugger.
    pub(super) fn note_query(&mut self, text: &str, rows: usize, took: Duration) {
        if let Some(frame) = self.stack.last() {
            self.report.query(frame.at, text, rows, took);
        }
    }

    /// A text without the secrets that were handed out.
    pub(super) fn veil(&self, text: &str) -> String {
        let text = self.hide(text.to_owned());
        match text.char_indices().nth(LONGEST_TEXT) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None => text,
        }
    }

    fn veil_value(&self, value: Value) -> Value {
        if self.hidden.is_empty() {
            return value;
        }
        match value {
            Value::Text(text) => Value::Text(self.hide(text)),
            Value::List(list) => Value::List(list.into_iter().map(|item| self.veil_value(item)).collect()),
            Value::Map(map) => Value::Map(
                map.into_iter().map(|(name, item)| (self.hide(name), self.veil_value(item))).collect(),
            ),
            other => other,
        }
    }

    fn hide(&self, text: String) -> String {
        self.hidden.iter().fold(text, |text, secret| text.replace(secret.as_str(), "[secret]"))
    }

    fn veil_error(&self, error: UnitError) -> UnitError {
        match error {
            UnitError::Exception { place, text, chain } => {
                UnitError::Exception { place, text: self.veil(&text), chain }
            }
            other => other,
        }
    }

    /// A value for the debugger, without secrets.
    pub(super) fn veil_json(&self, value: &Value) -> Json {
        super::values::to_json(&self.veil_value(value.clone()))
    }
}

/// What a unit inside a page answered, as HTML.
pub(super) fn html(unit: &str, value: Value) -> Result<String, UnitError> {
    match value {
        Value::Text(text) => Ok(text),
        Value::Null => Ok(String::new()),
        Value::Int(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        _ => Err(UnitError::Exception {
            place: Place { unit: unit.to_owned(), ..Place::default() },
            text: "main() answered data where a page wants HTML".to_owned(),
            chain: Vec::new(),
        }),
    }
}

/// The words of a failed call. What a nested unit raised is told where it happened, with its callers behind it.
fn told(unit: &str, error: CallError, raised: Option<UnitError>) -> UnitError {
    let entry = || Place { unit: unit.to_owned(), ..Place::default() };
    let exception = |text: String| UnitError::Exception { place: entry(), text, chain: Vec::new() };
    match error {
        CallError::NoFunction { function, .. } => UnitError::NoFunction { unit: unit.to_owned(), function },
        CallError::NoModule { name, .. } => UnitError::NoModule(name),
        CallError::Exception { place, text, code, chain } => {
            let callers = std::iter::once(*place).chain(chain).map(|place| here(unit, place));
            let mut callers: Vec<Place> = callers.collect();
            match raised {
                Some(UnitError::Exception { place, text, mut chain }) if code == NESTED => {
                    chain.append(&mut callers);
                    UnitError::Exception { place, text, chain }
                }
                Some(other) if code == NESTED => other,
                _ => {
                    let place = callers.remove(0);
                    callers.retain(|caller| caller.line > 0 && *caller != place);
                    UnitError::Exception { place, text, chain: callers }
                }
            }
        }
        CallError::Limit { place, which, chain } => {
            let place = here(unit, *place);
            let chain =
                chain.into_iter().map(|place| here(unit, place)).filter(|caller| *caller != place).collect();
            UnitError::Exception { place, text: format!("over the limit: {which}"), chain }
        }
        CallError::NeverSettles { function, .. } => {
            exception(format!("the promise that {function}() returned never settles"))
        }
        CallError::NoData { function, text, .. } => {
            exception(format!("what {function}() returned is no plain data: {text}"))
        }
        CallError::WorkerLost { text } => exception(format!("its worker was lost: {text}")),
    }
}

/// The code of an exception that a nested unit raised.
pub(super) const NESTED: &str = "UNIT";

/// A place of the sandbox, whose modules are named by their path.
fn here(unit: &str, place: sandbox::Place) -> Place {
    let name = super::name::imported(&place.unit).unwrap_or(&place.unit);
    let name = if name.is_empty() { unit } else { name };
    Place { unit: name.to_owned(), line: place.line, column: place.column }
}
