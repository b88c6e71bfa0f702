//! Pools: lists of steps that one call carries, named themselves or by a file of this computer.

use serde_json::Value;
use wire::text::quoted;
use wire::{Refusal, Stop, catalogue};

use crate::LocalContext;

/// Most steps.
const MOST: usize = 1000;

/// The steps of a call; `none` refuses a file that holds something else.
pub(crate) fn given(
    local: &LocalContext,
    pool: Option<Vec<Value>>,
    source: Option<String>,
    none: fn(&str) -> Refusal,
) -> Result<Vec<Value>, Stop> {
    match (pool, source) {
        (Some(_), Some(_)) => Err(catalogue::not_both("pool", "pool_source").into()),
        (None, None) => {
            Err(catalogue::missing_parameter("pool", "A list of steps, or `pool_source`.").into())
        }
        (Some(pool), None) => Ok(pool),
        (None, Some(source)) => match local.read_json(&source)? {
            Value::Array(pool) => Ok(pool),
            _ => Err(none(&quoted(&source, 400)).into()),
        },
    }
}

/// Whether so many steps are taken.
pub(crate) fn few(steps: usize) -> Result<(), Refusal> {
    if steps > MOST { Err(catalogue::too_many_steps(MOST, steps)) } else { Ok(()) }
}
