//! The day's licence token, looked for anew at every request.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use wire::{Refusal, catalogue, paths};

/// No token is longer.
const LONGEST: u64 = 64 * 1024;

/// Today's token of this login; nothing is remembered, so the change of day closes no session.
pub(crate) fn token(store: &Path, login: &str) -> Result<String, Refusal> {
    let day = TimeZone::UTC.to_datetime(Timestamp::now()).date().to_string();
    let folder = store.join(paths::TOKENS);
    let file = paths::token_file(login, &day);
    read(&folder.join(&file)).ok_or_else(|| catalogue::licence_none(&folder.display().to_string(), &file))
}

/// The token in this file. An empty or unreadable one counts as none.
fn read(path: &Path) -> Option<String> {
    let text = wire::files::read_regular_text(path, LONGEST).ok()?;
    let text = text.trim_start_matches('\u{feff}').trim();
    (!text.is_empty()).then(|| text.to_owned())
}
