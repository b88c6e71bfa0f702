//! The program's endpoint: signing in and out, proofs for licence tokens, work leases, what waits for a person.

use std::sync::Arc;

use db::{Tx, leases, rights, tickets, users};
use jiff::{SignedDuration, ToSpan as _};
use licence::proof;
use serde_json::{Value, json};
use wire::{
    DayProof, LeaseAnswer, LeaseFree, LeaseRenew, LeaseTake, LicenceProofs, ProgramSignedIn, Request, Stop,
    catalogue, text::quoted,
};

use crate::app_state::AppState;
use crate::blocking::blocking;
use crate::clock::utc_day;
use crate::gate::Gate;
use crate::gate::sign_in::{Admitted, parse, sign_in};
use crate::gate::tickets::{PROGRAM, hash, new_ticket};
use crate::request_context::RequestContext;
use crate::settings::Secrets;
use crate::user_info::{main_group, person};

mod home;

/// Longest life of a lease that nobody renews.
const LONGEST_LEASE: i64 = 3600;
/// Most tables taken at once.
const MOST_TABLES: usize = 50;

/// Tables that people take into work, with the command of the tree of operations that lets them.
const TABLES: &[(&str, &[&str])] = &[
    (
        "AI_COMPONENTS",
        &[
            "notes",
            "ai_tools",
            "ai_commands",
            "ai_fields",
            "ai_grants",
            "repo_sections",
            "repo_flags",
            "repo_topics",
            "repo_records",
        ],
    ),
    (
        "USERS",
        &[
            "users",
            "groups",
            "user_groups",
            "operations",
            "grants",
            "options",
            "option_values",
            "user_options",
            "group_options",
        ],
    ),
    ("INSTALLATION", &["registry", "names"]),
    ("SCHEDULER", &["tasks", "task_notes"]),
];

/// Every command of this endpoint.
const COMMANDS: [&str; 7] = [
    Request::PROGRAM_SIGN_IN,
    Request::PROGRAM_SIGN_OUT,
    Request::PROGRAM_LICENCE,
    Request::PROGRAM_HOME,
    Request::PROGRAM_LEASE_TAKE,
    Request::PROGRAM_LEASE_RENEW,
    Request::PROGRAM_LEASE_FREE,
];

/// Name of a command in counts and logs.
pub(crate) fn label(command: &str) -> &'static str {
    COMMANDS.into_iter().find(|known| *known == command).unwrap_or("unknown")
}

/// Carries a request out.
pub(crate) async fn answer(state: Arc<AppState>, context: RequestContext) -> Result<Value, Stop> {
    if context.request.command == Request::PROGRAM_SIGN_IN {
        return sign_in(state, context, PROGRAM, |tx, admitted| {
            Ok(serde_json::to_value(signed_in(tx, admitted)?)?)
        })
        .await;
    }
    blocking(move || run(&state, context)).await
}

fn signed_in(tx: &mut Tx, admitted: &Admitted<'_>) -> Result<ProgramSignedIn, Stop> {
    let settings = &admitted.context.settings;
    let language = settings.config.language.clone();
    Ok(ProgramSignedIn {
        ticket: admitted.ticket.clone(),
        licensed: settings.licence.is_some() && !admitted.is_demo,
        time_zone: settings.config.time_zone.clone(),
        demo: admitted.is_demo,
        administrator: admitted.is_demo || users::is_administrator(tx, admitted.user.id)?,
        user: person(tx, &admitted.user)?,
        group: main_group(tx, &admitted.user, &language)?,
        language,
    })
}

fn run(state: &AppState, mut context: RequestContext) -> Result<Value, Stop> {
    // What is wrong with the parameters is said only after the gate let the person through.
    let params = std::mem::take(&mut context.request.params);
    match context.request.command.as_str() {
        Request::PROGRAM_SIGN_OUT => sign_out(state, &context),
        Request::PROGRAM_LICENCE => proofs(state, &context),
        Request::PROGRAM_HOME => home::answer(state, &context),
        Request::PROGRAM_LEASE_TAKE => within_gate(state, &context, |tx, gate, user| {
            take_tables(tx, gate, &context, user, &parse(params)?)
        }),
        Request::PROGRAM_LEASE_RENEW => {
            within_gate(state, &context, |tx, _, _| renew_tables(tx, &context, &parse(params)?))
        }
        Request::PROGRAM_LEASE_FREE => {
            within_gate(state, &context, |tx, _, _| free_tables(tx, &parse(params)?))
        }
        other => within_gate(state, &context, |_, _, _| {
            Err::<Value, _>(catalogue::unknown_command(&quoted(other, 60)).into())
        }),
    }
}

/// Runs a command of a person whom the gate lets through, in one transaction.
fn within_gate<T: serde::Serialize>(
    state: &AppState,
    context: &RequestContext,
    work: impl FnOnce(&mut Tx, &Gate<'_>, &users::User) -> Result<T, Stop>,
) -> Result<Value, Stop> {
    let gate = Gate::enter(state, context)?;
    // What gets a token cannot ask for one.
    let needs_licence = context.request.command != Request::PROGRAM_LICENCE;
    state.write(|tx| {
        let holder = gate.holder(tx, PROGRAM, needs_licence)?;
        if let Some(hash) = &holder.to_touch {
            tickets::touch(tx, hash, context.now)?;
        }
        Ok(serde_json::to_value(work(tx, &gate, &holder.user)?)?)
    })
}

/// Ends a ticket, whoever holds it. There is nothing to refuse but a closed store.
fn sign_out(state: &AppState, context: &RequestContext) -> Result<Value, Stop> {
    Gate::enter(state, context)?;
    if let Some(ticket) = &context.request.session {
        state.write(|tx| Ok(tickets::drop_one(tx, &hash(ticket))?))?;
    }
    Ok(json!({}))
}

/// What proves to the authority that this person may have tokens, for today and tomorrow.
fn proofs(state: &AppState, context: &RequestContext) -> Result<Value, Stop> {
    within_gate(state, context, |_, gate, user| {
        // Demo mode takes anybody's word for who they are, and the authority would take this store's.
        if gate.is_demo {
            return Err(catalogue::no_licence_source().into());
        }
        gate.licence_clock_and_host()?;
        let settings = &context.settings;
        let secret = settings.config.secrets.get(Secrets::LICENCE);
        let parts = settings.licence.as_ref().zip(settings.config.licence.as_ref()).zip(secret);
        let Some(((licence, config), secret)) = parts.filter(|((_, config), _)| !config.authority.is_empty())
        else {
            return Err(catalogue::no_licence_source().into());
        };
        let today = utc_day(context.now);
        let days = [Some(today), today.checked_add(1.day()).ok()];
        let proofs = days.into_iter().flatten().map(|day| DayProof {
            day: day.to_string(),
            proof: proof::make(secret, &licence.domain, &user.login, day),
        });
        Ok(LicenceProofs {
            authority: config.authority.clone(),
            domain: licence.domain.clone(),
            login: user.login.clone(),
            proofs: proofs.collect(),
        })
    })
}

fn take_tables(
    tx: &mut Tx,
    gate: &Gate<'_>,
    context: &RequestContext,
    user: &users::User,
    take: &LeaseTake,
) -> Result<LeaseAnswer, Stop> {
    let tables = sorted(&take.tables)?;
    for table in &tables {
        let command =
            TABLES.iter().find(|(_, tables)| tables.contains(&table.as_str())).map(|(command, _)| *command);
        let command = command
            .ok_or_else(|| catalogue::bad_request(&format!("no such table: `{}`", quoted(table, 60))))?;
        if !gate.is_demo && !rights::is_granted(tx, user.id, command)? {
            return Err(catalogue::access_denied_bare().into());
        }
    }
    let (holder, _) = new_ticket()?;
    let until = until(context, take.seconds)?;
    let what = quoted(&take.what, 100);
    for table in &tables {
        let wanted =
            leases::Take { table, holder: &holder, user_id: user.id, what: &what, now: context.now, until };
        if !leases::take(tx, &wanted)? {
            let who = leases::held(tx, table, context.now)?;
            let who = who
                .map_or_else(|| "somebody".to_owned(), |lease| format!("{} ({})", lease.name, lease.login));
            return Err(catalogue::table_in_work(table, &quoted(&who, 200)).into());
        }
    }
    Ok(LeaseAnswer { holder, tables, until: Some(db::seconds(until)) })
}

fn renew_tables(tx: &mut Tx, context: &RequestContext, renew: &LeaseRenew) -> Result<LeaseAnswer, Stop> {
    let until = until(context, renew.seconds)?;
    is_a_holder(&renew.holder)?;
    let mut held = Vec::new();
    for table in sorted(&renew.tables)? {
        if leases::renew(tx, &table, &renew.holder, context.now, until)? {
            held.push(table);
        }
    }
    Ok(LeaseAnswer { holder: renew.holder.clone(), tables: held, until: Some(db::seconds(until)) })
}

fn free_tables(tx: &mut Tx, free: &LeaseFree) -> Result<LeaseAnswer, Stop> {
    is_a_holder(&free.holder)?;
    for table in sorted(&free.tables)? {
        leases::free(tx, &table, &free.holder)?;
    }
    Ok(LeaseAnswer { holder: free.holder.clone(), tables: Vec::new(), until: None })
}

/// A zero byte is in no holder's word, and not every database takes one.
fn is_a_holder(holder: &str) -> Result<(), Stop> {
    if holder.contains('\0') {
        return Err(catalogue::bad_request("`holder` is no holder's word").into());
    }
    Ok(())
}

/// Tables in one order for everybody, so that no two holders wait for each other.
fn sorted(tables: &[String]) -> Result<Vec<String>, Stop> {
    if tables.is_empty() || tables.len() > MOST_TABLES {
        return Err(catalogue::bad_request("`tables` names none, or too many").into());
    }
    if tables.iter().any(|table| table.contains('\0')) {
        return Err(catalogue::bad_request("`tables` holds what is no table's name").into());
    }
    let mut tables = tables.to_vec();
    tables.sort();
    tables.dedup();
    Ok(tables)
}

fn until(context: &RequestContext, seconds: u64) -> Result<jiff::Timestamp, Stop> {
    let seconds = i64::try_from(seconds).unwrap_or(LONGEST_LEASE).clamp(1, LONGEST_LEASE);
    Ok(context.now.checked_add(SignedDuration::from_secs(seconds))?)
}
