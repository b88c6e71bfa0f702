//! `config`, `secret`: the store's settings, and what the owner granted a unit to know.

use sandbox::{HostError, Value};

use super::Answer;
use super::arguments::Arguments;
use crate::units::run::Run;

/// A setting that every visitor may know.
pub(super) fn config(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let config = &run.visit.settings.config;
    let value = match args.text(0, "key")? {
        "name" => &config.name,
        "url" => &config.url,
        "language" => &config.language,
        "time_zone" => &config.time_zone,
        "currency" => &config.currency,
        "template" => &config.template,
        other => {
            let words = format!("units see no setting `{}`", wire::text::quoted(other, 60));
            return Err(HostError::new("NOT_GRANTED", words));
        }
    };
    Ok(value.as_str().into())
}

/// A secret that the owner granted this unit. Its value goes into no page and no log.
pub(super) fn secret(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let key = args.text(0, "key")?;
    let unit = run.unit_name();
    let settings = std::sync::Arc::clone(&run.visit.settings);
    let is_granted =
        settings.config.grants.get(&unit).is_some_and(|grant| grant.secrets.iter().any(|name| name == key));
    if !is_granted {
        // The same for a secret that is not there: a unit cannot find out which there are.
        let words = format!(
            "the secret `{}` is not granted to {unit}; the owner names it in config.json, grants.{unit}.secrets",
            wire::text::quoted(key, 60)
        );
        return Err(HostError::new("NOT_GRANTED", words));
    }
    run.dependencies().own();
    let Some(value) = settings.config.secrets.get(key) else { return Ok(Value::Null) };
    run.hidden.push(value.to_owned());
    Ok(value.into())
}
