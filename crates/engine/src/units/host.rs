//! What a unit can ask of the engine: every call after `shop.`, one file for each kind.

mod arguments;
mod data;
mod page;
mod reply;
mod settings;

use sandbox::{Host, HostError, PoolConfig, Session, Value};

use super::run::Run;
use arguments::Arguments;

/// What a host call answers.
type Answer = Result<Value, HostError>;

/// Every call there is, as scripts write it after `shop.`.
const CALLS: [&str; 17] = [
    "select", "one", "value", "render", "unit", "t", "money", "date", "config", "secret", "redirect",
    "status", "header", "cookie", "event", "log", "debug",
];

/// Workers whose scripts have these calls.
pub(super) fn with_calls(mut workers: PoolConfig) -> PoolConfig {
    workers.functions = CALLS.map(str::to_owned).to_vec();
    workers
}

impl Host for Run<'_> {
    fn call(&mut self, session: &mut Session<'_>, name: &str, args: Vec<Value>) -> Answer {
        let args = Arguments::new(name, args);
        match name {
            "select" => data::select(self, &args),
            "one" => data::one(self, &args),
            "value" => data::value(self, &args),
            "render" => page::render(self, session, &args),
            "unit" => page::unit(self, session, &args),
            "t" => page::translate(self, &args),
            "money" => page::money(self, &args),
            "date" => page::date(self, &args),
            "config" => settings::config(self, &args),
            "secret" => settings::secret(self, &args),
            "redirect" => reply::redirect(self, &args),
            "status" => reply::status(self, &args),
            "header" => reply::header(self, &args),
            "cookie" => reply::cookie(self, &args),
            "event" => reply::event(self, &args),
            "log" => reply::log(self, &args),
            "debug" => reply::debug(self, &args),
            _ => {
                Err(HostError::new("NO_CALL", format!("there is no shop.{}()", wire::text::quoted(name, 60))))
            }
        }
    }
}
