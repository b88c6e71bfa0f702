//! Goods that come back.

use db::orders::{self, Arrived, Return, StateError};

use super::{Staff, StaffDone, StaffError, order};
use crate::shopping::mails;

/// Pieces of a line that a customer gives back.
#[derive(Clone, Copy, Debug)]
pub struct ReturnedLine<'a> {
    /// The line.
    pub line: i64,
    /// How many.
    pub pieces: i64,
    /// Why.
    pub reason: &'a str,
}

/// A return that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct AskReturn<'a> {
    /// The order.
    pub order: i64,
    /// What comes back.
    pub lines: &'a [ReturnedLine<'a>],
    /// What the customer says.
    pub text: &'a str,
}

/// What the store says to a return.
#[derive(Clone, Copy, Debug)]
pub struct AnswerReturn<'a> {
    /// The return.
    pub id: i64,
    /// Whether it may come.
    pub agreed: bool,
    /// What the customer reads on the order's page.
    pub text: &'a str,
}

/// A return whose goods are here.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveReturn<'a> {
    /// The return.
    pub id: i64,
    /// The location whose stock they go into.
    pub location: i64,
    /// What is otherwise than was asked for; nothing named: all of it came and can be sold again.
    pub lines: &'a [Arrived],
}

fn told(id: i64) -> impl Fn(StateError) -> StaffError {
    move |cause| match cause {
        StateError::Unknown => StaffError::Unknown { what: "return", id },
        other => other.into(),
    }
}

impl Staff<'_> {
    /// Writes a return down; its number.
    pub fn ask_return(&self, asked: AskReturn<'_>) -> StaffDone<i64> {
        if asked.lines.is_empty() {
            return Err(StaffError::Nothing);
        }
        self.db.write(|tx| {
            order(tx, asked.order)?;
            let sold = orders::lines(tx, asked.order)?;
            let mut parts: Vec<(i64, i64, &str)> = Vec::with_capacity(asked.lines.len());
            for one in asked.lines {
                if !sold.iter().any(|line| line.id == one.line) {
                    return Err(StaffError::Unknown { what: "line", id: one.line });
                }
                match parts.iter_mut().find(|(line, _, _)| *line == one.line) {
                    Some((_, pieces, _)) => *pieces = pieces.saturating_add(one.pieces),
                    None => parts.push((one.line, one.pieces, one.reason)),
                }
            }
            Ok(orders::request_return(tx, asked.order, &parts, asked.text, self.now)?)
        })
    }

    /// Returns of an order.
    pub fn returns(&self, id: i64) -> StaffDone<Vec<Return>> {
        self.db.read(|tx| {
            order(tx, id)?;
            Ok(orders::returns(tx, id)?)
        })
    }

    /// Agrees to a return or refuses it.
    pub fn answer_return(&self, answer: AnswerReturn<'_>) -> StaffDone<()> {
        self.db.write(|tx| {
            let of = orders::answer_return(tx, answer.id, answer.agreed, answer.text, self.now);
            let of = of.map_err(told(answer.id))?;
            if !answer.text.trim().is_empty() {
                orders::note(tx, of, answer.text, true, self.user, self.now)?;
            }
            Ok(())
        })
    }

    /// The goods of a return are here: they go into stock once, and the customer is told once.
    pub fn receive_return(&self, received: ReceiveReturn<'_>) -> StaffDone<()> {
        let ReceiveReturn { id, location, lines } = received;
        let cx = self.cx();
        self.db.write(|tx| {
            let got = orders::receive_return(tx, id, location, lines, self.user, cx.now).map_err(told(id))?;
            match got {
                (order, true) => Ok(mails::returned(tx, cx, order, id)?),
                (_, false) => Ok(()),
            }
        })
    }
}
