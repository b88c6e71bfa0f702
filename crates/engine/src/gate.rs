//! What is checked before a command runs, in the order of the specification.
//!
//! Lock, builds, (in demo mode the rest is skipped,) licence, person, address,
//! backup window, right, hours, load. Every check only reads, so a refused
//! request has no effect. See spec: answers.md.

pub(crate) mod passwords;
pub(crate) mod sign_in;
pub(crate) mod tickets;

use db::{Tx, rights, users};
use jiff::{SignedDuration, Timestamp};
use shop::hours::{Hours, is_overloaded};
use shop::window::Nearness;
use tools::Caller;
use wire::{Build, Refusal, Stop, catalogue, text::quoted};

use crate::app_state::AppState;
use crate::request_context::RequestContext;

/// How far the caller's clock may be off.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_mins(10);
/// A ticket in use is noted this often.
const TOUCH_EVERY: SignedDuration = SignedDuration::from_secs(60);
/// Version of the password in tickets of demo mode: it fits no password, so such a ticket ends with the mode.
pub(crate) const DEMO_VERSION: i64 = -1;

/// The gate, for one request.
pub(crate) struct Gate<'a> {
    state: &'a AppState,
    context: &'a RequestContext,
    /// Demo mode, looked at once: a request has one answer to it from the first check to the last.
    pub(crate) is_demo: bool,
}

/// The holder of a ticket.
pub(crate) struct Holder {
    pub(crate) user: users::User,
    /// Hash of the ticket, where its use has to be noted.
    pub(crate) to_touch: Option<[u8; 32]>,
}

impl<'a> Gate<'a> {
    /// Checks what needs no person: the lock and the builds.
    pub(crate) fn enter(state: &'a AppState, context: &'a RequestContext) -> Result<Self, Refusal> {
        if state.is_locked() {
            return Err(catalogue::shop_is_lock());
        }
        let gate = Self { state, context, is_demo: state.is_demo(&context.settings, context.was_forwarded) };
        gate.builds()?;
        Ok(gate)
    }

    fn builds(&self) -> Result<(), Refusal> {
        let request = &self.context.request;
        let ours = Build::parse(wire::BUILD);
        let least = request.least.as_deref().unwrap_or_default();
        if Build::parse(least).is_some_and(|least| ours.is_some_and(|ours| ours < least)) {
            return Err(catalogue::version_server(wire::BUILD, &quoted(least, 40)));
        }
        let theirs = Build::parse(&request.build);
        // A caller that does not tell its build is older than any.
        if let Some(least) = &self.context.settings.program_least
            && theirs.as_ref().is_none_or(|theirs| theirs < least)
        {
            return Err(catalogue::version_client(&quoted(&request.build, 40), &least.to_string()));
        }
        if self.context.settings.config.program_exact && theirs != Build::parse(wire::BUILD) {
            return Err(catalogue::version_fail(&quoted(&request.build, 40), wire::BUILD));
        }
        Ok(())
    }

    /// The caller's clock and the host it context, where the store is licensed.
    pub(crate) fn licence_clock_and_host(&self) -> Result<(), Refusal> {
        let Some(licence) = &self.context.settings.licence else { return Ok(()) };
        if self.is_demo {
            return Ok(());
        }
        let is_near = |time: Timestamp| self.context.now.duration_since(time).abs() <= CLOCK_TOLERANCE;
        if !self.caller_time().is_some_and(is_near) {
            return Err(catalogue::licence_date());
        }
        if !licence::same_domain(&self.context.host, &licence.domain) {
            return Err(catalogue::licence_domain());
        }
        Ok(())
    }

    /// The whole licence, where the store is licensed; `login` as far as it is known.
    pub(crate) fn licence(&self, login: Option<&str>) -> Result<(), Refusal> {
        let Some(licence) = &self.context.settings.licence else { return Ok(()) };
        if self.is_demo {
            return Ok(());
        }
        self.licence_clock_and_host()?;
        // The caller picks the token by its own clock, which was just found to be near enough.
        let days = [Some(self.context.now), self.caller_time()];
        let days: Vec<_> = days.into_iter().flatten().map(crate::clock::utc_day).collect();
        let token = self.context.request.licence.as_deref().unwrap_or_default();
        licence::check(token, &licence.key, &licence.domain, login, &days).map_err(|error| match error {
            licence::LicenceError::Domain => catalogue::licence_domain(),
            _ => catalogue::licence_error(),
        })
    }

    fn caller_time(&self) -> Option<Timestamp> {
        self.context.request.time.parse().ok()
    }

    /// The person behind the request's ticket, with the checks from the licence to the backup window.
    ///
    /// In demo mode an administrator stands in where there is no ticket.
    pub(crate) fn holder(&self, tx: &mut Tx, kind: &str, needs_licence: bool) -> Result<Holder, Stop> {
        let hash = self.context.request.session.as_deref().map(tickets::hash);
        let ticket = match &hash {
            Some(hash) => db::tickets::find(tx, hash)?.filter(|ticket| ticket.kind == kind),
            None => None,
        };
        let user = match &ticket {
            Some(ticket) => users::by_id(tx, ticket.user_id)?,
            None => None,
        };
        if needs_licence {
            self.licence(user.as_ref().map(|user| user.login.as_str()))?;
        }
        let Some((ticket, user)) = ticket.zip(user) else {
            return if self.is_demo { self.stand_in(tx) } else { Err(catalogue::ticket_unknown().into()) };
        };
        let is_old = self.context.now.duration_since(ticket.used) > TOUCH_EVERY;
        let to_touch = if is_old { hash } else { None };
        if !self.is_demo {
            if ticket.password_version != user.password_version {
                return Err(catalogue::wrong_password().into());
            }
            // Blocking ends tickets, but its holder is told of the block.
            if !user.blocked {
                self.ticket(&ticket)?;
            }
            self.person(tx, &user)?;
        }
        Ok(Holder { user, to_touch })
    }

    fn ticket(&self, ticket: &db::tickets::Ticket) -> Result<(), Refusal> {
        let has_expired = self.context.now.duration_since(ticket.used) > db::tickets::LIFE;
        if has_expired || ticket.address != self.context.client.to_string() {
            return Err(catalogue::ticket_unknown());
        }
        Ok(())
    }

    fn stand_in(&self, tx: &mut Tx) -> Result<Holder, Stop> {
        Ok(Holder { user: first_administrator(tx)?, to_touch: None })
    }

    /// Whether a person whose password is right may work here and now: blocked, address, backup window.
    pub(crate) fn person(&self, tx: &mut Tx, user: &users::User) -> Result<(), Stop> {
        if user.blocked {
            return Err(catalogue::access_denied_bare().into());
        }
        let settings = &self.context.settings;
        let is_listed = settings.ip_list.is_empty() || settings.ip_list.contains(self.context.client);
        if !is_listed && !users::is_administrator(tx, user.id)? {
            return Err(catalogue::ip_blocked().into());
        }
        Ok(self.backup()?)
    }

    fn backup(&self) -> Result<(), Refusal> {
        let Some(window) = &self.context.settings.backup else { return Ok(()) };
        match window.nearness(self.store_time()) {
            Nearness::Inside => Err(catalogue::backup_time(&window.begin(), &window.end())),
            Nearness::Soon if self.context.is_turned_away => {
                Err(catalogue::backup_soon(&window.begin(), &window.end()))
            }
            Nearness::Soon | Nearness::Far => Ok(()),
        }
    }

    /// Whether the caller may run the command now: right, hours, load.
    pub(crate) fn command(&self, tx: &mut Tx, caller: &Caller, command: &str) -> Result<(), Stop> {
        if self.is_demo {
            return Ok(());
        }
        if caller.commands.binary_search_by(|granted| granted.as_str().cmp(command)).is_err() {
            return Err(catalogue::access_denied_bare().into());
        }
        Ok(self.limits(command, &rights::limits(tx, command)?)?)
    }

    /// Whether hours and load let a command run now.
    pub(crate) fn limits(&self, command: &str, limits: &rights::Limits) -> Result<(), Refusal> {
        if let Some((begin, end)) = &limits.broken_hours {
            tracing::warn!(command, begin, end, "The hours of a command are no times of day; it is closed");
            return Err(catalogue::command_timeout(&quoted(begin, 20), &quoted(end, 20)));
        }
        if let Some((begin, end)) = limits.hours {
            let hours = Hours { begin, end };
            if !hours.contain(self.store_time()) {
                return Err(catalogue::command_timeout(&hours.begin(), &hours.end()));
            }
        }
        // A system that tells no load has none to limit.
        if limits.load.iter().any(|limit| *limit > 0.0)
            && let Some(load) = self.state.clock.load()
            && is_overloaded(load, limits.load)
        {
            let [one, five, fifteen] = load;
            return Err(catalogue::command_load_max(one, five, fifteen));
        }
        Ok(())
    }

    fn store_time(&self) -> jiff::civil::Time {
        self.context.settings.time_zone.to_datetime(self.context.now).time()
    }
}

/// Notes that a ticket is in use, after a call that only read. The answer does not depend on it.
pub(crate) fn touch(state: &AppState, hash: Option<[u8; 32]>, context: &RequestContext) {
    let Some(hash) = hash else { return };
    if let Err(error) = state.db.write(|tx| db::tickets::touch(tx, &hash, context.now)) {
        tracing::warn!(%error, "A ticket's use was not noted");
    }
}

/// The administrator of least number: who anybody is in demo mode.
pub(crate) fn first_administrator(tx: &mut Tx) -> Result<users::User, Stop> {
    for user in users::all(tx)? {
        if !user.blocked && users::is_administrator(tx, user.id)? {
            return Ok(user);
        }
    }
    Err(catalogue::access_denied_bare().into())
}
