//! `shop_module`: a web module through the person's eyes.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use wire::{Stop, catalogue};

use super::shown::{self, Shown};
use crate::site::{SiteAnswer, SiteRequest, SiteVisitor, form_fields};
use crate::{LocalContext, Presented, Right};

/// What the answer of this tool is.
type Answer = shown::Answer;

crate::tool!("shop_module", right: Right::Free, effect: Writes,
    refuses: [not_of_store, field_not_flat, debug_denied, debugger_without_code],
    ask: ask, show: show);

/// Calls a web module as the person, whose proof of identity is added. `func` in `post` acts for real.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Address from the store's root, like /core/unit/<name>
    url: String,
    /// Fields to send
    post: Option<Map<String, Value>>,
    /// Text to find in the answer
    find: Option<String>,
    /// With the debugger's report
    debug: Option<bool>,
}

fn ask(_: &LocalContext, args: Args) -> Result<SiteRequest, Stop> {
    if args.url.trim().is_empty() {
        let about = "Address from the store's root, like /core/unit/<name>.";
        return Err(catalogue::missing_parameter("url", about).into());
    }
    let form = args.post.as_ref().map(|post| form_fields("post", shown::FLAT, post)).transpose()?;
    Ok(SiteRequest {
        url: args.url,
        // Even without fields it is a form.
        form: Some(form.unwrap_or_default()),
        visitor: SiteVisitor::Person,
        is_debugged: args.debug.unwrap_or(false),
    })
}

fn show(local: &LocalContext, args: Args, answer: SiteAnswer) -> Result<Presented, Stop> {
    let debug = args.debug.unwrap_or(false);
    Shown { folder: "modules", find: args.find, debug, post: args.post }.present(local, answer)
}
