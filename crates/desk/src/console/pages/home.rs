//! Home: who is signed in where, what waits for them, how the store is, how agent applications connect.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use home::Approval;
use home::passwords::SavedIn;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use minijinja::{Value, context};
use wire::{InWork, ProgramHome, StateCount};

use crate::agents::{Problem, Report, copies};
use crate::console::state::{Console, go_to};
use crate::locales::Locales;
use crate::messages::Message;
use crate::program::{OpenStore, Program, Signed};

pub(crate) async fn show(State(console): State<Arc<Console>>, headers: HeaderMap) -> Response {
    let Some(open) = console.program.store() else {
        return go_to("/stores");
    };
    if open.pair.is_none() {
        return go_to("/sign-in");
    }
    let language = console.language(&headers);
    let (health, waits) = tokio::join!(health(&console.program, &open), console.program.overview());
    // Asking may have shown that the pair is not right any more.
    let Some(open) = console.program.store().filter(|open| open.pair.is_some()) else {
        return go_to("/sign-in");
    };
    let troubles = [&open.trouble, &open.no_token].into_iter().flatten();
    let troubles: Vec<String> = troubles.map(|message| message.text(&console.locales, language)).collect();
    let values = context! {
        page => "home",
        store => store(&open, &console.locales),
        user => user(&open),
        health,
        waits => waiting(waits, &console.locales, language),
        trouble => troubles.join(" "),
        kept => open.saved_in.map(saved_in),
        approval => console.program.home.approval().map(approval),
        files => open.files.iter().map(file).collect::<Vec<_>>(),
        copies => applications(&console.program, &open),
    };
    console.page("home.html", language, StatusCode::OK, values)
}

fn store(open: &OpenStore, locales: &Locales) -> Value {
    let signed = open.signed.as_ref();
    context! {
        name => open.name.clone(),
        url => open.url(),
        folder => open.folder.to_string_lossy(),
        demo => signed.is_some_and(|signed| signed.answer.demo),
        licensed => signed.is_some_and(|signed| signed.answer.licensed),
        language => signed.map(|signed| named(&signed.answer.language, locales)),
        time_zone => signed.map(|signed| signed.answer.time_zone.clone()),
    }
}

/// A language by its own name, where we speak it.
fn named(language: &str, locales: &Locales) -> String {
    match locales.fitting(language) {
        Some(ours) => locales.text(ours, "common.language", &[]),
        None => language.to_owned(),
    }
}

/// The person as the engine told, or the login alone while the engine is out of reach.
fn user(open: &OpenStore) -> Value {
    let login = open.pair.as_ref().map(|pair| pair.login.clone()).unwrap_or_default();
    let Some(Signed { answer, since }) = &open.signed else {
        return context! { initial => initial(&login), name => &login, login => &login, known => false };
    };
    context! {
        login,
        name => &answer.user.name,
        initial => initial(&answer.user.name),
        group => answer.group.as_ref().map(|group| group.name.clone()),
        administrator => answer.administrator,
        since => clock(*since),
        known => true,
    }
}

fn initial(name: &str) -> String {
    name.chars().next().map(|first| first.to_uppercase().to_string()).unwrap_or_default()
}

async fn health(program: &Program, open: &OpenStore) -> Value {
    let Some(url) = open.url() else {
        return context! { ready => false };
    };
    match program.engine.ready(url).await {
        Ok(time) => context! { ready => true, ms => time.as_millis().max(1) as u64 },
        Err(_) => context! { ready => false },
    }
}

fn clock(time: Timestamp) -> String {
    time.to_zoned_datetime(TimeZone::system()).strftime("%H:%M").to_string()
}

/// What waits for the person, or why that is not known.
fn waiting(waits: Result<ProgramHome, Message>, locales: &Locales, language: &str) -> Value {
    let home = match waits {
        Ok(home) => home,
        Err(why) => return context! { known => false, why => why.text(locales, language) },
    };
    let (mine, given) = home.tasks.map(|tasks| (counts(tasks.waiting), counts(tasks.given))).unzip();
    context! {
        known => true,
        tasks => [context! { key => "mine", counts => mine }, context! { key => "given", counts => given }],
        memory => home.memory.map(|memory| {
            context! { notes => memory.notes, critical => memory.critical.len() }
        }),
        in_work => home.in_work.into_iter().map(in_work).collect::<Vec<_>>(),
    }
}

fn counts(counts: Vec<StateCount>) -> Vec<Value> {
    counts.into_iter().map(|count| context! { name => count.name, count => count.count }).collect()
}

fn in_work(held: InWork) -> Value {
    let since = held.since.parse::<Timestamp>().map(clock).unwrap_or(held.since);
    context! { login => held.login, name => held.name, what => held.what, tables => held.tables, since }
}

fn saved_in(saved_in: SavedIn) -> &'static str {
    match saved_in {
        SavedIn::Os => "os",
        SavedIn::File => "file",
    }
}

fn approval(approval: Approval) -> &'static str {
    match approval {
        Approval::Ask => "ask",
        Approval::Approve => "approve",
    }
}

fn file(report: &Report) -> Value {
    let (problem, what) = match &report.problem {
        None => (None, None),
        Some(Problem::Broken) => (Some("broken"), None),
        Some(Problem::Io(what)) => (Some("io"), Some(what.as_str())),
    };
    context! { name => report.file, problem, what }
}

fn applications(program: &Program, open: &OpenStore) -> Vec<Value> {
    let copies = copies(&program.launch(&open.folder));
    copies
        .into_iter()
        .map(|copy| context! { key => copy.key, name => copy.name, text => copy.text })
        .collect()
}
