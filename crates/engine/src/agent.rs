//! The agent's endpoint: signing in, and every tool's command.

mod sign_in;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use db::{Db, Tx, idempotency, journal, rights, tickets, users};
use serde_json::{Map, Value};
use tools::{Caller, Effect, ElementUpload, EngineCx, Run, Server, ToolSpec};
use wire::{Fault, Request, Stop, catalogue, text::quoted};

use crate::app_state::AppState;
use crate::blocking::{blocking, panic_message};
use crate::files::{CallFiles, LARGEST};
use crate::gate::tickets::AGENT;
use crate::gate::{Gate, Holder, touch};
use crate::media;
use crate::request_context::RequestContext;
use crate::units::Tree;
use crate::units::{Units, UnitsOfCall};
use crate::write_error::{WriteError, commit_lost};

/// A command's parameters.
type Params = Map<String, Value>;

/// Pauses after a commit whose end nobody could tell, before it is looked up under its key.
const AFTER_LOSS: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(400), Duration::from_millis(1500)];

/// Name of a command in counts and logs: callers write what they like.
pub(crate) fn label(command: &str) -> &'static str {
    if command == Request::SIGN_IN {
        return Request::SIGN_IN;
    }
    let known = commands().find_map(|tool| tool.command().filter(|known| *known == command));
    known.unwrap_or("unknown")
}

/// Everything that the MCP server sends: tools, and commands of its own.
fn commands() -> impl Iterator<Item = &'static ToolSpec> {
    tools::ALL.iter().chain(tools::UNLISTED)
}

/// Carries a request out.
pub(crate) async fn answer(state: Arc<AppState>, context: RequestContext) -> Result<Value, Stop> {
    if context.request.command == Request::SIGN_IN {
        return sign_in::answer(state, context).await;
    }
    blocking(move || run(&state, context)).await
}

fn run(state: &AppState, mut context: RequestContext) -> Result<Value, Stop> {
    let params = std::mem::take(&mut context.request.params);
    let context = &context;
    let gate = Gate::enter(state, context)?;
    // Whether the tool is known is said only after the gate let the person through.
    let tool = find_tool(&context.request);
    if let Ok(tool) = tool.as_ref()
        && tool.0.effect != Effect::Reads
    {
        return write(state, &gate, context, *tool, &params);
    }
    let mut files = state.files.for_call();
    let (answer, to_touch) = state.db.read(|tx| {
        let (holder, caller) = admit(tx, &gate, context)?;
        let (tool, run) = tool?;
        gate.command(tx, &caller, &context.request.command)?;
        let tools = (&mut files, &state.units, &state.db);
        Ok::<_, Stop>((call(tx, context, &caller, tools, (tool, run), params)?, holder.to_touch))
    })?;
    touch(state, to_touch, context);
    context.attachment.leave(files.attached());
    Ok(answer)
}

/// Carries out a call that writes. Where the line to the database breaks at its end, the call is repeated under
/// its key: what was committed is then found, what was not is done.
fn write(
    state: &AppState,
    gate: &Gate<'_>,
    context: &RequestContext,
    tool: (&'static ToolSpec, Run),
    params: &Params,
) -> Result<Value, Stop> {
    let mut is_lost = false;
    for pause in AFTER_LOSS.map(Some).into_iter().chain([None]) {
        match write_once(state, gate, context, tool, params) {
            Ok(answer) => return Ok(answer),
            Err(WriteError::Lost) => is_lost = true,
            Err(WriteError::Stopped(Stop::Broke(fault))) if is_lost => {
                tracing::warn!(cause = fault.chain(), "A commit that was lost cannot be looked up yet");
            }
            Err(WriteError::Stopped(stop)) => return Err(stop),
        }
        match pause {
            Some(pause) => thread::sleep(pause),
            None => break,
        }
    }
    Err(commit_lost("Repeat exactly this call later: it is then not done twice."))
}

fn write_once(
    state: &AppState,
    gate: &Gate<'_>,
    context: &RequestContext,
    (tool, run): (&'static ToolSpec, Run),
    params: &Params,
) -> Result<Value, WriteError> {
    let mut files = state.files.for_call();
    let done = state.db.write(|tx| {
        let (holder, caller) = admit(tx, gate, context)?;
        gate.command(tx, &caller, &context.request.command)?;
        if let Some(hash) = &holder.to_touch {
            tickets::touch(tx, hash, context.now)?;
        }
        let done = once(tx, context, &caller, params.clone(), |tx, params| {
            call(tx, context, &caller, (&mut files, &state.units, &state.db), (tool, run), params)
        })?;
        Ok(done)
    });
    // Where nobody knows whether it was committed, the rows know.
    if matches!(done, Ok(_) | Err(WriteError::Lost)) {
        state.files.place(&state.db, &files.changed());
    }
    done
}

fn admit(tx: &mut Tx, gate: &Gate<'_>, context: &RequestContext) -> Result<(Holder, Caller), Stop> {
    let holder = gate.holder(tx, AGENT, true)?;
    let commands = if gate.is_demo {
        rights::paths(tx, &context.settings.config.language)?.into_keys().collect()
    } else {
        rights::granted(tx, holder.user.id)?
    };
    let groups = users::groups(tx, holder.user.id)?;
    let login = holder.user.login.clone();
    let caller = Caller { id: holder.user.id, login, groups, commands, is_demo: gate.is_demo };
    Ok((holder, caller))
}

/// The tool a request names, or the only one behind its command.
fn find_tool(request: &Request) -> Result<(&'static ToolSpec, Run), Stop> {
    let unknown = || catalogue::unknown_command(&quoted(&request.command, 60));
    let mut behind = commands().filter(|tool| tool.command() == Some(request.command.as_str()));
    let tool = match &request.tool {
        Some(name) => behind.find(|tool| tool.name == name.as_str()).ok_or_else(unknown)?,
        None => match (behind.next(), behind.next()) {
            (Some(tool), None) => tool,
            (None, _) => return Err(unknown().into()),
            (Some(_), Some(_)) => {
                return Err(catalogue::bad_request(
                    "several tools stand behind the command: name one in `tool`",
                )
                .into());
            }
        },
    };
    let run = tool.run.ok_or_else(unknown)?;
    Ok((tool, run))
}

/// Runs a tool. A panic in it becomes a fault, so that the transaction is taken back in order.
fn call(
    tx: &mut Tx,
    context: &RequestContext,
    caller: &Caller,
    (files, units, db): (&mut CallFiles<'_>, &Units, &Db),
    (tool, run): (&ToolSpec, Run),
    params: Params,
) -> Result<Value, Stop> {
    let entry = entry(context, caller.id, tool.name);
    let units = UnitsOfCall::new(units, context, caller);
    let server = ServerOfCall { context, root: files.root() };
    let mut cx = EngineCx {
        tx,
        db,
        caller,
        language: &context.settings.config.language,
        now: context.now,
        entry,
        files,
        units: &units,
        debug_code: &context.settings.config.debug_code,
        server: &server,
    };
    let done = catch_unwind(AssertUnwindSafe(|| run(&mut cx, params))).unwrap_or_else(|panic| {
        let words = format!("panic in {}: {}", tool.name, panic_message(panic.as_ref()));
        Err(Fault::new(words).into())
    });
    // The tool may have found out by whose right it was done.
    journal::by(cx.tx, cx.entry);
    done
}

/// What the server tells of itself in a call.
struct ServerOfCall<'a> {
    context: &'a RequestContext,
    root: &'a Path,
}

impl Server for ServerOfCall<'_> {
    fn default_group(&self) -> &str {
        &self.context.settings.config.template
    }

    fn config(&self) -> Value {
        self.context.settings.config.shown()
    }

    fn address(&self) -> String {
        self.context.client.to_string()
    }

    fn add_element_file(&self, tx: &mut Tx, file: &ElementUpload<'_>) -> Result<Result<i64, String>, Stop> {
        let usual = match media::Kind::of(file.bytes) {
            Some(kind) if kind.is_picture() || kind == media::Kind::Svg => "kImage",
            _ => "kBase",
        };
        let new = media::NewFile {
            entity: file.entity,
            elem_id: file.elem_id,
            kind: file.kind_key.unwrap_or(usual),
            name: file.real_name,
            alt: "",
            bytes: file.bytes,
        };
        match media::add(tx, self.root, &new, self.context.now) {
            Ok(id) => Ok(Ok(id)),
            Err(media::AddError::Refused(why)) => Ok(Err(why.to_string())),
            Err(media::AddError::Db(error)) => Err(error.into()),
            Err(media::AddError::Io(error)) => Err(Fault::from(error).into()),
        }
    }

    fn element_file(&self, stored_name: &str) -> Result<Option<Vec<u8>>, Stop> {
        let path = format!("files/{stored_name}");
        let Some(path) = Tree::new(self.root).inside("files", &path).map_err(Fault::from)? else {
            return Ok(None);
        };
        Ok(Some(wire::files::read_regular(&path, LARGEST).map_err(Fault::from)?))
    }
}

fn entry(context: &RequestContext, user: i64, tool: &str) -> journal::Entry {
    let origin = &context.request.origin;
    let mut entry = journal::Entry::new(context.now, user, &context.request.command);
    entry.tool = tool.to_owned();
    entry.application = quoted(&origin.application, 100);
    entry.topic = quoted(&origin.topic, 100);
    entry.event = origin.event;
    entry.key.clone_from(&context.request.key);
    entry
}

/// Carries out a call that writes, unless it was carried out before under the same key.
fn once(
    tx: &mut Tx,
    context: &RequestContext,
    caller: &Caller,
    params: Params,
    work: impl FnOnce(&mut Tx, Params) -> Result<Value, Stop>,
) -> Result<Value, Stop> {
    let request = &context.request;
    // Without a key a repeat of a call whose answer was lost would be done twice. It is one key in all its
    // spellings: capitals, braces, `urn:uuid:`.
    let key = request.key.as_ref().and_then(|key| uuid::Uuid::try_parse(key).ok());
    let key = key.map(|key| key.hyphenated().to_string());
    let Some(key) = key else {
        return Err(catalogue::bad_request("a call that writes needs a UUID in `key`").into());
    };
    let params_hash = params_hash(request, &params);
    if let Some(kept) = idempotency::find(tx, &key, caller.id)? {
        if kept.command != request.command || kept.params_hash != params_hash {
            return Err(catalogue::bad_request("`key` was used for another call").into());
        }
        return Ok(serde_json::from_str(&kept.answer_json)?);
    }
    let answer = work(tx, params)?;
    let kept = idempotency::StoredAnswer {
        command: request.command.clone(),
        params_hash,
        answer_json: serde_json::to_string(&answer)?,
    };
    idempotency::keep(tx, &key, caller.id, &kept, context.now)?;
    Ok(answer)
}

fn params_hash(request: &Request, params: &Params) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(request.tool.as_deref().unwrap_or_default().as_bytes());
    hasher.update(&[0]);
    hasher.update(&wire::canonical::bytes(params.clone().into()));
    hasher.finalize().as_bytes().to_vec()
}
