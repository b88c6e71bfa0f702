//! Tests of the words for what comes back.

use proptest::prelude::*;
use serde_json::json;
use wire::{Envelope, catalogue};

use super::{AnswerHead, Attempt, CallKind, data, read};

const READS: Attempt = Attempt { kind: CallKind::Reads, sent: false };
const WRITES: Attempt = Attempt { kind: CallKind::Writes, sent: false };
const URL: &str = "http://127.0.0.1:1/core/mcp.php";

fn head(status: u16, kind: &str) -> AnswerHead {
    AnswerHead { status, kind: kind.to_owned(), wait: None }
}

fn said(status: u16, kind: &str, body: &str) -> String {
    match read(URL, &head(status, kind), body.as_bytes(), READS) {
        Ok(envelope) => match data(envelope) {
            Ok(data) => format!("data {data}"),
            Err(refusal) => refusal.text(),
        },
        Err(trouble) => trouble.refusal.text(),
    }
}

#[test]
fn what_comes_instead_of_an_envelope_is_put_into_words() {
    let json = "application/json";
    for (status, kind, body, beginning) in [
        (
            200,
            "text/html; charset=utf-8",
            "<!DOCTYPE html><html>",
            "This store has no endpoint for the agent: core/mcp.php is missing",
        ),
        (
            404,
            "text/html",
            "<h1>Not found</h1>",
            "This store has no endpoint for the agent: core/mcp.php is missing",
        ),
        (
            403,
            "text/plain",
            "  <HTML><body>checking your browser",
            "This store has no endpoint for the agent: core/mcp.php is missing",
        ),
        (
            413,
            "text/html",
            "<html>too large</html>",
            "The server of the store refused the request as too large (HTTP 413)",
        ),
        (
            200,
            json,
            "{\"ok\":true,\"ms\":1,\"data\":{\"x\":",
            "The store answered with something that is not json",
        ),
        (
            200,
            "",
            "{\"ok\":true,\"ms\":1,\"data\":{\"x\":",
            "The store answered with something that is not json",
        ),
        (200, json, "PHP Fatal error: boom", "The store answered with something that is not json"),
        (200, "text/plain", "hello", "Unexpected answer: hello (HTTP 200)."),
        (500, "text/plain", "", "Unexpected answer: an empty answer (HTTP 500)."),
        (200, json, "", "Unexpected answer: an empty answer (HTTP 200)."),
        (200, json, "[1,2]", "Unexpected answer: [1,2] (HTTP 200)."),
        (200, json, "{\"ok\":\"yes\"}", "Unexpected answer: an envelope whose fields are of the wrong kind."),
        (502, "text/html", "<html>bad gateway</html>", "The store is not available right now (HTTP 502)."),
        (429, "", "", "The store is not available right now (HTTP 429)."),
    ] {
        let said = said(status, kind, body);
        assert!(said.starts_with(beginning), "{status} {kind} {body}: {said}");
    }
}

#[test]
fn a_proxy_that_asks_to_wait_is_quoted() {
    let head = AnswerHead { wait: Some(30), ..head(503, "") };
    let trouble = read(URL, &head, b"", WRITES).unwrap_err();
    assert!(trouble.refusal.text().contains("It asks to wait 30 seconds."));
    assert!(trouble.refusal.text().contains("It may have been carried out."));
    assert_eq!(trouble.again.map(|pause| pause.as_secs()), Some(30));
}

#[test]
fn a_later_try_does_not_forget_an_earlier_one() {
    let words = |asked| super::broken(URL, "nobody answers there", asked, false);
    assert!(words(WRITES).refusal.text().contains("nothing was done"));
    let after = words(Attempt { sent: true, ..WRITES });
    assert!(after.sent && after.refusal.text().contains("It may have been carried out."));
}

#[test]
fn a_bom_before_the_envelope_is_no_matter() {
    assert_eq!(said(200, "application/json", "\u{feff}{\"ok\":true,\"data\":{}}"), "data {}");
}

fn refusal(error: &str, name: Option<&str>) -> String {
    let envelope = json!({"ok": false, "error": error, "refusal": name});
    data(serde_json::from_value::<Envelope>(envelope).unwrap()).unwrap_err().text()
}

#[test]
fn a_refusal_of_the_store_keeps_its_words_and_gets_the_advice() {
    assert!(
        refusal("BACKUP_TIME: 05:00 - 05:30", Some("backup_time"))
            .starts_with("BACKUP_TIME: 05:00 - 05:30\nThe store makes")
    );
    // An engine that names no row is understood by its beginning.
    assert_eq!(refusal("WRONG_PASSWORD", None), catalogue::wrong_password().text());
    assert!(refusal("ACCESS_DENIED: note 5 is of level `all`;", None).contains("People edit it"));
    assert!(refusal("Unit not found: shop_x", None).starts_with("Unit not found: shop_x"));
    assert!(
        refusal("Module not found! [units/x.js]", None)
            .starts_with("Module not found! [units/x.js] Load the")
    );
    // A reason without a row stands alone.
    assert_eq!(refusal("PHP Runtime Exception: x:3: y", None), "PHP Runtime Exception: x:3: y");
}

#[test]
fn words_of_a_newer_store_stay_readable() {
    assert!(
        refusal("MOON_IS_FULL: wait", Some("moon"))
            .starts_with("Unexpected answer: the store refused: MOON_IS_FULL: wait")
    );
    assert!(refusal("", None).starts_with("Unexpected answer: a refusal without words."));
    assert!(refusal("\u{1b}[2J\u{7}x", None).starts_with("Unexpected answer: the store refused: [2Jx"));
}

/// Whether a text is one of the catalogue's.
fn is_of_catalogue(text: &str) -> bool {
    catalogue::ALL.iter().any(|row| row.begins(text))
        || super::REASONS.iter().any(|reason| text.starts_with(reason))
}

proptest! {
    #[test]
    fn any_answer_ends_in_data_or_in_the_catalogue(
        status in 100_u16..600,
        kind in prop::sample::select(vec!["", "application/json", "text/html", "text/plain", "\u{1}"]),
        body in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        match read(URL, &head(status, kind), &body, WRITES) {
            Ok(envelope) => {
                if let Err(refusal) = data(envelope) {
                    prop_assert!(is_of_catalogue(&refusal.text()), "{}", refusal.text());
                }
            }
            Err(trouble) => prop_assert!(is_of_catalogue(&trouble.refusal.text()), "{}", trouble.refusal.text()),
        }
    }

    #[test]
    fn any_refusal_of_the_store_ends_in_the_catalogue(error in any::<Option<String>>(), name in any::<Option<String>>()) {
        let envelope = Envelope { ok: false, ms: 0, data: None, error, refusal: name };
        let text = data(envelope).unwrap_err().text();
        prop_assert!(is_of_catalogue(&text), "{text}");
    }
}
