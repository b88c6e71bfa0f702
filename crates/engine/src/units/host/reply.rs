//! `redirect`, `status`, `header`, `cookie`, `event`, `log`, `debug`: what a unit answers beside its text.

use sandbox::{HostError, Value};

use super::Answer;
use super::arguments::Arguments;
use crate::units::effects::Raised;
use crate::units::run::Run;
use crate::units::values;

/// Headers that a unit may set; those that protect visitors are the engine's.
const HEADERS: [&str; 8] = [
    "cache-control",
    "content-disposition",
    "content-type",
    "etag",
    "last-modified",
    "link",
    "retry-after",
    "x-robots-tag",
];
/// Kinds of answers a unit may give.
const TYPES: [&str; 6] =
    ["text/html", "text/plain", "text/csv", "application/json", "application/xml", "text/xml"];
/// Most bytes of a header or cookie.
const LONGEST: usize = 4000;
/// Most headers, and most cookies.
const MOST: usize = 30;
/// Longest line of the log.
const LONGEST_LINE: usize = 2000;

/// Sends the visitor to another page of the store.
pub(super) fn redirect(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let url = args.text(0, "url")?;
    let status = if *args.value(1) == Value::Null { 302 } else { args.int(1, "status")? };
    if !is_own_address(url) {
        return Err(args.wrong("the visitor is sent to a path of this store only, like `/cart`"));
    }
    if ![301, 302, 303, 307, 308].contains(&status) {
        return Err(args.wrong("`status` is 301, 302, 303, 307 or 308"));
    }
    run.dependencies().own();
    run.reply.location = Some(url.to_owned());
    run.reply.status = u16::try_from(status).ok();
    Ok(Value::Null)
}

/// A path of the store, which no browser reads as another host's.
pub(super) fn is_own_address(url: &str) -> bool {
    url.starts_with('/')
        && !url.starts_with("//")
        && url.len() <= LONGEST
        && url
            .chars()
            .all(|letter| !letter.is_control() && letter != '\\' && letter != ' ' && letter.is_ascii())
}

/// The status of the answer.
pub(super) fn status(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let code = args.int(0, "code")?;
    let code = u16::try_from(code).ok().filter(|code| matches!(code, 200..=299 | 400..=599));
    run.reply.status = Some(code.ok_or_else(|| args.wrong("`code` is 200 to 299 or 400 to 599"))?);
    run.dependencies().reply();
    Ok(Value::Null)
}

/// A header of the answer.
pub(super) fn header(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let name = args.text(0, "name")?.to_ascii_lowercase();
    let value = args.text(1, "value")?;
    if !HEADERS.contains(&name.as_str()) {
        return Err(args.wrong(&format!("units set the headers {}", HEADERS.join(", "))));
    }
    if !is_header_text(value) || run.reply.headers.len() >= MOST {
        return Err(args.wrong("`value` is a short text of plain letters"));
    }
    let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if name == "content-type" && !TYPES.contains(&kind.as_str()) {
        return Err(args.wrong(&format!("answers are of the types {}", TYPES.join(", "))));
    }
    run.dependencies().reply();
    run.reply.headers.retain(|(known, _)| *known != name);
    run.reply.headers.push((name, value.to_owned()));
    Ok(Value::Null)
}

fn is_header_text(text: &str) -> bool {
    text.len() <= LONGEST && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// A cookie; scripts of the page do not read it.
pub(super) fn cookie(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (name, value) = (args.text(0, "name")?, args.text(1, "value")?);
    let is_token = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    let is_value = value.bytes().all(|byte| (b'!'..=b'~').contains(&byte) && !b"\",;\\".contains(&byte));
    if name.is_empty() || !is_token(name) || !is_value || name.len() + value.len() > LONGEST {
        return Err(args.wrong("name and value are short and of letters that cookies take; encode others"));
    }
    if name.starts_with("__") || run.reply.cookies.len() >= MOST {
        return Err(args.wrong("names that begin with `__` are not for units"));
    }
    let mut text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax");
    if let Some(days) = args.int_option(2, "days")? {
        text.push_str(&format!("; Max-Age={}", days.clamp(0, 400) * 86_400));
    }
    if run.visit.settings.config.url.starts_with("https:") {
        text.push_str("; Secure");
    }
    run.dependencies().own();
    run.reply.cookies.push(text);
    Ok(Value::Null)
}

/// An event, raised when the answer stands.
pub(super) fn event(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let key = args.text(0, "key")?;
    if key.is_empty() || key.len() > 60 || !key.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        return Err(args.wrong("`key` is a key of the store's list of events, like `kOrderNew`"));
    }
    let raised = Raised {
        key: key.to_owned(),
        data: values::to_json(args.value(1)),
        to_user: args.int_option(2, "user")?,
        to_group: args.int_option(2, "group")?,
    };
    run.dependencies().own();
    if run.effects.raise(raised) {
        Ok(Value::Null)
    } else {
        Err(HostError::fatal("LIMIT", "over the limit: events"))
    }
}

/// A line in the units' log.
pub(super) fn log(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let level = args.text(0, "level")?;
    if !["info", "warn", "error"].contains(&level) {
        return Err(args.wrong("`level` is info, warn or error"));
    }
    let text = run.veil(&wire::text::quoted(args.text(1, "text")?, LONGEST_LINE));
    // A kept answer would write no line.
    run.dependencies().own();
    let unit = run.unit_name();
    run.units.failures.line(&unit, level, &text, run.visit.now);
    run.report.log(&unit, level, &text);
    Ok(Value::Null)
}

/// A value for the debugger.
pub(super) fn debug(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    run.dependencies().own();
    if run.visit.is_debugged {
        let value = run.veil_json(args.value(0));
        let unit = run.unit_name();
        run.report.debug(&unit, value);
    }
    Ok(Value::Null)
}
