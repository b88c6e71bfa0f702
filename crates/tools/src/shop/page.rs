//! `shop_page`: a page as a visitor gets it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use wire::Stop;

use super::shown::{self, Shown};
use crate::site::{SiteAnswer, SiteRequest, SiteVisitor, form_fields};
use crate::{LocalContext, Presented, Right};

/// What the answer of this tool is.
type Answer = shown::Answer;

crate::tool!("shop_page", right: Right::Free, effect: Writes,
    refuses: [not_of_store, field_not_flat, debug_denied, debugger_without_code],
    ask: ask, show: show);

/// Fetches a page of the store as a visitor gets it, and saves it here.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Address from the store's root; `/` if absent
    url: Option<String>,
    /// Text to find on the page
    find: Option<String>,
    /// With the debugger's report
    debug: Option<bool>,
    /// Fields of a form to send; these visits share cookies
    post: Option<Map<String, Value>>,
}

fn ask(_: &LocalContext, args: Args) -> Result<SiteRequest, Stop> {
    let form = args.post.as_ref().map(|post| form_fields("post", shown::FLAT, post)).transpose()?;
    Ok(SiteRequest {
        url: args.url.unwrap_or_else(|| "/".to_owned()),
        visitor: if form.is_some() { SiteVisitor::Customer } else { SiteVisitor::Newcomer },
        form,
        is_debugged: args.debug.unwrap_or(false),
    })
}

fn show(local: &LocalContext, args: Args, answer: SiteAnswer) -> Result<Presented, Stop> {
    let debug = args.debug.unwrap_or(false);
    Shown { folder: "pages", find: args.find, debug, post: args.post }.present(local, answer)
}
