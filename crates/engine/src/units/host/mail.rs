//! `mail`: a mail to one person, written down when the answer stands and sent after that.

use sandbox::{HostError, Value};
use serde_json::Value as Json;

use super::Answer;
use super::arguments::Arguments;
use crate::mail::Address;
use crate::units::effects::Letter;
use crate::units::name::is_plain;
use crate::units::run::Run;
use crate::units::values;

/// Most bytes of what a mail shows.
const LARGEST: usize = 64 * 1024;
/// Longest key of an event.
const LONGEST_KEY: usize = 200;

/// A mail by a template of the store.
pub(super) fn mail(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let to = args.text(0, "to")?;
    if Address::parse(to).is_none() {
        return Err(args.wrong("`to` is one address, like `irina@example.com`"));
    }
    let template = args.text(1, "template")?;
    if !is_plain(template) || !run.units.has_mail(&run.visit.look, template) {
        let words = format!("there is no mail `{}`", wire::text::quoted(template, 60));
        return Err(args.wrong(&format!("{words} below mails/ of the store's templates")));
    }
    let data = match args.value(2) {
        Value::Null => Json::Object(serde_json::Map::new()),
        data @ Value::Map(_) => values::to_json(data),
        _ => return Err(args.wrong("`data` is an object")),
    };
    if data.to_string().len() > LARGEST {
        return Err(args.wrong(&format!("`data` is at most {LARGEST} bytes")));
    }
    let key = args.text_option(3, "key")?;
    if key.is_some_and(|key| key.is_empty() || key.len() > LONGEST_KEY) {
        return Err(args.wrong(&format!("`key` is a text of at most {LONGEST_KEY} bytes")));
    }
    let language = args.text_option(3, "language")?.unwrap_or(&run.visit.look.language).to_owned();
    let key = key.map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned);
    let letter = Letter {
        key: format!("{} {key}", run.unit_name()),
        to: to.to_owned(),
        template: template.to_owned(),
        language,
        data,
    };
    run.dependencies().own();
    if run.effects.post(letter) {
        Ok(Value::Null)
    } else {
        Err(HostError::fatal("LIMIT", "over the limit: mails"))
    }
}
