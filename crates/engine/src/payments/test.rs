//! The provider for trying: a page of its own where one pays, fails or walks away, and signed messages like a real
//! provider's. Its bank's book is kept apart from the store's payments, as another company's would be.
//!
//! Settings of the way to pay: `minutes` to pay in; `silent`, under which the start of a payment gets no answer; `site`,
//! another address of this store, like `https://pay.example.com`, under which the bank's page is shown; `refunds`,
//! which `lost` makes while their answers are lost, and `refused` does not.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use db::payments::{self as rows, Outcome, Payment};
use db::refunds::Refund;
use db::{Db, Tx, secrets};
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use sha2::Sha256;

use super::{Call, Given, Notice, Provider, ProviderError, Started};
use crate::gate::tickets::new_ticket;

/// Minutes to pay in, where the settings name none.
const MINUTES: i64 = 60;
/// The bank's book, apart from the messages that reached the store.
const BOOK: &str = "test-bank";
/// The secret that signs messages; made when the first is written.
const SECRET: &str = "test_payments";

/// The provider for trying.
pub(super) struct Test;

/// What somebody did on the bank's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Paid.
    Paid,
    /// The bank said no.
    Failed,
    /// Walked away.
    Cancelled,
}

impl Decision {
    /// Reads what the form says.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "paid" => Some(Self::Paid),
            "failed" => Some(Self::Failed),
            "cancelled" => Some(Self::Cancelled),
            _ => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    fn outcome(self, amount: i64) -> Outcome {
        let (state, captured) = match self {
            Self::Paid => ("kPaid", amount),
            Self::Failed => ("kFailed", 0),
            Self::Cancelled => ("kVoid", 0),
        };
        Outcome { state: state.to_owned(), captured, ..Outcome::default() }
    }
}

/// The bank's book: the first decision on a payment is the last.
pub(crate) fn decide(
    tx: &mut Tx,
    payment: &Payment,
    decision: Decision,
    now: Timestamp,
) -> Result<Decision, db::DbError> {
    rows::event(tx, BOOK, &payment.key, Some(payment.id), decision.as_str(), &json!({}), now)?;
    let written = rows::told(tx, BOOK, &payment.key)?;
    Ok(written.as_deref().and_then(Decision::parse).unwrap_or(decision))
}

/// The message about a decision, and its signature.
pub(crate) fn message(
    db: &Db,
    payment: &Payment,
    decision: Decision,
) -> Result<(Vec<u8>, String), ProviderError> {
    let number = payment.provider_ref.clone().unwrap_or_default();
    let body = json!({
        "id": format!("{number}:{}", decision.as_str()),
        "payment": number,
        "kind": decision.as_str(),
        "amount": payment.amount,
        "currency": payment.currency,
    });
    let body = body.to_string().into_bytes();
    let signature = signature(&secret(db)?, &body);
    Ok((body, signature))
}

fn secret(db: &Db) -> Result<String, ProviderError> {
    let broken = |_| ProviderError::NoAnswer("the bank's secret cannot be read".to_owned());
    if let Some(secret) = db.read(|tx| secrets::get(tx, SECRET)).map_err(broken)? {
        return Ok(secret);
    }
    let (fresh, _) = new_ticket().map_err(|_| ProviderError::NoAnswer("no random numbers".to_owned()))?;
    db.write(|tx| secrets::get_or_set(tx, SECRET, &fresh)).map_err(broken)
}

fn mac(secret: &str, data: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(data);
    Some(mac)
}

fn signature(secret: &str, data: &[u8]) -> String {
    mac(secret, data).map(|mac| URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())).unwrap_or_default()
}

/// Whether a signature is good; compared in a time that does not tell where it differs.
fn is_signed(secret: &str, data: &[u8], signature: &str) -> bool {
    let Ok(given) = URL_SAFE_NO_PAD.decode(signature.trim()) else { return false };
    mac(secret, data).is_some_and(|mac| mac.verify_slice(&given).is_ok())
}

impl Provider for Test {
    fn key(&self) -> &'static str {
        "test"
    }

    fn minutes_to_pay(&self, settings: &Json) -> Option<i64> {
        Some(settings.get("minutes").and_then(Json::as_i64).unwrap_or(MINUTES))
    }

    fn is_online(&self) -> bool {
        true
    }

    fn is_cash(&self) -> bool {
        false
    }

    fn site(&self, settings: &Json) -> Option<String> {
        settings.get("site").and_then(Json::as_str).map(str::to_owned)
    }

    fn start(&self, call: &Call<'_>) -> Result<Started, ProviderError> {
        if call.settings.get("silent") == Some(&Json::Bool(true)) {
            return Err(ProviderError::NoAnswer("the bank does not answer".to_owned()));
        }
        // One key, one payment of the bank: its number follows from the key.
        let number = signature(&secret(call.db)?, call.payment.key.as_bytes());
        let site =
            self.site(&call.settings).and_then(|site| super::provider::site_of(&site)).unwrap_or_default();
        Ok(Started::Redirect { url: format!("{site}/core/pay/test/page/{number}"), provider_ref: number })
    }

    fn capture(&self, call: &Call<'_>) -> Result<Outcome, ProviderError> {
        self.status(call)?.ok_or_else(|| ProviderError::Refused("nothing was authorised".to_owned()))
    }

    fn void(&self, call: &Call<'_>) -> Result<Outcome, ProviderError> {
        let decided = call
            .db
            .write(|tx| decide(tx, call.payment, Decision::Cancelled, call.now))
            .map_err(|_| ProviderError::NoAnswer("the bank's book cannot be written".to_owned()))?;
        Ok(decided.outcome(call.payment.amount))
    }

    fn refund(&self, call: &Call<'_>, refund: &Refund) -> Result<Given, ProviderError> {
        let mood = call.settings.get("refunds").and_then(Json::as_str).unwrap_or_default();
        if mood == "refused" {
            return Err(ProviderError::Refused("the bank gives nothing back".to_owned()));
        }
        let entry = format!("refund:{}", refund.key);
        let data = json!({"amount": refund.amount});
        call.db
            .write(|tx| rows::event(tx, BOOK, &entry, Some(call.payment.id), "refund", &data, call.now))
            .map_err(|_| ProviderError::NoAnswer("the bank's book cannot be written".to_owned()))?;
        if mood == "lost" {
            return Err(ProviderError::NoAnswer("the bank does not answer".to_owned()));
        }
        Ok(Given::Sent(entry))
    }

    fn status(&self, call: &Call<'_>) -> Result<Option<Outcome>, ProviderError> {
        let written = call
            .db
            .read(|tx| rows::told(tx, BOOK, &call.payment.key))
            .map_err(|_| ProviderError::NoAnswer("the bank's book cannot be read".to_owned()))?;
        let decided = written.as_deref().and_then(Decision::parse);
        Ok(match decided {
            Some(decided) => Some(decided.outcome(call.payment.amount)),
            // A start without an answer never reached the bank.
            None if call.payment.state == "kUnknown" => Some(Decision::Failed.outcome(0)),
            None => None,
        })
    }

    fn webhook(&self, db: &Db, signature: &str, body: &[u8]) -> Result<Notice, ProviderError> {
        if !is_signed(&secret(db)?, body, signature) {
            return Err(ProviderError::Refused("the signature is not the bank's".to_owned()));
        }
        let broken = || ProviderError::Refused("this is no message of the bank".to_owned());
        let data: Json = serde_json::from_slice(body).map_err(|_| broken())?;
        let text = |name: &str| data.get(name).and_then(Json::as_str).map(str::to_owned);
        let kind = text("kind").ok_or_else(broken)?;
        let decision = Decision::parse(&kind).ok_or_else(broken)?;
        let amount = data.get("amount").and_then(Json::as_i64).filter(|amount| *amount >= 0);
        Ok(Notice {
            event: text("id").ok_or_else(broken)?,
            provider_ref: text("payment").ok_or_else(broken)?,
            outcome: decision.outcome(amount.ok_or_else(broken)?),
            kind,
            data,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_fits_one_message_and_one_secret() {
        let good = signature("s", b"message");
        assert!(is_signed("s", b"message", &good));
        for (secret, data, given) in [
            ("t", &b"message"[..], good.as_str()),
            ("s", b"messagf", good.as_str()),
            ("s", b"message", ""),
            ("s", b"message", "???"),
        ] {
            assert!(!is_signed(secret, data, given));
        }
    }
}
