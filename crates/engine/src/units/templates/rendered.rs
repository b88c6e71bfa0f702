//! A rendered template: its text, and the places in it that wait for other units.

use minijinja::value::Kwargs;
use minijinja::{Captured, Environment, Error, ErrorKind, State, Value};

/// Most units one template may ask for.
const MOST: usize = 1000;
/// Begins and ends a mark; the hidden number between them is drawn for each rendering, so that no data can forge one.
const FENCE: char = '\u{f8ff}';

/// A rendered template.
pub(crate) struct Rendered {
    text: String,
    waiting: Waiting,
}

/// A unit that the template asks for.
#[derive(Clone, Debug)]
pub(crate) struct UnitCall {
    /// Its name.
    pub(crate) unit: String,
    /// Its variables.
    pub(crate) vars: Value,
}

/// The units that were asked for, in order.
#[derive(Default)]
struct Waiting {
    number: u64,
    asked: Vec<UnitCall>,
}

impl Waiting {
    fn mark(&self, at: usize) -> String {
        format!("{FENCE}{:016x}.{at}{FENCE}", self.number)
    }
}

impl Rendered {
    pub(super) fn of(captured: Captured<'_>) -> Self {
        let waiting = captured.state().get_extension::<Waiting>();
        let waiting = waiting.map_or_else(Waiting::default, |waiting| Waiting {
            number: waiting.number,
            asked: waiting.asked.clone(),
        });
        Self { text: captured.into_output(), waiting }
    }

    /// The whole text: `run` answers each unit's HTML, once for each time it was asked for.
    pub(crate) fn fill<E>(self, mut run: impl FnMut(&UnitCall) -> Result<String, E>) -> Result<String, E> {
        let Self { mut text, waiting } = self;
        if waiting.asked.is_empty() {
            return Ok(text);
        }
        let mut whole = String::with_capacity(text.len() * 2);
        for (at, asked) in waiting.asked.iter().enumerate() {
            let mark = waiting.mark(at);
            // What the template asked for and did not print is not run.
            if !text.contains(&mark) {
                continue;
            }
            let html = run(asked)?;
            whole.clear();
            let mut parts = text.split(&mark);
            whole.push_str(parts.next().unwrap_or_default());
            for part in parts {
                whole.push_str(&html);
                whole.push_str(part);
            }
            std::mem::swap(&mut text, &mut whole);
        }
        Ok(text)
    }
}

/// Adds `unit(name, …)`.
pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_function("unit", ask);
}

fn ask(state: &mut State<'_, '_>, unit: &str, vars: Kwargs) -> Result<Value, Error> {
    let wrong = |words: String| Error::new(ErrorKind::InvalidOperation, words);
    let pairs: Vec<(String, Value)> = vars
        .args()
        .map(|name| Ok((name.to_owned(), vars.get::<Value>(name)?)))
        .collect::<Result<_, Error>>()?;
    if state.get_extension::<Waiting>().is_none() {
        let mut number = [0; 8];
        getrandom::fill(&mut number).map_err(|_| wrong("no random numbers".to_owned()))?;
        let waiting = Waiting { number: u64::from_le_bytes(number), asked: Vec::new() };
        state.get_or_insert_extension(waiting);
    }
    let waiting = state.get_or_insert_extension(Waiting::default());
    if waiting.asked.len() >= MOST {
        return Err(wrong(format!("a template asks for at most {MOST} units")));
    }
    let mark = waiting.mark(waiting.asked.len());
    waiting.asked.push(UnitCall { unit: unit.to_owned(), vars: Value::from_pairs(pairs) });
    Ok(Value::from_safe_string(mark))
}
