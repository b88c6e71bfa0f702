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

use crate::config::Secrets;
use crate::gate::{Gate, utc_day};
use crate::house::{Asked, House, blocking};
use crate::sign_in::{Admitted, main_group, parse, person, sign_in};
use crate::tickets::{hash, new_ticket};

mod home;

/// Which tickets are for this endpoint.
const KIND: &str = "program";
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
pub(crate) async fn answer(house: Arc<House>, asked: Asked) -> Result<Value, Stop> {
    if asked.request.command == Request::PROGRAM_SIGN_IN {
        return sign_in(house, asked, KIND, |tx, admitted| {
            Ok(serde_json::to_value(signed_in(tx, admitted)?)?)
        })
        .await;
    }
    blocking(move || run(&house, asked)).await
}

fn signed_in(tx: &mut Tx, admitted: &Admitted<'_>) -> Result<ProgramSignedIn, Stop> {
    let settings = &admitted.asked.settings;
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

fn run(house: &House, mut asked: Asked) -> Result<Value, Stop> {
    // What is wrong with the parameters is said only after the gate let the person through.
    let params = std::mem::take(&mut asked.request.params);
    match asked.request.command.as_str() {
        Request::PROGRAM_SIGN_OUT => sign_out(house, &asked),
        Request::PROGRAM_LICENCE => proofs(house, &asked),
        Request::PROGRAM_HOME => home::answer(house, &asked),
        Request::PROGRAM_LEASE_TAKE => {
            within_gate(house, &asked, |tx, gate, user| take_tables(tx, gate, &asked, user, &parse(params)?))
        }
        Request::PROGRAM_LEASE_RENEW => {
            within_gate(house, &asked, |tx, _, _| renew_tables(tx, &asked, &parse(params)?))
        }
        Request::PROGRAM_LEASE_FREE => {
            within_gate(house, &asked, |tx, _, _| free_tables(tx, &parse(params)?))
        }
        other => within_gate(house, &asked, |_, _, _| {
            Err::<Value, _>(catalogue::unknown_command(&quoted(other, 60)).into())
        }),
    }
}

/// Runs a command of a person whom the gate lets through, in one transaction.
fn within_gate<T: serde::Serialize>(
    house: &House,
    asked: &Asked,
    work: impl FnOnce(&mut Tx, &Gate<'_>, &users::User) -> Result<T, Stop>,
) -> Result<Value, Stop> {
    let gate = Gate::enter(house, asked)?;
    // What gets a token cannot ask for one.
    let needs_licence = asked.request.command != Request::PROGRAM_LICENCE;
    house.write(|tx| {
        let holder = gate.holder(tx, KIND, needs_licence)?;
        if let Some(hash) = &holder.to_touch {
            tickets::touch(tx, hash, asked.now)?;
        }
        Ok(serde_json::to_value(work(tx, &gate, &holder.user)?)?)
    })
}

/// Ends a ticket, whoever holds it. There is nothing to refuse but a closed store.
fn sign_out(house: &House, asked: &Asked) -> Result<Value, Stop> {
    Gate::enter(house, asked)?;
    if let Some(ticket) = &asked.request.session {
        house.write(|tx| Ok(tickets::drop_one(tx, &hash(ticket))?))?;
    }
    Ok(json!({}))
}

/// What proves to the authority that this person may have tokens, for today and tomorrow.
fn proofs(house: &House, asked: &Asked) -> Result<Value, Stop> {
    within_gate(house, asked, |_, gate, user| {
        // Demo mode takes anybody's word for who they are, and the authority would take this store's.
        if gate.is_demo {
            return Err(catalogue::no_licence_source().into());
        }
        gate.licence_clock_and_host()?;
        let settings = &asked.settings;
        let secret = settings.config.secrets.get(Secrets::LICENCE);
        let parts = settings.licence.as_ref().zip(settings.config.licence.as_ref()).zip(secret);
        let Some(((licence, config), secret)) = parts.filter(|((_, config), _)| !config.authority.is_empty())
        else {
            return Err(catalogue::no_licence_source().into());
        };
        let today = utc_day(asked.now);
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
    asked: &Asked,
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
    let until = until(asked, take.seconds)?;
    let what = quoted(&take.what, 100);
    for table in &tables {
        let wanted =
            leases::Take { table, holder: &holder, user_id: user.id, what: &what, now: asked.now, until };
        if !leases::take(tx, &wanted)? {
            let who = leases::held(tx, table, asked.now)?;
            let who = who
                .map_or_else(|| "somebody".to_owned(), |lease| format!("{} ({})", lease.name, lease.login));
            return Err(catalogue::table_in_work(table, &quoted(&who, 200)).into());
        }
    }
    Ok(LeaseAnswer { holder, tables, until: Some(db::seconds(until)) })
}

fn renew_tables(tx: &mut Tx, asked: &Asked, renew: &LeaseRenew) -> Result<LeaseAnswer, Stop> {
    let until = until(asked, renew.seconds)?;
    is_a_holder(&renew.holder)?;
    let mut held = Vec::new();
    for table in sorted(&renew.tables)? {
        if leases::renew(tx, &table, &renew.holder, asked.now, until)? {
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

fn until(asked: &Asked, seconds: u64) -> Result<jiff::Timestamp, Stop> {
    let seconds = i64::try_from(seconds).unwrap_or(LONGEST_LEASE).clamp(1, LONGEST_LEASE);
    Ok(asked.now.checked_add(SignedDuration::from_secs(seconds))?)
}
