//! The connection on which a node hears the others.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::error;
use crate::DbError;
use crate::signal::{Listeners, Signal};

/// Pause before a broken line is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// The server's channel: one for each schema, which is one for each store.
pub(super) const NOTIFY: &str = "select pg_notify('shopwright_' || current_schema(), :signal)";

/// The channel of changed rows.
pub(super) const CHANGES: &str = "changes";

/// What goes over the server's channel.
pub(super) fn packed(channel: &str, payload: &str) -> String {
    json!([channel, payload]).to_string()
}

fn unpacked(text: &str) -> Option<Signal> {
    let [channel, payload] = serde_json::from_str::<[String; 2]>(text).ok()?;
    Some(Signal::Said { channel, payload })
}

/// Connects; signals committed from now on are heard. The second part goes on hearing until it is dropped.
pub(super) async fn start(
    config: Config,
    tls: MakeRustlsConnect,
    listeners: Arc<Listeners>,
) -> Result<impl Future<Output = ()> + Send + 'static, DbError> {
    let mut line = Line::connect(&config, &tls, &listeners).await?;
    listeners.set_hears(true);
    Ok(async move {
        loop {
            line.broken().await;
            listeners.set_hears(false);
            listeners.tell(&Signal::Missed);
            line = loop {
                tokio::time::sleep(PAUSE).await;
                match Line::connect(&config, &tls, &listeners).await {
                    Ok(line) => break line,
                    Err(cause) => {
                        tracing::warn!(%cause, "The database's signals cannot be heard; trying again")
                    }
                }
            };
            // What was said while nobody listened is lost.
            listeners.tell(&Signal::Missed);
            listeners.set_hears(true);
        }
    })
}

struct Line {
    hearing: JoinHandle<()>,
    /// Dropping it would close the line.
    _client: Client,
}

impl Line {
    async fn connect(
        config: &Config,
        tls: &MakeRustlsConnect,
        listeners: &Arc<Listeners>,
    ) -> Result<Self, DbError> {
        let (client, connection) = config.connect(tls.clone()).await.map_err(error)?;
        let hearing = tokio::spawn(hear(connection, Arc::clone(listeners)));
        let row = client.query_one("select quote_ident('shopwright_' || current_schema())", &[]).await;
        let channel: String = row.and_then(|row| row.try_get(0)).map_err(error)?;
        client.batch_execute(&format!("listen {channel}")).await.map_err(error)?;
        Ok(Self { hearing, _client: client })
    }

    async fn broken(&mut self) {
        // A panic while hearing is a broken line too.
        let _ = (&mut self.hearing).await;
    }
}

async fn hear<T: AsyncRead + AsyncWrite + Unpin>(
    mut connection: Connection<Socket, T>,
    listeners: Arc<Listeners>,
) {
    while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
        if let AsyncMessage::Notification(said) = message {
            match unpacked(said.payload()) {
                // Far more often than the others, and heard only by those who wait for any change.
                Some(Signal::Said { channel, .. }) if channel == CHANGES => listeners.ring(),
                Some(signal) => listeners.tell(&signal),
                None => tracing::warn!("A signal of another form on the store's channel"),
            }
        }
    }
}
