//! What a tool declares, and the macro that makes the declaration.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use wire::{Stop, catalogue};

use std::path::PathBuf;

use crate::{EngineCx, LocalContext, SiteAnswer, SiteRequest};

/// One tool: everything lists, gates, docs and tests need to know of it.
pub struct ToolSpec {
    /// Name: family, subject, action.
    pub name: &'static str,
    /// The right a person needs.
    pub right: Right,
    /// What a call does to the store.
    pub effect: Effect,
    /// Names of the tool's own refusals in the catalogue.
    pub refuses: &'static [&'static str],
    /// JSON schema of the arguments; its `description` is the tool's. See [`ToolSpec::listed_input`].
    pub input: fn() -> Value,
    /// JSON schema of the data block, where the tool returns data.
    pub output: Option<fn() -> Value>,
    /// The engine's half; `None` for tools that never leave the MCP server.
    pub run: Option<Run>,
    /// The MCP server's half before the request; `None` sends the arguments as they are.
    pub prepare: Option<Prepare>,
    /// The MCP server's half after the answer; `None` shows the answer as it is.
    pub present: Option<Present>,
    /// Where the bytes of the answer go, for tools that bring a file.
    pub download: Option<Download>,
    /// The halves of a tool that visits the site, in place of all others.
    pub site: Option<SiteHalves>,
}

/// The right behind a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// None is needed.
    Free,
    /// A command of the rights tree, `AGENT_…`.
    Command(&'static str),
}

/// What a call does to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Reads,
    /// Adds or changes.
    Writes,
    /// Removes.
    Destroys,
}

/// The engine's half of a tool.
pub type Run = fn(&mut EngineCx<'_>, Map<String, Value>) -> Result<Value, Stop>;
/// The MCP server's half before the request: arguments to the command's parameters.
pub type Prepare = fn(&LocalContext, Map<String, Value>) -> Result<Map<String, Value>, Stop>;
/// The MCP server's half after the answer: arguments and answer to blocks.
pub type Present = fn(&LocalContext, Map<String, Value>, Value) -> Result<Presented, Stop>;

/// Where a tool's file goes on this computer, before it is asked for.
pub type Download = fn(&LocalContext, Map<String, Value>) -> Result<PathBuf, Stop>;

/// The half before the visit: arguments to what is asked of the site.
pub type Ask = fn(&LocalContext, Map<String, Value>) -> Result<SiteRequest, Stop>;
/// The half after the visit: what came back, to blocks.
pub type Show = fn(&LocalContext, Map<String, Value>, SiteAnswer) -> Result<Presented, Stop>;

/// The halves of a tool that visits the site.
#[derive(Clone, Copy)]
pub struct SiteHalves {
    /// Arguments to a visit.
    pub ask: Ask,
    /// What came back, to blocks.
    pub show: Show,
}

/// What the agent gets of a done call, before it becomes blocks.
#[derive(Clone, Debug, Default)]
pub struct Presented {
    /// The data block.
    pub data: Option<Value>,
    /// The text block.
    pub text: Option<String>,
    /// A picture to be looked at.
    pub picture: Option<Picture>,
    /// Whether it comes with the error mark: a command of the store's own tools that answered `result: false`.
    pub is_failed: bool,
    /// Notes that were shown (or are gone), whole or in part.
    pub notes_read: Vec<NoteRead>,
}

/// A picture in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its type.
    pub mime: String,
    /// Its bytes, in base64.
    pub base64: String,
}

/// A part of a note that was in an answer; positions are characters of its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteRead {
    /// Number of the note.
    pub id: i64,
    /// When the note was changed: parts of two versions make no whole.
    pub version: String,
    /// Where the part begins.
    pub from: usize,
    /// Where it ends.
    pub until: usize,
    /// How long the body is.
    pub length: usize,
}

impl Presented {
    /// Only data.
    pub fn data(data: Value) -> Self {
        Self { data: Some(data), ..Self::default() }
    }
}

impl ToolSpec {
    /// The text the model reads.
    pub fn description(&self) -> String {
        (self.input)().get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Schema of the arguments as `tools/list` carries it: without the tool's own text.
    pub fn listed_input(&self) -> Value {
        let mut schema = (self.input)();
        if let Some(object) = schema.as_object_mut() {
            object.remove("description");
        }
        schema
    }

    /// The command behind the tool, where it needs a right.
    pub fn command(&self) -> Option<&'static str> {
        match self.right {
            Right::Free => None,
            Right::Command(command) => Some(command),
        }
    }

    /// First word of the name: `memory`, `engine`, …
    pub fn family(&self) -> &'static str {
        self.name.split('_').next().unwrap_or(self.name)
    }
}

/// Parameters are foreign bytes on the engine's side: what does not fit is refused, not trusted.
pub(crate) fn parse<T: DeserializeOwned>(params: Map<String, Value>) -> Result<T, Stop> {
    serde_json::from_value(Value::Object(params))
        .map_err(|error| catalogue::bad_request(&wire::text::quoted(&error.to_string(), 200)).into())
}

/// Gives a typed engine half the form of [`Run`].
pub fn erased_run<P: DeserializeOwned, A: Serialize>(
    cx: &mut EngineCx<'_>,
    params: Map<String, Value>,
    run: fn(&mut EngineCx<'_>, P) -> Result<A, Stop>,
) -> Result<Value, Stop> {
    let answer = run(cx, parse(params)?)?;
    Ok(serde_json::to_value(answer)?)
}

/// Gives a typed half before the request the form of [`Prepare`].
pub fn erased_prepare<P: DeserializeOwned, S: Serialize>(
    local: &LocalContext,
    params: Map<String, Value>,
    prepare: fn(&LocalContext, P) -> Result<S, Stop>,
) -> Result<Map<String, Value>, Stop> {
    match serde_json::to_value(prepare(local, parse(params)?)?)? {
        Value::Object(sent) => Ok(sent),
        _ => Err(wire::Fault::new("a tool sends something else than an object").into()),
    }
}

/// Gives a typed half after the answer the form of [`Present`].
///
/// The engine's bytes are not trusted: an answer of another form is refused.
pub fn erased_present<P: DeserializeOwned, A: DeserializeOwned>(
    local: &LocalContext,
    params: Map<String, Value>,
    answer: Value,
    present: fn(&LocalContext, P, A) -> Result<Presented, Stop>,
) -> Result<Presented, Stop> {
    let answer = serde_json::from_value(answer).map_err(|error| {
        let what = format!("the answer is not of the tool's form ({error}).");
        catalogue::unexpected_answer(&wire::text::quoted(&what, 300))
    })?;
    present(local, parse(params)?, answer)
}

/// Gives a typed half before the visit the form of [`SiteHalves::ask`].
pub fn erased_ask<P: DeserializeOwned>(
    local: &LocalContext,
    params: Map<String, Value>,
    ask: fn(&LocalContext, P) -> Result<SiteRequest, Stop>,
) -> Result<SiteRequest, Stop> {
    ask(local, parse(params)?)
}

/// Gives a typed half after the visit the form of [`SiteHalves::show`].
pub fn erased_show<P: DeserializeOwned>(
    local: &LocalContext,
    params: Map<String, Value>,
    answer: SiteAnswer,
    show: fn(&LocalContext, P, SiteAnswer) -> Result<Presented, Stop>,
) -> Result<Presented, Stop> {
    show(local, parse(params)?, answer)
}

/// Gives a typed choice of the file's place the form of [`Download`].
pub fn erased_download<P: DeserializeOwned>(
    local: &LocalContext,
    params: Map<String, Value>,
    download: fn(&LocalContext, P) -> Result<PathBuf, Stop>,
) -> Result<PathBuf, Stop> {
    download(local, parse(params)?)
}

/// Declares a tool in its file, as `TOOL`.
///
/// The file has `Args` and `Answer`, and the functions that are named:
/// `run(&mut EngineCx, Args or what prepare sends) -> Result<Answer, Stop>`,
/// `prepare(&LocalContext, Args) -> Result<Sent, Stop>`,
/// `download(&LocalContext, Args) -> Result<PathBuf, Stop>` where the answer brings a file,
/// `present(&LocalContext, Args, Answer) -> Result<Presented, Stop>`.
/// A tool that visits the site has `ask(&LocalContext, Args) -> Result<SiteRequest, Stop>` and
/// `show(&LocalContext, Args, SiteAnswer) -> Result<Presented, Stop>` instead.
/// Without `present` the engine's answer is checked against `Answer` and shown as data.
#[macro_export]
macro_rules! tool {
    ($name:literal, right: $right:expr, effect: $effect:ident, refuses: [$($refusal:ident),* $(,)?]
     , ask: $ask:path, show: $show:path $(,)?) => {
        /// The tool of this file.
        pub const TOOL: $crate::ToolSpec = $crate::ToolSpec {
            name: $name,
            right: $right,
            effect: $crate::Effect::$effect,
            refuses: &[$(stringify!($refusal)),*],
            input: $crate::input_schema::<Args>,
            output: Some($crate::output_schema::<Answer>),
            run: None,
            prepare: None,
            present: None,
            download: None,
            site: Some($crate::SiteHalves {
                ask: |local, params| $crate::erased_ask(local, params, $ask),
                show: |local, params, answer| $crate::erased_show(local, params, answer, $show),
            }),
        };
    };
    ($name:literal, right: $right:expr, effect: $effect:ident, refuses: [$($refusal:ident),* $(,)?]
     $(, run: $run:path)? $(, prepare: $prepare:path)? $(, download: $download:path)?
     $(, present: $present:path)? $(,)?) => {
        /// The tool of this file.
        pub const TOOL: $crate::ToolSpec = $crate::ToolSpec {
            name: $name,
            right: $right,
            effect: $crate::Effect::$effect,
            refuses: &[$(stringify!($refusal)),*],
            input: $crate::input_schema::<Args>,
            output: Some($crate::output_schema::<Answer>),
            run: $crate::tool!(@run $($run)?),
            prepare: $crate::tool!(@prepare $($prepare)?),
            present: $crate::tool!(@present $($present)?),
            download: $crate::tool!(@download $($download)?),
            site: None,
        };
    };
    (@run) => { None };
    (@run $run:path) => { Some(|cx, params| $crate::erased_run(cx, params, $run)) };
    (@prepare) => { None };
    (@prepare $prepare:path) => { Some(|local, params| $crate::erased_prepare(local, params, $prepare)) };
    (@download) => { None };
    (@download $download:path) => { Some(|local, params| $crate::erased_download(local, params, $download)) };
    (@present) => {
        Some(|local, params, answer| {
            $crate::erased_present::<serde_json::Map<String, serde_json::Value>, Answer>(
                local, params, answer,
                |_, _, answer| Ok($crate::Presented::data(serde_json::to_value(answer)?)),
            )
        })
    };
    (@present $present:path) => { Some(|local, params, answer| $crate::erased_present(local, params, answer, $present)) };
}
