//! Tests of tokens and proofs.

use jiff::civil::{Date, date};
use proptest::prelude::*;

use crate::{Claims, Keys, LicenceError, check, proof, read, same_domain, sign};

const DAY: Date = date(2026, 11, 30);

fn claims() -> Claims {
    Claims { domain: "shop.example.com".into(), login: "irina".into(), day: DAY }
}

#[test]
fn a_token_holds_for_its_domain_login_and_day() {
    let keys = Keys::generate().unwrap();
    let token = sign(&claims(), &keys.secret).unwrap();
    assert!(token.starts_with("v4.public."));
    let ask = |domain, login, day| check(&token, &keys.public, domain, login, &[day]);
    assert_eq!(ask("shop.example.com", Some("irina"), DAY), Ok(()));
    assert_eq!(ask("SHOP.example.com:443", None, DAY), Ok(()));
    assert_eq!(ask("other.example.com", Some("irina"), DAY), Err(LicenceError::Domain));
    assert_eq!(ask("shop.example.com", Some("oleg"), DAY), Err(LicenceError::Token));
    assert_eq!(ask("shop.example.com", Some("irina"), date(2026, 12, 1)), Err(LicenceError::Token));
    assert_eq!(ask("other.example.com", Some("oleg"), date(2026, 12, 1)), Err(LicenceError::Domain));
    assert_eq!(read(&token, &keys.public), Ok(claims()));
}

#[test]
fn a_foreign_signature_is_refused_before_its_claims_are_looked_at() {
    let token = sign(&claims(), &Keys::generate().unwrap().secret).unwrap();
    let other = Keys::generate().unwrap().public;
    assert_eq!(check(&token, &other, "other.example.com", None, &[DAY]), Err(LicenceError::Token));
}

#[test]
fn keys_read_back_as_they_are_written_and_the_secret_one_does_not_print() {
    let keys = Keys::generate().unwrap();
    let secret = keys.secret.reveal().unwrap();
    assert!(secret.starts_with("k4.secret.") && keys.public.to_string().starts_with("k4.public."));
    let again = Keys::of(secret.parse().unwrap()).unwrap();
    assert_eq!(again.public, keys.public);
    assert_eq!(keys.public.to_string().parse(), Ok(again.public));
    assert!(!format!("{keys:?}").contains(&secret[10..30]));
    assert_eq!(secret.parse::<crate::PublicKey>(), Err(LicenceError::Key("k4.public.…")));
}

#[test]
fn a_host_is_compared_without_port_case_and_closing_point() {
    assert!(same_domain("Shop.Example.com.", "shop.example.com:8443"));
    assert!(same_domain("[::1]:80", "::1"));
    assert!(!same_domain("shop.example.com", "shop.example.com.evil.net"));
    assert!(!same_domain("", ""));
}

#[test]
fn a_proof_is_good_for_one_domain_login_and_day() {
    let secret = "a customer's secret";
    let made = proof::make(secret, "shop.example.com", "irina", DAY);
    assert!(proof::is_right(&made, secret, "SHOP.example.com", "irina", DAY));
    assert!(!proof::is_right(&made, "another secret here", "shop.example.com", "irina", DAY));
    assert!(!proof::is_right(&made, secret, "shop.example.comi", "rina", DAY));
    assert!(!proof::is_right(&made, secret, "shop.example.com", "irina", date(2026, 12, 1)));
    assert!(!proof::is_right("", secret, "shop.example.com", "irina", DAY));
    let weak = proof::make("", "shop.example.com", "irina", DAY);
    assert!(!proof::is_right(&weak, "", "shop.example.com", "irina", DAY), "no secret proves nothing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_change_of_a_token_spoils_it(at: prop::sample::Index, to in "[A-Za-z0-9_.-]") {
        let keys = Keys::generate().unwrap();
        let token = sign(&claims(), &keys.secret).unwrap();
        let at = at.index(token.len());
        prop_assume!(token[at..=at] != to);
        let spoilt = format!("{}{to}{}", &token[..at], &token[at + 1..]);
        let answer = check(&spoilt, &keys.public, "shop.example.com", Some("irina"), &[DAY]);
        prop_assert_eq!(answer, Err(LicenceError::Token));
    }

    #[test]
    fn reading_a_token_never_fails_badly(text in ".{0,200}") {
        let keys = Keys::generate().unwrap();
        prop_assert!(read(&text, &keys.public).is_err());
        let dressed = format!("v4.public.{text}");
        prop_assert!(read(&dressed, &keys.public).is_err());
    }
}
