//! A request in flight, and what is said when its caller goes away.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;
use wire::Request;

use crate::app_state::AppState;

/// A request that is read or worked on. Dropped while it is worked on, it says so in the log and the counts.
pub(crate) struct InFlight {
    state: Arc<AppState>,
    client: IpAddr,
    began: Instant,
    /// The command, while it is worked on.
    command: Option<&'static str>,
    _share: OwnedSemaphorePermit,
}

/// A place among the requests that are worked on.
pub(crate) struct AtWork {
    /// `None` for one that signs in.
    share: Option<OwnedSemaphorePermit>,
}

impl AtWork {
    /// Whether somebody signs in.
    pub(crate) fn is_sign_in(&self) -> bool {
        self.share.is_none()
    }
}

impl InFlight {
    /// Waits until this address may have one more request in flight; `None` if that takes too long.
    pub(crate) async fn enter(state: &Arc<AppState>, client: IpAddr) -> Option<Self> {
        let share = state.requests.in_flight(client).await?;
        let state = Arc::clone(state);
        Some(Self { state, client, began: Instant::now(), command: None, _share: share })
    }

    /// Whose request it is.
    pub(crate) fn client(&self) -> IpAddr {
        self.client
    }

    /// Waits until it may be worked on; `None` if that takes too long. Signing in has a queue of its own, and waits long.
    pub(crate) async fn work(&mut self, command: &'static str, request: &Request) -> Option<AtWork> {
        let is_sign_in = [Request::SIGN_IN, Request::PROGRAM_SIGN_IN].contains(&request.command.as_str());
        let share = if is_sign_in { None } else { Some(self.state.requests.at_work(self.client).await?) };
        self.command = Some(command);
        Some(AtWork { share })
    }

    /// Its answer is made.
    pub(crate) fn has_worked(&mut self) {
        self.command = None;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let Some(command) = self.command else { return };
        let took = self.began.elapsed();
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(
            command,
            duration_ms,
            "The caller went away before the answer; what was begun goes on"
        );
        self.state.metrics.count(command, "cancelled", took);
    }
}
