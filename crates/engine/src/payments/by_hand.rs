//! Ways to pay that send no messages: bank transfer and cash on delivery. People write down that money came, and send
//! back themselves what goes back.

use db::Db;
use db::payments::Outcome;
use db::refunds::Refund;
use serde_json::Value as Json;

use super::{Call, Given, Notice, Provider, ProviderError, Started};

/// Days to pay a transfer in, where the settings name none as `days`.
const DAYS: i64 = 14;

/// A way to pay by hand.
pub(super) enum ByHand {
    /// Bank transfer: paid before the goods leave.
    Transfer,
    /// Cash on delivery: paid when the goods are handed over.
    Cash,
}

impl Provider for ByHand {
    fn key(&self) -> &'static str {
        match self {
            Self::Transfer => "transfer",
            Self::Cash => "cash",
        }
    }

    fn minutes_to_pay(&self, settings: &Json) -> Option<i64> {
        let days = || settings.get("days").and_then(Json::as_i64).unwrap_or(DAYS).clamp(1, 365);
        match self {
            Self::Transfer => Some(days() * 24 * 60),
            Self::Cash => None,
        }
    }

    fn is_online(&self) -> bool {
        false
    }

    fn is_cash(&self) -> bool {
        matches!(self, Self::Cash)
    }

    fn start(&self, _: &Call<'_>) -> Result<Started, ProviderError> {
        Ok(Started::Waiting)
    }

    fn capture(&self, _: &Call<'_>) -> Result<Outcome, ProviderError> {
        Err(ProviderError::Refused("nothing is authorised before it comes".to_owned()))
    }

    fn void(&self, _: &Call<'_>) -> Result<Outcome, ProviderError> {
        Ok(Outcome { state: "kVoid".to_owned(), ..Outcome::default() })
    }

    fn refund(&self, _: &Call<'_>, _: &Refund) -> Result<Given, ProviderError> {
        Ok(Given::ByPeople)
    }

    fn status(&self, _: &Call<'_>) -> Result<Option<Outcome>, ProviderError> {
        Ok(None)
    }

    fn webhook(&self, _: &Db, _: &str, _: &[u8]) -> Result<Notice, ProviderError> {
        Err(ProviderError::Refused("nobody sends messages of this way to pay".to_owned()))
    }
}
