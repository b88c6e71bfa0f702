//! `staff.…`: what a person of the store does with orders, reviews and tasks, by the store's rules.
//!
//! Only commands of the store's own tools have these calls: they run in the transaction of the call, for a person whose
//! right is asked again here. An expected no is told as `problem`, and nothing of the step stays.

mod fields;
mod goods;
mod people;
mod tree;

use db::{DbError, Tx, events, reviews, rights, rows, tasks, users};
use sandbox::{HostError, Value};
use serde_json::{Value as Json, json};

use super::Answer;
use super::arguments::{Arguments, int};
use super::data::{time_was_up, too_many};
use crate::shopping::staff::{
    CancelPieces, LineBack, MoveOrder, NewRefund, Note, Pieces, Ship, Staff, StaffDone, StaffError,
};
use crate::units::run::Run;
use crate::units::values::from_json;
use crate::units::visit::Audience;

/// The part of the call's transaction that a step is.
const PART: &str = "step";
/// The rights that the calls ask for.
const ORDERS: &str = "ORDERS";
const PRODUCTS: &str = "PRODUCTS";
const SCHEDULER: &str = "SCHEDULER";

/// The calls, by name.
pub(super) fn call(run: &mut Run<'_>, name: &str, args: &Arguments<'_>) -> Option<Answer> {
    let answer = match name {
        "staff.move_order" => move_order(run, args),
        "staff.ship" => ship(run, args),
        "staff.cancel_pieces" => cancel_pieces(run, args),
        "staff.note" => note(run, args),
        "staff.refund" => refund(run, args),
        "staff.review" => review(run, args),
        "staff.add_task" => add_task(run, args),
        "staff.hand_task" => hand_task(run, args),
        _ => {
            return goods::call(run, name, args)
                .or_else(|| tree::call(run, name, args))
                .or_else(|| people::call(run, name, args));
        }
    };
    Some(answer)
}

fn move_order(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (order, state) = (args.int(0, "order")?, args.text(1, "state")?);
    let reason = args.text_or(2, "reason", "")?;
    step(run, ORDERS, |tx, staff, _| {
        staff.move_unheld(tx, MoveOrder { order, state, reason })?;
        Ok(json!({}))
    })
}

fn ship(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let order = args.int(0, "order")?;
    let lines: Vec<Pieces> =
        pieces(args)?.into_iter().map(|(line, pieces)| Pieces { line, pieces }).collect();
    let carrier = args.text_option(1, "carrier")?.unwrap_or_default();
    let tracking = args.text_option(1, "tracking")?.unwrap_or_default();
    step(run, ORDERS, |tx, staff, _| {
        let shipment = staff.ship_within(tx, Ship { order, lines: &lines, carrier, tracking })?;
        Ok(json!({"shipment": shipment}))
    })
}

fn cancel_pieces(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let order = args.int(0, "order")?;
    let lines: Vec<Pieces> =
        pieces(args)?.into_iter().map(|(line, pieces)| Pieces { line, pieces }).collect();
    let reason = args.text_option(1, "reason")?.unwrap_or_default();
    step(run, ORDERS, |tx, staff, _| {
        staff.cancel_within(tx, CancelPieces { order, lines: &lines, reason })?;
        Ok(json!({}))
    })
}

fn note(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (order, text) = (args.int(0, "order")?, args.text(1, "text")?);
    let for_customer = *args.value(2) == Value::Bool(true);
    step(run, ORDERS, |tx, staff, _| {
        Ok(json!({"note": staff.note_within(tx, Note { order, text, for_customer })?}))
    })
}

fn refund(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let order_id = args.int(0, "order")?;
    let lines: Vec<LineBack> = pieces(args)?
        .into_iter()
        .map(|(line_id, pieces)| LineBack { line_id, pieces, amount: None })
        .collect();
    let shipping = args.int_option(1, "shipping")?.unwrap_or(0);
    let extra = args.int_option(1, "extra")?.unwrap_or(0);
    let reason = args.text_option(1, "reason")?.unwrap_or_default();
    let key = args.text_option(1, "key")?.unwrap_or_default();
    step(run, ORDERS, |tx, staff, _| {
        let new = NewRefund { order_id, lines: &lines, shipping, extra, reason, return_id: None, key };
        Ok(json!({"refunds": staff.begin_refund(tx, new)?}))
    })
}

/// `[{line, pieces}]` among the options.
fn pieces(args: &Arguments<'_>) -> Result<Vec<(i64, i64)>, HostError> {
    let wrong = || args.wrong("`lines` is a list of `{line, pieces}`");
    match args.option(1, "lines") {
        None => Ok(Vec::new()),
        Some(Value::List(rows)) => {
            let of = |row: &Value, field| row.get(field).and_then(int).ok_or_else(wrong);
            rows.iter().map(|row| Ok((of(row, "line")?, of(row, "pieces")?))).collect()
        }
        Some(_) => Err(wrong()),
    }
}

/// Answers a review, shows or hides it; the product's stars follow.
fn review(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let id = args.int(0, "review")?;
    let (answer, state) = (args.text_option(1, "answer")?, args.text_option(1, "state")?);
    if state.is_some_and(|state| !["kNew", "kShown", "kHidden"].contains(&state)) {
        return Err(args.wrong("`state` is kNew, kShown or kHidden"));
    }
    let now = run.visit.now;
    step(run, PRODUCTS, |tx, _, _| {
        if let Some(answer) = answer
            && !rows::update(tx, "reviews", id, None, &[("answer", answer.into())], now)?
        {
            return Err(StaffError::Unknown { what: "review", id });
        }
        if let Some(state) = state {
            reviews::set_state(tx, id, state, now)?;
        }
        Ok(json!({}))
    })
}

/// A new task of the person for a colleague.
fn add_task(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (login, name) = (args.text(0, "login")?, args.text(1, "name")?);
    let body = args.text_or(2, "body", "")?;
    let now = run.visit.now;
    step(run, SCHEDULER, |tx, _, person| {
        let executor_id = colleague(tx, login)?;
        let task = tasks::create(
            tx,
            &tasks::NewTask {
                creator_id: person,
                executor_id,
                state: "kNew".to_owned(),
                name: name.to_owned(),
                body: body.to_owned(),
                due: None,
                now,
            },
        )?;
        assigned(tx, person, executor_id, (task, name), now)?;
        Ok(json!({"task": task}))
    })
}

/// A task goes to a colleague, with a word about it.
fn hand_task(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (task, login) = (args.int(0, "task")?, args.text(1, "login")?);
    let word = args.text_or(2, "note", "")?;
    let now = run.visit.now;
    step(run, SCHEDULER, |tx, _, person| {
        let executor = colleague(tx, login)?;
        if !rows::update(tx, "tasks", task, None, &[("executor_id", executor.into())], now)? {
            return Err(StaffError::Unknown { what: "task", id: task });
        }
        tasks::set_state(tx, task, "kReassign", now)?;
        let name = tasks::name(tx, task)?;
        assigned(tx, person, executor, (task, &name), now)?;
        if !word.trim().is_empty() {
            tasks::add_note(tx, task, person, word, now)?;
        }
        Ok(json!({}))
    })
}

/// Tells a colleague that a task waits for them.
fn assigned(
    tx: &mut Tx,
    person: i64,
    executor: i64,
    (task, name): (i64, &str),
    now: jiff::Timestamp,
) -> StaffDone<()> {
    let event = events::NewEvent {
        user_id: Some(person),
        to_user: Some(executor),
        to_group: None,
        princ_id: None,
        key: "kTaskAssigned".to_owned(),
        data: json!({"task": task, "name": name}),
        now,
    };
    events::create(tx, &event)?;
    Ok(())
}

fn colleague(tx: &mut Tx, login: &str) -> StaffDone<i64> {
    let user = users::by_login(tx, login)?.filter(|user| !user.blocked);
    user.map(|user| user.id).ok_or_else(|| StaffError::NoColleague(wire::text::quoted(login, 60)))
}

/// One step of a person with this right, which is done whole or not at all.
fn step(
    run: &mut Run<'_>,
    right: &str,
    work: impl FnOnce(&mut Tx, &Staff<'_>, i64) -> StaffDone<Json>,
) -> Answer {
    if !run.count_query() {
        return Err(too_many());
    }
    run.dependencies().own();
    let Audience::Person(person) = &run.visit.audience else { return Err(not_here()) };
    let Some(writing) = run.writing.as_ref().filter(|writing| writing.is_lent()) else {
        return Err(not_here());
    };
    let staff = Staff::new(&run.units.db, &run.visit.settings, Some(person.id), run.visit.now);
    let done = writing.with(|tx| -> StaffDone<Option<Json>> {
        if !rights::is_granted(tx, person.id, right)? {
            return Ok(None);
        }
        tx.part(PART, |tx| work(tx, &staff, person.id)).map(Some)
    });
    match done.ok_or_else(time_was_up)? {
        Ok(Some(Json::Object(mut told))) => {
            told.insert("problem".to_owned(), Json::Null);
            Ok(from_json(Json::Object(told)))
        }
        Ok(Some(_)) => Ok(Value::Null),
        Ok(None) => Err(HostError::new("NOT_GRANTED", format!("the person has no right `{right}`"))),
        // What the database itself does not allow: a key that is taken, a row that is pointed to.
        Err(StaffError::Db(DbError::Conflict(words) | DbError::Dangling(words))) => {
            Ok(from_json(json!({"problem": words})))
        }
        Err(cause @ (StaffError::Db(_) | StaffError::Broke(_))) => {
            tracing::error!(%cause, "A step of the staff failed");
            Err(HostError::new("DATABASE", "the database cannot be used"))
        }
        Err(problem) => Ok(from_json(json!({"problem": problem.to_string()}))),
    }
}

fn not_here() -> HostError {
    HostError::new("NOT_GRANTED", "shop.staff is for commands of the store's own tools")
}
