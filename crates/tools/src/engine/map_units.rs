//! `engine_map_units`: functions of units with their signatures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::Stop;

use super::unit;
use crate::{EngineCx, LocalContext, Presented, Right, Table};

crate::tool!("engine_map_units", right: Right::Command("AGENT_ENGINE_DEV_READ"), effect: Reads,
    refuses: [], run: run, present: present);

/// Lists the functions of units with their signatures.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// One unit's name
    source: Option<String>,
    /// Read anew; every call does
    #[serde(rename = "reload")]
    _reload: Option<bool>,
}

/// Functions of units.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// `source` (the unit), `name`, `signature`.
    functions: Table,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let wanted = args.source.map(|source| {
        let name = source.rsplit('/').next().unwrap_or(&source).to_owned();
        name.rsplit_once('.').map_or(name.clone(), |(name, _)| name.to_owned())
    });
    let mut rows = Vec::new();
    for unit in unit::all(cx)? {
        if wanted.as_ref().is_some_and(|wanted| *wanted != unit.name) {
            continue;
        }
        let path = unit.code();
        let Some(file) = cx.load_file(&path)? else { continue };
        // A unit with a mistake in it has no functions that could be called.
        let Ok(report) = cx.units.code(path.as_str(), &String::from_utf8_lossy(&file.bytes))? else {
            continue;
        };
        rows.extend(
            report
                .functions
                .into_iter()
                .map(|(name, signature)| [unit.name.clone().into(), name.into(), signature.into()]),
        );
    }
    Ok(Answer { functions: Table::new(["source", "name", "signature"], rows) })
}

fn present(_: &LocalContext, args: Args, answer: Answer) -> Result<Presented, Stop> {
    let text = answer.functions.rows.is_empty().then(|| match &args.source {
        Some(source) => format!("No functions in `{}`.", wire::text::quoted(source, 80)),
        None => "No unit has a function yet.".to_owned(),
    });
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}
