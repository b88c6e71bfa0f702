//! `engine_dev_cache_clear`: what the nodes keep is made anew.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::text::quoted;
use wire::{Stop, catalogue};

use super::{bundles, unit};
use crate::{EngineCx, Right};

crate::tool!("engine_dev_cache_clear", right: Right::Command("AGENT_ENGINE_DEV_CACHE_CLEAR"), effect: Writes,
    refuses: [cache_type, unit_with_cache, unit_only_with_cache, no_such_module, not_bundled], run: run);

/// Clears what is kept of pages and units, or builds bundles anew.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// cache, unit_cache or static
    r#type: String,
    /// With unit_cache
    unit: Option<String>,
}

/// What was cleared.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// The kind.
    r#type: String,
    /// The unit, for `unit_cache`.
    unit: Option<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    match (args.r#type.as_str(), &args.unit) {
        ("unit_cache", None) => return Err(catalogue::unit_with_cache().into()),
        ("unit_cache", Some(name)) => {
            if unit::find(cx, name)?.is_none() {
                return Err(catalogue::no_such_module(&quoted(name, 80)).into());
            }
            db::changes::tell_anything(cx.tx)?;
        }
        ("cache" | "static", Some(_)) => return Err(catalogue::unit_only_with_cache().into()),
        ("cache", None) => db::changes::tell_anything(cx.tx)?,
        ("static", None) => {
            for group in unit::groups(cx)? {
                bundles::rebuild(cx, &group)?;
            }
        }
        (other, _) => return Err(catalogue::cache_type(&quoted(other, 80)).into()),
    }
    Ok(Answer { r#type: args.r#type, unit: args.unit })
}
