//! Bank transfer: the money comes by itself, and staff writes down that it came.

use db::Db;
use db::payments::{Outcome, Refund};
use serde_json::Value as Json;

use super::{Call, Notice, Provider, ProviderError, Started};

/// Days to pay in, where the settings name none as `days`.
const DAYS: i64 = 14;

/// Bank transfer.
pub(super) struct Transfer;

impl Provider for Transfer {
    fn key(&self) -> &'static str {
        "transfer"
    }

    fn minutes_to_pay(&self, settings: &Json) -> Option<i64> {
        Some(settings.get("days").and_then(Json::as_i64).unwrap_or(DAYS).clamp(1, 365) * 24 * 60)
    }

    fn is_online(&self) -> bool {
        false
    }

    fn is_cash(&self) -> bool {
        false
    }

    fn start(&self, _: &Call<'_>) -> Result<Started, ProviderError> {
        Ok(Started::Waiting)
    }

    fn capture(&self, call: &Call<'_>) -> Result<Outcome, ProviderError> {
        Ok(Outcome { state: "kPaid".to_owned(), captured: call.payment.amount, ..Outcome::default() })
    }

    fn void(&self, _: &Call<'_>) -> Result<Outcome, ProviderError> {
        Ok(Outcome { state: "kVoid".to_owned(), ..Outcome::default() })
    }

    fn refund(&self, _: &Call<'_>, _: &Refund) -> Result<Option<String>, ProviderError> {
        // Staff sends it from the bank; the row says that it is to be sent.
        Ok(None)
    }

    fn status(&self, _: &Call<'_>) -> Result<Option<Outcome>, ProviderError> {
        Ok(None)
    }

    fn webhook(&self, _: &Db, _: &str, _: &[u8]) -> Result<Notice, ProviderError> {
        Err(ProviderError::Refused("banks send no messages here".to_owned()))
    }
}
