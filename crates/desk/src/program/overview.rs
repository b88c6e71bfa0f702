//! What waits for the person: asked anew for each look at the console.

use std::time::Duration;

use wire::{ProgramHome, Request};

use super::{Program, ends_ticket};
use crate::background::licence_tokens;
use crate::engine::{NoAnswer, Trouble, request};
use crate::messages::Message;

/// How long a page waits for it.
const PATIENCE: Duration = Duration::from_secs(3);

/// Why it is not known.
enum No {
    /// Nobody is signed in yet.
    NotSigned,
    /// The engine's answer did not come.
    Engine(NoAnswer),
}

impl Program {
    /// What waits for the person in the open store, or why that is not known.
    pub(crate) async fn overview(&self) -> Result<ProgramHome, Message> {
        let answer = tokio::time::timeout(PATIENCE, self.ask_home()).await;
        answer.unwrap_or(Err(No::Engine(Trouble::TimeOut.into()))).map_err(|no| match no {
            No::NotSigned => Message::new("waits.not_signed", &[]),
            No::Engine(no) => no.into(),
        })
    }

    async fn ask_home(&self) -> Result<ProgramHome, No> {
        match self.ask_home_once().await {
            // A ticket lasts a day; the pair outlives it.
            Err(No::Engine(NoAnswer::Refused(refusal)))
                if ends_ticket(refusal.name()) || self.became_licensed(refusal.name()) =>
            {
                self.resume().await;
                self.ask_home_once().await
            }
            answer => answer,
        }
    }

    /// Whether the store wants a licence of which nothing was known at the sign-in.
    fn became_licensed(&self, refusal: &str) -> bool {
        let licensed = self.store().and_then(|open| open.signed).map(|signed| signed.answer.licensed);
        refusal == "licence_error" && licensed == Some(false)
    }

    async fn ask_home_once(&self) -> Result<ProgramHome, No> {
        let open = self.store().ok_or(No::NotSigned)?;
        let (Some(url), Some(pair), Some(signed)) = (open.url(), &open.pair, &open.signed) else {
            return Err(No::NotSigned);
        };
        let mut ask = Request {
            session: Some(signed.answer.ticket.clone()),
            licence: licence_tokens::of_today(&open.folder, &pair.login),
            ..request(Request::PROGRAM_HOME)
        };
        self.engine.ask_patiently(url, &mut ask).await.map_err(No::Engine)
    }
}
