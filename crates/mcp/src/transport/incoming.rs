//! One message from the host: what it asks, or what is wrong with it.
//!
//! Only what this server serves is let through, in the form the protocol crate
//! wants; everything else is answered here, each with its id where it has one.

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientRequest, DiscoverRequest,
    DiscoverRequestParams, ErrorCode, Extensions, Implementation, InitializeRequest, InitializeRequestParams,
    ListToolsRequest, MetaObject, PaginatedRequestParams, PingRequest, ProtocolVersion, RequestMetaObject,
};
use serde_json::{Map, Value};
use wire::text::quoted;

use super::id;

/// Most messages in one batch.
const MOST_IN_BATCH: usize = 1000;

/// What a message turned out to be.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// Nothing that wants an answer: a blank line, a notification, an answer to nothing.
    Nothing,
    /// A request this server serves.
    Request {
        /// Its id, as it came.
        id: Value,
        /// The request.
        request: Box<ClientRequest>,
    },
    /// The host does not wait for that request any more.
    Cancel {
        /// The request's id.
        id: Value,
    },
    /// An error to answer with.
    Wrong(Wrong),
    /// Several messages in one.
    Batch(Vec<Incoming>),
}

/// An error of the protocol.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The request's id, or null where there is none.
    pub(crate) id: Value,
    /// JSON-RPC's code.
    pub(crate) code: ErrorCode,
    /// What is wrong, in a sentence.
    pub(crate) message: String,
}

/// Arguments of a tool call that are no object; the tool's gate refuses them in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OddArguments(pub(crate) String);

/// Reads one line.
pub(crate) fn read(line: &[u8]) -> Incoming {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Incoming::Nothing;
    }
    match serde_json::from_slice(line) {
        Ok(Value::Array(messages)) => batch(messages),
        Ok(message) => one(message),
        Err(error) => {
            let id = id::of_broken(line).unwrap_or(Value::Null);
            wrong(id, ErrorCode::PARSE_ERROR, format!("Parse error: {}", quoted(&error.to_string(), 200)))
        }
    }
}

/// A line over the limit.
pub(crate) fn too_long(head: &[u8], tail: &[u8]) -> Incoming {
    let id = id::of_ends(head, tail).unwrap_or(Value::Null);
    let most = super::lines::LONGEST / (1024 * 1024);
    wrong(id, ErrorCode::INVALID_REQUEST, format!("The message is longer than {most} MiB and was dropped"))
}

fn batch(messages: Vec<Value>) -> Incoming {
    match messages.len() {
        0 => wrong(Value::Null, ErrorCode::INVALID_REQUEST, "An empty batch"),
        count if count > MOST_IN_BATCH => wrong(
            Value::Null,
            ErrorCode::INVALID_REQUEST,
            format!("A batch of {count} messages: at most {MOST_IN_BATCH} are taken"),
        ),
        _ => Incoming::Batch(messages.into_iter().map(one).collect()),
    }
}

fn wrong(id: Value, code: ErrorCode, message: impl Into<String>) -> Incoming {
    Incoming::Wrong(Wrong { id, code, message: message.into() })
}

fn one(message: Value) -> Incoming {
    let invalid = |id: Value, message: &str| wrong(id, ErrorCode::INVALID_REQUEST, message);
    let Value::Object(mut message) = message else {
        return invalid(Value::Null, "A message must be an object");
    };
    let answers = message.contains_key("result") || message.contains_key("error");
    let id = message.remove("id");
    let echo = id.clone().filter(id::is_told_back).unwrap_or(Value::Null);
    let method = match message.remove("method") {
        // This server asks the host nothing, so an answer belongs to nothing.
        None if answers => return Incoming::Nothing,
        None => return invalid(echo, "`method` is missing"),
        Some(Value::String(method)) if !answers => method,
        Some(Value::String(_)) => return invalid(echo, "A message is either a request or an answer"),
        Some(_) => return invalid(echo, "`method` must be a string"),
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(echo, "`jsonrpc` must be \"2.0\"");
    }
    let params = message.remove("params");
    match id {
        None => notification(&method, params),
        Some(id) if id::is_id(&id) => match request(&method, params) {
            Ok(request) => Incoming::Request { id, request: Box::new(request) },
            Err((code, message)) => wrong(id, code, message),
        },
        Some(_) => invalid(echo, "`id` must be a string or a whole number"),
    }
}

fn notification(method: &str, params: Option<Value>) -> Incoming {
    let id = params
        .filter(|_| method == "notifications/cancelled")
        .and_then(|mut params| params.get_mut("requestId").map(Value::take).filter(id::is_id));
    id.map_or(Incoming::Nothing, |id| Incoming::Cancel { id })
}

type Outcome<T> = Result<T, (ErrorCode, String)>;

fn bad_params(message: impl Into<String>) -> (ErrorCode, String) {
    (ErrorCode::INVALID_PARAMS, message.into())
}

fn request(method: &str, params: Option<Value>) -> Outcome<ClientRequest> {
    if !matches!(method, "initialize" | "ping" | "server/discover" | "tools/list" | "tools/call") {
        return Err((ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {}", quoted(method, 80))));
    }
    let mut params = match params {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(bad_params("`params` must be an object")),
    };
    let mut extensions = Extensions::new();
    match params.remove("_meta") {
        None | Some(Value::Null) => {}
        Some(Value::Object(meta)) => {
            extensions.insert(RequestMetaObject(MetaObject(meta)));
        }
        Some(_) => return Err(bad_params("`_meta` must be an object")),
    }
    Ok(match method {
        "initialize" => {
            ClientRequest::InitializeRequest(with(InitializeRequest::new(initialize(params)?), extensions))
        }
        "ping" => ClientRequest::PingRequest(PingRequest { method: Default::default(), extensions }),
        "server/discover" => {
            ClientRequest::DiscoverRequest(with(DiscoverRequest::new(DiscoverRequestParams {}), extensions))
        }
        "tools/list" => {
            let mut request = ListToolsRequest::with_param(page(params)?);
            request.extensions = extensions;
            ClientRequest::ListToolsRequest(request)
        }
        _ => {
            let params = call(params, &mut extensions)?;
            ClientRequest::CallToolRequest(with(CallToolRequest::new(params), extensions))
        }
    })
}

fn with<M, P>(mut request: rmcp::model::Request<M, P>, extensions: Extensions) -> rmcp::model::Request<M, P> {
    request.extensions = extensions;
    request
}

/// What can be understood is accepted: some hosts leave out what the schema asks for.
fn initialize(mut params: Map<String, Value>) -> Outcome<InitializeRequestParams> {
    let version = match params.remove("protocolVersion") {
        Some(version @ Value::String(_)) => version,
        None => return Err(bad_params("`protocolVersion` is missing")),
        Some(_) => return Err(bad_params("`protocolVersion` must be a string")),
    };
    let version: ProtocolVersion =
        serde_json::from_value(version).map_err(|error| bad_params(error.to_string()))?;
    let capabilities = match params.remove("capabilities") {
        None | Some(Value::Null) => ClientCapabilities::default(),
        // A capability of an unknown form is one this server does not use.
        Some(known @ Value::Object(_)) => serde_json::from_value(known).unwrap_or_default(),
        Some(_) => return Err(bad_params("`capabilities` must be an object")),
    };
    let client = match params.remove("clientInfo") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(client)) => client,
        Some(_) => return Err(bad_params("`clientInfo` must be an object")),
    };
    let text = |key: &str| client.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let client = Implementation::new(text("name"), text("version"));
    Ok(InitializeRequestParams::new(capabilities, client).with_protocol_version(version))
}

fn page(mut params: Map<String, Value>) -> Outcome<PaginatedRequestParams> {
    let cursor = match params.remove("cursor") {
        None | Some(Value::Null) => None,
        Some(Value::String(cursor)) => Some(cursor),
        Some(_) => return Err(bad_params("`cursor` must be a string")),
    };
    Ok(PaginatedRequestParams::default().with_cursor(cursor))
}

fn call(mut params: Map<String, Value>, extensions: &mut Extensions) -> Outcome<CallToolRequestParams> {
    let name = match params.remove("name") {
        Some(Value::String(name)) => name,
        None => return Err(bad_params("`name` is missing: the tool to call")),
        Some(_) => return Err(bad_params("`name` must be a string")),
    };
    let arguments = match params.remove("arguments").map(unwrapped) {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(odd) => {
            extensions.insert(OddArguments(in_words(&odd)));
            Map::new()
        }
    };
    Ok(CallToolRequestParams::new(name).with_arguments(arguments))
}

/// Some hosts send the arguments as the JSON of an object in a string.
fn unwrapped(arguments: Value) -> Value {
    match &arguments {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ Value::Object(_)) => inner,
            _ => arguments,
        },
        _ => arguments,
    }
}

fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text `{}`", quoted(text, 60)),
        Value::Array(items) => format!("a list of {}", items.len()),
        other => quoted(&other.to_string(), 60),
    }
}

#[cfg(test)]
mod tests;
