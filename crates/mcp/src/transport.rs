//! JSON-RPC on standard input and output: one message a line.
//!
//! This stands in front of the protocol crate, whose own transport drops some
//! broken input without an answer and ends the process over other. Invariant:
//! every request gets exactly one answer unless it is cancelled, broken input
//! gets an error with its id where it has one, and the next line is read.

use std::collections::VecDeque;
use std::future::{Future, ready};
use std::io;
use std::sync::Arc;

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

use incoming::{Incoming, Wrong};
use lines::{Line, Lines};
use outbox::Outbox;
use pending::PendingRequests;

mod id;
pub(crate) mod incoming;
mod lines;
mod outbox;
mod pending;
pub(crate) mod streams;

/// The transport of one process.
pub(crate) struct Stdio<R> {
    lines: Lines<R>,
    outbox: Outbox,
    pending: PendingRequests,
    ready: VecDeque<RxJsonRpcMessage<RoleServer>>,
    /// Whether the host speaks a version that has batches.
    batches: bool,
    ended: Arc<Notify>,
}

impl<R: AsyncRead + Send + Unpin> Stdio<R> {
    /// A transport over these streams. `ended` is notified when the input ends.
    pub(crate) fn new(source: R, sink: impl AsyncWrite + Send + Unpin + 'static, ended: Arc<Notify>) -> Self {
        Self {
            lines: Lines::new(source),
            outbox: Outbox::new(sink),
            pending: PendingRequests::default(),
            ready: VecDeque::new(),
            batches: false,
            ended,
        }
    }

    /// Takes one message in: to the protocol crate, or answered here.
    fn take(&mut self, message: Incoming, batch: Option<u64>) {
        match message {
            Incoming::Nothing => {}
            Incoming::Request { id, request } => self.request(id, *request, batch),
            Incoming::Cancel { id } => self.cancel(&id),
            Incoming::Wrong(wrong) => {
                let answer = error(&wrong.id, &ErrorData::new(wrong.code, wrong.message, None));
                match batch {
                    Some(batch) => self.pending.add(batch, answer),
                    None => self.put(Some(answer)),
                }
            }
            Incoming::Batch(messages) if self.batches => self.batch(messages),
            Incoming::Batch(_) => {
                let message =
                    "Batches belong to MCP 2025-03-26 and older: send one message a line".to_owned();
                let wrong = Wrong { id: Value::Null, code: ErrorCode::INVALID_REQUEST, message };
                self.take(Incoming::Wrong(wrong), None);
            }
        }
    }

    fn request(&mut self, id: Value, request: ClientRequest, batch: Option<u64>) {
        if let ClientRequest::InitializeRequest(initialize) = &request {
            self.batches = matches!(initialize.params.protocol_version.as_str(), "2024-11-05" | "2025-03-26");
        }
        let number = self.pending.open(id, batch);
        self.ready.push_back(ClientJsonRpcMessage::request(request, RequestId::Number(number)));
    }

    fn batch(&mut self, messages: Vec<Incoming>) {
        let batch = self.pending.open_batch();
        for message in messages {
            self.take(message, Some(batch));
        }
        let complete = self.pending.seal(batch);
        self.put(complete);
    }

    fn cancel(&mut self, id: &Value) {
        let (numbers, complete) = self.pending.cancel(id);
        for number in numbers {
            let params = CancelledNotificationParam::new(Some(RequestId::Number(number)), None);
            let cancelled = ClientNotification::CancelledNotification(CancelledNotification::new(params));
            self.ready.push_back(ClientJsonRpcMessage::notification(cancelled));
        }
        complete.into_iter().for_each(|bytes| self.put(Some(bytes)));
    }

    /// Sends what there is to send. A host that takes no output is noticed by `receive`.
    fn put(&self, bytes: Option<Vec<u8>>) {
        if let Some(bytes) = bytes {
            let _ = self.outbox.put(bytes);
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Stdio<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let bytes = match item {
            JsonRpcMessage::Response(response) => number(&response.id)
                .and_then(|n| self.pending.close(n, |id| answer(id, "result", &response.result))),
            JsonRpcMessage::Error(wrong) => {
                let number = wrong.id.as_ref().and_then(number);
                number.and_then(|n| self.pending.close(n, |id| error(id, &wrong.error)))
            }
            other => serde_json::to_vec(&other).ok(),
        };
        // A cancelled request has no place any more, and its answer is not sent.
        ready(bytes.map_or(Ok(()), |bytes| self.outbox.put(bytes)))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let line = tokio::select! {
                biased;
                () = self.outbox.broken() => Ok(None),
                line = async {
                    if self.outbox.ready().await { self.lines.next().await } else { Ok(None) }
                } => line,
            };
            let message = match line {
                Ok(Some(Line::Whole(line))) => incoming::read(line),
                Ok(Some(Line::TooLong { head, tail })) => incoming::too_long(head, tail),
                Ok(None) => {
                    self.ended.notify_one();
                    return None;
                }
                Err(error) => {
                    tracing::info!(%error, "The input broke");
                    self.ended.notify_one();
                    return None;
                }
            };
            self.take(message, None);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.outbox.close().await;
        Ok(())
    }
}

fn number(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Number(number) => Some(*number),
        RequestId::String(_) => None,
    }
}

/// One answer under the host's own id.
fn answer(id: &Value, member: &str, body: &impl Serialize) -> Vec<u8> {
    let mut bytes = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":").into_bytes();
    if let Err(failure) = serde_json::to_writer(&mut bytes, body) {
        tracing::error!(%failure, "An answer has no JSON form");
        return error(id, &ErrorData::internal_error("The answer has no JSON form", None));
    }
    bytes.push(b'}');
    bytes
}

fn error(id: &Value, error: &ErrorData) -> Vec<u8> {
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string().into_bytes()
}
