//! The daily licence tokens in the store folder. See spec: program.md.

use std::path::{Path, PathBuf};
use std::time::Duration;

use home::write_atomic;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use wire::{LicenceProofs, Request, TokenAnswer, TokenRequest, paths};

use crate::engine::{EngineClient, NoAnswer, Trouble, request};
use crate::messages::Message;
use crate::program::{OpenStore, Program, ends_ticket};

/// How long before midnight UTC tomorrow's token is fetched.
const EARLY: SignedDuration = SignedDuration::from_hours(2);
/// How long a sign-in waits for the token; then it is fetched in the background.
const SOON: Duration = Duration::from_secs(3);
/// Longest token that is read or kept.
const MOST_BYTES: usize = 16 * 1024;

/// Today's token of this login, where it was fetched.
pub(crate) fn of_today(folder: &Path, login: &str) -> Option<String> {
    let path = file(folder, login, day(Timestamp::now()));
    let text = wire::files::read_regular_text(&path, MOST_BYTES as u64).ok()?;
    Some(text.trim().to_owned()).filter(|token| !token.is_empty() && token.len() <= MOST_BYTES)
}

/// Whether the open store is licensed and a token it needs now is not there.
pub(crate) fn are_missing(open: &OpenStore) -> bool {
    !missing(open, Timestamp::now()).is_empty()
}

/// Fetches what is missing, right after a sign-in: an agent may be waiting for it.
pub(crate) async fn fetch_soon(program: &Program) {
    if let Some(open) = program.store().filter(are_missing) {
        let _ = tokio::time::timeout(SOON, fetch(program, &open)).await;
    }
}

/// Fetches what is missing; says on the console why it could not.
pub(crate) async fn fetch(program: &Program, open: &OpenStore) {
    for day in missing(open, Timestamp::now()) {
        let outcome = fetch_day(&program.engine, open, day).await;
        program.change(open.turn(), |open| match outcome {
            Ok(()) => {
                tracing::info!(%day, "Licence token fetched");
                open.fetched.push(day);
                open.no_token = None;
            }
            Err(No::Ticket) => open.signed = None,
            // A token that is there may well be right; the fresh one is for the case that it is not.
            Err(No::Said(message)) if is_there(open, day) => {
                tracing::warn!(?message, %day, "The licence token was not fetched anew");
                open.fetched.push(day);
            }
            Err(No::Said(message)) => {
                tracing::warn!(?message, %day, "No licence token");
                open.no_token = Some(message);
            }
        });
    }
    forget_old(&open.folder);
}

/// Why there is no token.
enum No {
    /// The ticket ended: the program signs in again first.
    Ticket,
    /// What a person is told.
    Said(Message),
}

impl From<Message> for No {
    fn from(message: Message) -> Self {
        Self::Said(message)
    }
}

impl From<NoAnswer> for No {
    fn from(no: NoAnswer) -> Self {
        match &no {
            NoAnswer::Refused(refusal) if ends_ticket(refusal.name()) => Self::Ticket,
            _ => Self::Said(no.into()),
        }
    }
}

fn missing(open: &OpenStore, now: Timestamp) -> Vec<Date> {
    let (Some(pair), Some(signed)) = (&open.pair, &open.signed) else {
        return Vec::new();
    };
    if !signed.answer.licensed || signed.answer.demo {
        return Vec::new();
    }
    let is_missing =
        |day: &Date| !open.fetched.contains(day) || !file(&open.folder, &pair.login, *day).is_file();
    wanted(now).into_iter().filter(is_missing).collect()
}

fn is_there(open: &OpenStore, day: Date) -> bool {
    open.pair.as_ref().is_some_and(|pair| file(&open.folder, &pair.login, day).is_file())
}

/// The days whose tokens must be there at this moment.
fn wanted(now: Timestamp) -> Vec<Date> {
    let mut days = vec![day(now)];
    if let Ok(soon) = now.checked_add(EARLY)
        && day(soon) != days[0]
    {
        days.push(day(soon));
    }
    days
}

fn day(time: Timestamp) -> Date {
    time.to_zoned_datetime(TimeZone::UTC).date()
}

fn file(folder: &Path, login: &str, day: Date) -> PathBuf {
    folder.join(paths::TOKENS).join(paths::token_file(login, &day.to_string()))
}

async fn fetch_day(engine: &EngineClient, open: &OpenStore, day: Date) -> Result<(), No> {
    let (Some(url), Some(signed), Some(pair)) = (open.url(), &open.signed, &open.pair) else {
        return Err(No::Ticket);
    };
    let ask = Request { session: Some(signed.answer.ticket.clone()), ..request(Request::PROGRAM_LICENCE) };
    let proofs: LicenceProofs = engine.ask(url, &ask).await?;
    let token = token(engine, &proofs, day).await?;
    let path = file(&open.folder, &pair.login, day);
    let write = || {
        std::fs::create_dir_all(open.folder.join(paths::TOKENS))?;
        write_atomic(&path, token.as_bytes())
    };
    Ok(write().map_err(|error| not_fetched(&error.to_string()))?)
}

async fn token(engine: &EngineClient, proofs: &LicenceProofs, day: Date) -> Result<String, Message> {
    let day = day.to_string();
    let proof = proofs.proofs.iter().find(|proof| proof.day == day);
    let proof = proof.ok_or_else(|| Message::new("trouble.clock", &[]))?.proof.clone();
    let ask = TokenRequest { domain: proofs.domain.clone(), login: proofs.login.clone(), day, proof };
    let url = format!("{}/{}", proofs.authority.trim_end_matches('/'), TokenRequest::PATH);
    let body = serde_json::to_vec(&ask).map_err(|error| not_fetched(&error.to_string()))?;
    let answer: TokenAnswer = engine.post(&url, body).await.map_err(|trouble| authority(&url, trouble))?;
    match answer {
        TokenAnswer { token: Some(token), .. } if is_token(&token) => Ok(token),
        TokenAnswer { error: Some(why), .. } => Err(not_fetched(&wire::text::quoted(&why, 200))),
        _ => Err(authority(&url, Trouble::NotUnderstood)),
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.len() <= MOST_BYTES && !text.contains(char::is_whitespace)
}

fn not_fetched(what: &str) -> Message {
    Message::new("trouble.licence", &[("what", what)])
}

fn authority(url: &str, trouble: Trouble) -> Message {
    let what = match trouble {
        Trouble::NoConnection(what) => what,
        Trouble::TimeOut => "time-out".to_owned(),
        Trouble::Status(status) => format!("HTTP {status}"),
        other => format!("{other:?}"),
    };
    Message::new("trouble.authority", &[("url", url), ("what", &what)])
}

/// Tokens of past days serve nobody; files that are not ours stay.
fn forget_old(folder: &Path) {
    let today = day(Timestamp::now());
    let Ok(files) = std::fs::read_dir(folder.join(paths::TOKENS)) else { return };
    for file in files.flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let date = name.strip_suffix(".lic").and_then(|stem| stem.get(stem.len().checked_sub(10)?..));
        if date.and_then(|date| date.parse::<Date>().ok()).is_some_and(|date| is_past(date, today)) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}

/// Yesterday's is kept a while: a caller's clock may be behind.
fn is_past(date: Date, today: Date) -> bool {
    today.yesterday().is_ok_and(|yesterday| date < yesterday)
}

#[cfg(test)]
mod tests;
