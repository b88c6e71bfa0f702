//! Wrong passwords, counted per login and per address, so that guessing gets slow.

use jiff::{SignedDuration, Timestamp};

use crate::{DbError, Tx, micros};

/// Wrong passwords of one login that cost nothing.
const FREE_OF_LOGIN: u64 = 4;
/// Wrong passwords from one address that cost nothing: people behind one address share it.
const FREE_OF_ADDRESS: u64 = 9;
/// What each wrong password beyond the free ones adds to the pause before the next try.
const STEP: SignedDuration = SignedDuration::from_millis(5);
/// The longest pause.
const LONGEST: SignedDuration = SignedDuration::from_secs(10);
/// Tries that come at once queue up; none is kept waiting longer than this.
const LONGEST_QUEUE: SignedDuration = SignedDuration::from_secs(20);
/// After this time without a wrong password the count begins anew.
const FORGOTTEN: SignedDuration = SignedDuration::from_mins(30);

/// Counts a wrong password.
pub fn record(tx: &mut Tx, login: &str, address: &str, now: Timestamp) -> Result<(), DbError> {
    for (kind, subject) in [("login", login), ("address", address)] {
        tx.run(
            "insert into attempts (kind, subject, count, last) values (:kind, :subject, 1, :now)
             on conflict (kind, subject) do update set
               count = case when attempts.last < :oldest then 1 else attempts.count + 1 end,
               last = case when attempts.last < excluded.last then excluded.last else attempts.last end",
            &[
                ("kind", kind.into()),
                ("subject", subject.into()),
                ("now", micros(now).into()),
                ("oldest", micros(now - FORGOTTEN).into()),
            ],
        )?;
    }
    Ok(())
}

/// Forgets the wrong passwords of a login after the right one. Those of the address stay: it may be guessing others.
pub fn clear(tx: &mut Tx, login: &str) -> Result<(), DbError> {
    tx.run("delete from attempts where kind = 'login' and subject = :login", &[("login", login.into())])?;
    Ok(())
}

/// Takes one count from an address: a try that [`take_turn`] counted was right.
pub fn take_back(tx: &mut Tx, address: &str) -> Result<(), DbError> {
    tx.run(
        "update attempts set count = count - 1 where kind = 'address' and subject = :address and count > 0",
        &[("address", address.into())],
    )?;
    Ok(())
}

/// Until when the next try of this login from this address has to wait; `None` if it need not.
pub fn delay_until(
    tx: &mut Tx,
    login: &str,
    address: &str,
    now: Timestamp,
) -> Result<Option<Timestamp>, DbError> {
    let rows = tx.rows(
        "select kind, count, last from attempts where last >= :oldest
         and ((kind = 'login' and subject = :login) or (kind = 'address' and subject = :address))",
        &[("oldest", micros(now - FORGOTTEN).into()), ("login", login.into()), ("address", address.into())],
    )?;
    let mut until = None;
    for row in rows {
        let free = if row.get::<String>("kind")? == "login" { FREE_OF_LOGIN } else { FREE_OF_ADDRESS };
        let pause = pause(row.get::<u64>("count")?, free);
        if pause.is_zero() {
            // What costs nothing costs nothing under the clock of another node either.
            continue;
        }
        // A node whose clock is far ahead must not make others wait longer than the queue may be.
        let last = row.get::<Timestamp>("last")?.min(now + LONGEST_QUEUE);
        let end = last + pause;
        until = until.max((end > now).then_some(end));
    }
    Ok(until)
}

/// Takes the next turn of this login from this address, and counts the try before it is made, so that
/// tries at once come one after the other. `None` if that would be too long.
pub fn take_turn(
    tx: &mut Tx,
    login: &str,
    address: &str,
    now: Timestamp,
) -> Result<Option<Timestamp>, DbError> {
    // Always in this order, so that no two transactions wait for each other.
    tx.lock(&format!("attempts login {login}"))?;
    tx.lock(&format!("attempts address {address}"))?;
    let turn = delay_until(tx, login, address, now)?.unwrap_or(now);
    if turn.duration_since(now) > LONGEST_QUEUE {
        return Ok(None);
    }
    record(tx, login, address, turn)?;
    Ok(Some(turn))
}

/// Grows with each wrong password beyond the free ones.
fn pause(count: u64, free: u64) -> SignedDuration {
    let over = i32::try_from(count.saturating_sub(free)).unwrap_or(i32::MAX);
    STEP.checked_mul(over).unwrap_or(LONGEST).min(LONGEST)
}

/// Drops counts that are forgotten anyway.
pub fn drop_old(tx: &mut Tx, now: Timestamp) -> Result<u64, DbError> {
    tx.run("delete from attempts where last < :oldest", &[("oldest", micros(now - FORGOTTEN).into())])
}
