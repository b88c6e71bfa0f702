//! What a provider of payments is, and what is said between it and the shop.

use db::Db;
use db::payments::{Outcome, Payment};
use db::refunds::Refund;
use jiff::Timestamp;
use serde_json::Value as Json;

/// Longest name of a site.
const LONGEST_SITE: usize = 200;

/// Why a provider did nothing that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProviderError {
    /// It said no.
    Refused(String),
    /// It gave no answer, so nobody knows: it is asked again.
    NoAnswer(String),
}

/// How a payment begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    /// The shopper does nothing here: the money comes by itself.
    Waiting,
    /// The shopper goes on at this address, where the provider knows the payment by this number.
    Redirect {
        /// The address.
        url: String,
        /// The provider's number.
        provider_ref: String,
    },
}

/// What became of a refund.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// The provider sent it, under this number of its own.
    Sent(String),
    /// The provider moves no money: people of the store send it.
    ByPeople,
}

/// What a provider is told with every call.
pub(crate) struct Call<'a> {
    /// The store's database, for providers that live in it.
    pub(crate) db: &'a Db,
    /// Settings of the way to pay.
    pub(crate) settings: Json,
    /// The payment.
    pub(crate) payment: &'a Payment,
    /// The moment.
    pub(crate) now: Timestamp,
}

/// What carries payments out. Calls may wait; none is made within a transaction.
pub(crate) trait Provider: Sync {
    /// Its name in `payment_methods.provider` and in addresses.
    fn key(&self) -> &'static str;

    /// Minutes in which an order must be paid before it counts; `None` where it counts at once.
    fn minutes_to_pay(&self, settings: &Json) -> Option<i64>;

    /// Whether the shopper pays here and now.
    fn is_online(&self) -> bool;

    /// Whether it is paid in coins.
    fn is_cash(&self) -> bool;

    /// Where shoppers pay, if that is another site: `https://pay.example.com`. Pages that lead there may send their
    /// forms on to it, and to nobody else.
    fn site(&self, _settings: &Json) -> Option<String> {
        None
    }

    /// Begins a payment; a key that was begun already begins nothing more.
    fn start(&self, call: &Call<'_>) -> Result<Started, ProviderError>;

    /// Takes what was authorised.
    fn capture(&self, call: &Call<'_>) -> Result<Outcome, ProviderError>;

    /// Lets go of what was authorised or begun.
    fn void(&self, call: &Call<'_>) -> Result<Outcome, ProviderError>;

    /// Gives money back, once for each key.
    fn refund(&self, call: &Call<'_>, refund: &Refund) -> Result<Given, ProviderError>;

    /// What became of a payment; `None` where it is still open.
    fn status(&self, call: &Call<'_>) -> Result<Option<Outcome>, ProviderError>;

    /// Reads a message of the provider; nothing of it counts before its signature is found good.
    fn webhook(&self, db: &Db, signature: &str, body: &[u8]) -> Result<Notice, ProviderError>;
}

/// What a provider told, its signature found good.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Notice {
    /// The provider's number of the message.
    pub(crate) event: String,
    /// The provider's number of the payment.
    pub(crate) provider_ref: String,
    /// What happened.
    pub(crate) kind: String,
    /// What it means for the payment.
    pub(crate) outcome: Outcome,
    /// The message.
    pub(crate) data: Json,
}

/// The site of an address, as a policy names it: scheme, host and port, by TLS. What is none is left out, so that
/// nothing that somebody wrote into settings widens the policy.
pub(crate) fn site_of(address: &str) -> Option<String> {
    let (scheme, rest) = address.trim().split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | ':');
    let is_host = host.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    let is_site = scheme.eq_ignore_ascii_case("https")
        && is_host
        && host.len() <= LONGEST_SITE
        && host.chars().all(is_plain);
    is_site.then(|| format!("https://{host}"))
}

#[cfg(test)]
mod tests {
    use super::site_of;

    #[test]
    fn a_site_is_a_host_behind_tls_and_nothing_else() {
        assert_eq!(
            site_of(" https://Pay.Example.com/checkout?x=1").as_deref(),
            Some("https://pay.example.com")
        );
        assert_eq!(site_of("https://pay.example.com:8443").as_deref(), Some("https://pay.example.com:8443"));
        for bad in [
            "",
            "https:",
            "https://*",
            "https://*.example.com",
            "http://pay.example.com",
            "javascript://x",
            "https://a b",
            "https://a; script-src *",
            "https://a'b",
            "https://user@host",
        ] {
            assert_eq!(site_of(bad), None, "{bad}");
        }
    }
}
