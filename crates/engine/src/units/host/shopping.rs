//! What calls about buying share: who shops, by the words in their cookies, and how an expected no is told.
//!
//! What changes something works for a POST only, so that no link and no picture of another site does it. Nothing
//! of this is ever kept for another visitor.

use std::time::Instant;

use db::customers::Customer;
use db::{DbError, Tx};
use sandbox::{HostError, Value};
use serde_json::{Value as Json, json};

use super::Answer;
use super::arguments::Arguments;
use super::data::{time_was_up, too_many};
use crate::shopping::fields::Fields;
use crate::shopping::{Cx, Done, NotDone, Problem, accounts, view};
use crate::units::run::Run;
use crate::units::values::{from_json, to_json};

/// A cookie that holds a visitor's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The cart's.
    Cart,
    /// The session's.
    Session,
}

/// How long a browser keeps a word, in seconds.
const KEPT: u32 = 30 * 86_400;

impl Word {
    fn name(self, is_safe: bool) -> &'static str {
        match (self, is_safe) {
            // Browsers take a name like this only from this very host, over TLS.
            (Self::Cart, true) => "__Host-cart",
            (Self::Session, true) => "__Host-session",
            (Self::Cart, false) => "cart",
            (Self::Session, false) => "session",
        }
    }
}

/// The visitor's word: the one that this run gave them, else the one they came with.
pub(super) fn word(run: &Run<'_>, word: Word) -> Option<String> {
    if let Some((_, given)) = run.words.iter().rev().find(|(known, _)| *known == word as u8) {
        return given.clone();
    }
    let name = word.name(is_safe(run));
    let cookies = &run.visit.cookies;
    cookies.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// Gives the visitor a word, or takes it.
pub(super) fn give(run: &mut Run<'_>, kind: Word, value: Option<&str>) {
    let is_safe = is_safe(run);
    let name = kind.name(is_safe);
    let age = if value.is_some() { KEPT } else { 0 };
    let mut cookie =
        format!("{name}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}", value.unwrap_or_default());
    if is_safe {
        cookie.push_str("; Secure");
    }
    let begin = format!("{name}=");
    run.reply.cookies.retain(|known| !known.starts_with(&begin));
    run.reply.cookies.push(cookie);
    run.words.push((kind as u8, value.map(str::to_owned)));
}

fn is_safe(run: &Run<'_>) -> bool {
    run.visit.settings.config.url.starts_with("https:")
}

/// What every step of buying needs to know.
pub(super) fn cx<'a>(run: &Run<'a>) -> Cx<'a> {
    let visit = run.visit;
    Cx { settings: &visit.settings, look: &visit.look, now: visit.now }
}

/// Whoever is signed in.
pub(super) fn customer(tx: &mut Tx, session: Option<&str>, cx: Cx<'_>) -> Result<Option<Customer>, DbError> {
    accounts::of_session(tx, session, cx)
}

/// Counts a call, and keeps its page from others.
pub(super) fn begin(run: &mut Run<'_>) -> Result<(), HostError> {
    run.dependencies().own();
    if run.count_query() { Ok(()) } else { Err(too_many()) }
}

/// Like [`begin`], for what changes something.
pub(super) fn begin_change(run: &mut Run<'_>, args: &Arguments<'_>) -> Result<(), HostError> {
    begin(run)?;
    if run.visit.method == "POST" {
        return Ok(());
    }
    Err(HostError::new("NOT_POST", args.wrong("works for a form that was sent (POST) only").text))
}

/// Reads for a call in one transaction.
pub(super) fn read(run: &mut Run<'_>, call: &str, f: impl FnOnce(&mut Tx) -> Done<Json>) -> Answer {
    begin(run)?;
    let started = Instant::now();
    let done = run.read(f).ok_or_else(time_was_up)?;
    run.note_query(&format!("shop.{call}()"), 1, started.elapsed());
    match done {
        Ok(answer) => Ok(from_json(answer)),
        // What is not there is nothing.
        Err(NotDone::Problem(_)) => Ok(Value::Null),
        Err(error) => Err(told(call, error)),
    }
}

/// Changes for a call in one transaction; an expected no changes nothing.
pub(super) fn write<T>(
    run: &mut Run<'_>,
    call: &str,
    f: impl FnOnce(&mut Tx) -> Done<T>,
) -> Result<Result<T, Problem>, HostError> {
    if let Some(writing) = run.writing.as_ref().filter(|writing| writing.is_lent()) {
        let started = Instant::now();
        let done = writing.with(|tx| tx.part(PART, f)).ok_or_else(time_was_up)?;
        run.note_query(&format!("shop.{call}()"), 1, started.elapsed());
        return expected(call, done);
    }
    // It would wait for the run's own transaction, which nobody ends meanwhile.
    if run.writing.is_some() {
        let words = format!("shop.{call}() has a transaction of its own: call it before anything is written");
        return Err(HostError::new("TRANSACTION", words));
    }
    let started = Instant::now();
    let done = run.units.db.clone().write(f);
    run.note_query(&format!("shop.{call}()"), 1, started.elapsed());
    expected(call, done)
}

/// The part of a call's transaction that an expected no takes back.
const PART: &str = "step";

/// Tells an expected no apart from a failure.
pub(super) fn expected<T>(call: &str, done: Done<T>) -> Result<Result<T, Problem>, HostError> {
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(NotDone::Problem(problem)) => Ok(Err(problem)),
        Err(error) => Err(told(call, error)),
    }
}

fn told(call: &str, error: NotDone) -> HostError {
    tracing::error!(cause = error.cause(), call, "A call about buying failed");
    HostError::new("DATABASE", "the database cannot be used")
}

/// What a changing call answers: `problem`, null where it was done, and what it has to say.
pub(super) fn answer(done: Result<Json, Problem>) -> Answer {
    let mut told = match &done {
        Ok(Json::Object(more)) => more.clone(),
        _ => serde_json::Map::new(),
    };
    told.insert("problem".to_owned(), done.err().map_or(Json::Null, |problem| view::problem(&problem)));
    Ok(from_json(Json::Object(told)))
}

/// What a form's step answers: everything that is wrong with it.
pub(super) fn answer_problems(done: Result<Vec<Problem>, Problem>) -> Answer {
    let problems = done.unwrap_or_else(|problem| vec![problem]);
    let told: Vec<Json> = problems.iter().map(view::problem).collect();
    Ok(from_json(json!({"problems": told})))
}

/// The fields of a form, in an argument.
pub(super) fn form(args: &Arguments<'_>, at: usize) -> Result<Fields, HostError> {
    match to_json(args.value(at)) {
        Json::Object(fields) => Ok(fields),
        _ => Err(args.wrong("the fields of the form are an object")),
    }
}

/// A number of a form; what is none is no number of anything.
pub(super) fn number(args: &Arguments<'_>, at: usize) -> i64 {
    super::arguments::int(args.value(at)).unwrap_or(-1)
}
