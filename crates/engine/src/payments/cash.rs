//! Cash on delivery: paid when the goods are handed over.

use db::Db;
use db::payments::{Outcome, Refund};
use serde_json::Value as Json;

use super::{Call, Notice, Provider, ProviderError, Started};

/// Cash on delivery.
pub(super) struct Cash;

impl Provider for Cash {
    fn key(&self) -> &'static str {
        "cash"
    }

    fn minutes_to_pay(&self, _: &Json) -> Option<i64> {
        None
    }

    fn is_online(&self) -> bool {
        false
    }

    fn is_cash(&self) -> bool {
        true
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
        Ok(None)
    }

    fn status(&self, _: &Call<'_>) -> Result<Option<Outcome>, ProviderError> {
        Ok(None)
    }

    fn webhook(&self, _: &Db, _: &str, _: &[u8]) -> Result<Notice, ProviderError> {
        Err(ProviderError::Refused("nobody sends messages of cash".to_owned()))
    }
}
