//! What the engine's nodes do by themselves: what there is to do, and how far it was done, on whatever node.
//!
//! A node that finds nothing to do writes nothing. One that does holds the job's lock to the end of its
//! transaction, so that of several nodes one works and the others find it done.

use jiff::{SignedDuration, Timestamp};

use crate::change_notes::{Position, Seen};
use crate::changes::{self, Told};
use crate::timestamps::CLOCKS_DIFFER;
use crate::{Db, DbError, Dialect, Tx, listing, micros};

/// The job that marks what commits and the clock have made old.
const FOLLOW: &str = "follow";
/// Marks that mean: all products.
const ALL_PRODUCTS: &str =
    "insert into dirty (entity, elem_id, since) select 'products', p.id, :now from products p
    where not exists (select 1 from dirty d where d.entity = 'products' and d.elem_id = p.id)";

/// What there is to do at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Rows are marked to be made anew.
    pub marked: bool,
    /// Orders have not been paid in time.
    pub unpaid: bool,
    /// Something is reserved for a time that is over.
    pub expired: bool,
}

/// What there is to do.
pub fn due(tx: &mut Tx, now: Timestamp) -> Result<Due, DbError> {
    let mut is_there = |sql: &str| -> Result<bool, DbError> {
        let named: &[_] = &[("now", micros(now).into())];
        let params = if sql.contains(":now") { named } else { &[] };
        Ok(tx.row(sql, params)?.is_some())
    };
    Ok(Due {
        marked: is_there("select 1 as yes from dirty limit 1")?,
        unpaid: is_there(
            "select 1 as yes from orders o join order_states s on s.skey = o.state
             where o.pay_until <= :now and s.base = 'kWait' limit 1",
        )?,
        expired: is_there("select 1 as yes from reservations where until <= :now limit 1")?,
    })
}

/// How far a job was done.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    done: String,
    seen: String,
}

fn state(tx: &mut Tx, name: &str) -> Result<Option<State>, DbError> {
    let row = tx.row("select done, seen from jobs where name = :name", &[("name", name.into())])?;
    row.map(|row| Ok(State { done: row.get("done")?, seen: row.get("seen")? })).transpose()
}

fn keep(tx: &mut Tx, name: &str, state: &State) -> Result<(), DbError> {
    tx.run(
        "insert into jobs (name, done, seen) values (:name, :done, :seen)
         on conflict (name) do update set done = excluded.done, seen = excluded.seen",
        &[("name", name.into()), ("done", (&state.done).into()), ("seen", (&state.seen).into())],
    )?;
    Ok(())
}

/// Takes a job that is done once in a while; `false` if it was taken within the last `every`, on whatever node.
pub fn take(db: &Db, name: &str, every: SignedDuration, now: Timestamp) -> Result<bool, DbError> {
    let is_due = |tx: &mut Tx| {
        let done = state(tx, name)?.and_then(|state| state.done.parse::<Timestamp>().ok());
        // One from the future was taken by a clock that was wrong.
        Ok(done.is_none_or(|done| done + every <= now || done > now + CLOCKS_DIFFER))
    };
    if !db.read(is_due)? {
        return Ok(false);
    }
    db.write(|tx| {
        tx.lock("jobs")?;
        let is_ours = is_due(tx)?;
        if is_ours {
            keep(tx, name, &State { done: micros(now), seen: String::new() })?;
        }
        Ok::<_, DbError>(is_ours)
    })
}

/// What a look has found out.
struct Look {
    was: Option<State>,
    told: Told,
    /// The moments between which prices and appearances may have begun or ended.
    moments: Option<(Timestamp, Timestamp)>,
}

/// Marks the products that commits and the clock have made old since it was done last; whether there was anything.
pub fn follow(db: &Db, now: Timestamp) -> Result<bool, DbError> {
    let look = db.read(|tx| look(tx, db.dialect(), now))?;
    let nothing = matches!(&look.told, Told::Changes { changes, .. } if changes.is_empty());
    if nothing && look.was.is_some() && look.moments.is_none() {
        return Ok(false);
    }
    db.write(|tx| {
        tx.lock("jobs")?;
        // Another node was faster, and looks again soon.
        if state(tx, FOLLOW)? != look.was {
            return Ok(false);
        }
        let upto = match &look.told {
            Told::Changes { changes, upto } => {
                listing::follow(tx, changes, now)?;
                upto
            }
            Told::Lost { upto } => {
                tx.run(ALL_PRODUCTS, &[("now", micros(now).into())])?;
                upto
            }
        };
        if let Some((since, until)) = look.moments {
            listing::follow_clock(tx, since, until, now)?;
        }
        keep(tx, FOLLOW, &State { done: micros(now), seen: upto.text() })?;
        Ok(true)
    })
}

fn look(tx: &mut Tx, dialect: Dialect, now: Timestamp) -> Result<Look, DbError> {
    let was = state(tx, FOLLOW)?;
    let here = changes::position(tx)?;
    let seen = was.as_ref().and_then(|was| position(&was.seen, dialect));
    let told = match seen {
        // A position that this database has not come to yet is another one's.
        Some(seen) if here.covers(&seen) => changes::since(tx, &seen)?,
        _ => Told::Lost { upto: here },
    };
    let done = was.as_ref().and_then(|was| was.done.parse::<Timestamp>().ok());
    // A clock that was ahead has begun and ended what is to be taken back. Clocks of nodes differ by a little.
    let moments = match done {
        Some(done) if done <= now => Some((done, now)),
        Some(done) if now + CLOCKS_DIFFER < done => Some((now, done)),
        _ => None,
    };
    let moments = match moments {
        Some((since, until)) if listing::has_border(tx, since, until)? => Some((since, until)),
        // Nothing begins or ends there; what was looked through once is not looked through again and again.
        Some((since, until)) if until.duration_since(since) > LOOKED_THROUGH => Some((since, until)),
        _ => None,
    };
    Ok(Look { was, told, moments })
}

/// How long a span without borders may get until it is noted that there are none.
const LOOKED_THROUGH: SignedDuration = SignedDuration::from_mins(10);

/// A position as it was kept; `None` where it is of the other kind of database, or of none.
fn position(text: &str, dialect: Dialect) -> Option<Position> {
    match dialect {
        Dialect::Sqlite => text.parse().ok().map(|number| Position(Seen::UpTo(number))),
        Dialect::Postgres => Position::parse(text).ok(),
    }
}

/// Notes that everything is made as of now. For who has just made it all, where nobody else writes.
pub fn all_is_made(db: &Db, now: Timestamp) -> Result<(), DbError> {
    let here = db.read(changes::position)?;
    db.write(|tx| keep(tx, FOLLOW, &State { done: micros(now), seen: here.text() }))
}
