//! `render`, `unit`, `t`, `money`, `date`, `moment`: what pages are made of.

use jiff::Span;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use sandbox::{HostError, Session, Value};

use super::Answer;
use super::arguments::Arguments;
use crate::units::error::UnitError;
use crate::units::run::{NESTED, Run};
use crate::units::templates::{date_text, money_text};
use crate::units::values::{from_template, to_template};

/// Largest page.
const LARGEST: usize = 8 << 20;

/// A template with data, and the units it asks for.
pub(super) fn render(run: &mut Run<'_>, session: &mut Session<'_>, args: &Arguments<'_>) -> Answer {
    let named = args.text(0, "template")?.to_owned();
    let data = match args.value(1) {
        Value::Null => minijinja::context! {},
        data @ Value::Map(_) => to_template(data),
        _ => return Err(args.wrong("`data` is an object")),
    };
    let unit = run.unit_name();
    let group = std::sync::Arc::clone(&run.group);
    run.dependencies().templates(group.folders());
    let rendered =
        group.render(&unit, &named, data).map_err(|error| HostError::new("TEMPLATE", error.to_string()))?;
    let mut bytes = 0_usize;
    let text = rendered.fill(|asked| {
        let html = nested(run, session, &asked.unit, from_template(&asked.vars))?;
        bytes = bytes.saturating_add(html.len());
        if bytes > LARGEST { Err(HostError::fatal("LIMIT", "over the limit: output")) } else { Ok(html) }
    })?;
    Ok(text.into())
}

/// Another unit's HTML.
pub(super) fn unit(run: &mut Run<'_>, session: &mut Session<'_>, args: &Arguments<'_>) -> Answer {
    let name = args.text(0, "name")?.to_owned();
    let vars = match args.value(1) {
        Value::Null => Value::Map(Vec::new()),
        vars @ Value::Map(_) => vars.clone(),
        _ => return Err(args.wrong("`vars` is an object")),
    };
    nested(run, session, &name, vars).map(Value::from)
}

fn nested(
    run: &mut Run<'_>,
    session: &mut Session<'_>,
    name: &str,
    vars: Value,
) -> Result<String, HostError> {
    if run.is_deepest() {
        return Err(HostError::fatal("LIMIT", "over the limit: units lie too deep in each other"));
    }
    run.unit(session, name, vars).map_err(|error| {
        let text = match &error {
            UnitError::Exception { text, .. } => text.clone(),
            other => other.to_string(),
        };
        run.raise(error);
        HostError::new(NESTED, text)
    })
}

/// The words of a key.
pub(super) fn translate(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let group = std::sync::Arc::clone(&run.group);
    run.dependencies().templates(group.folders());
    let key = args.text(0, "key")?;
    let count = args.int_option(1, "count")?;
    let mut text = run.group.words(&run.unit_name(), key, count);
    if let Value::Map(values) = args.value(1) {
        for (name, value) in values {
            text = text.replace(&format!("{{{name}}}"), &to_template(value).to_string());
        }
    }
    Ok(text.into())
}

/// A sum as people read it.
pub(super) fn money(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let look = &run.visit.look;
    let currency = args.text_or(1, "currency", &look.currency)?;
    let text =
        money_text(args.int(0, "value")?, currency, &look.language).map_err(|words| args.wrong(&words))?;
    Ok(text.into())
}

/// A time as people of the store's zone read it.
pub(super) fn date(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let look = &run.visit.look;
    let (time, style) = (args.text(0, "time")?, args.text_or(1, "style", "day")?);
    let text = date_text(time, style, &look.language, &look.time_zone).map_err(|words| args.wrong(&words))?;
    Ok(text.into())
}

/// The moment at which a day of the store's zone begins, so many days after the one that is named.
pub(super) fn moment(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let day = args.text(0, "day")?;
    let wrong = || args.wrong("`day` is a day of the calendar like 2026-12-31");
    let day: Date = day.parse().map_err(|_| wrong())?;
    let later = args.int_or_null(1, "days")?.unwrap_or(0);
    let day = Span::new().try_days(later).and_then(|days| day.checked_add(days)).map_err(|_| wrong())?;
    let zone = TimeZone::get(&run.visit.look.time_zone).unwrap_or(TimeZone::UTC);
    let begin = zone.to_timestamp(day.to_datetime(Time::midnight())).map_err(|_| wrong())?;
    Ok(db::micros(begin).into())
}
