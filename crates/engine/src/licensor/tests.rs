//! Tests of the authority's rule and files. Its address is tested together with the engine.

use jiff::Timestamp;
use jiff::civil::date;
use licence::{check, proof};
use wire::TokenRequest;

use super::token::{Denied, token};
use super::{LicensorError, add, customers, make_keys, public_key, remove};

const DOMAIN: &str = "shop.example.com";

fn request(secret: &str, login: &str, day: &str) -> TokenRequest {
    let made = proof::make(secret, DOMAIN, login, day.parse().unwrap());
    TokenRequest { domain: DOMAIN.to_owned(), login: login.to_owned(), day: day.to_owned(), proof: made }
}

#[test]
fn a_token_is_given_for_a_right_proof_and_for_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let public = make_keys(folder).unwrap();
    let logins = ["irina".to_owned(), "admin".to_owned()];
    let customer = add(folder, "Flowers", &[DOMAIN.to_owned()], &logins, date(2026, 12, 1)).unwrap();
    let other = add(folder, "Other", &["other.example.com".to_owned()], &[], date(2027, 1, 1)).unwrap();
    let keys = super::keys::keys(folder).unwrap();
    let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
    let ask = |request: TokenRequest, now| token(&request, &customers(folder).unwrap(), &keys, now).unwrap();

    let given = ask(request(&customer.secret, "irina", "2026-11-30"), now).unwrap();
    assert_eq!(check(&given, &public, DOMAIN, Some("irina"), &[date(2026, 11, 30)]), Ok(()));
    assert!(ask(request(&customer.secret, "irina", "2026-12-01"), now).is_ok());

    let deny = |request, now| ask(request, now).unwrap_err();
    assert_eq!(deny(request(&other.secret, "irina", "2026-11-30"), now), Denied::Proof);
    let stolen =
        TokenRequest { login: "admin".to_owned(), ..request(&customer.secret, "irina", "2026-11-30") };
    assert_eq!(deny(stolen, now), Denied::Proof);
    assert_eq!(deny(request(&customer.secret, "irina", "2026-12-02"), now), Denied::Day);
    assert_eq!(deny(request(&customer.secret, "irina", "2026-11-29"), now), Denied::Day);
    assert_eq!(deny(request(&customer.secret, "oleg", "2026-11-30"), now), Denied::Login);
    let later: Timestamp = "2026-12-01T23:00:00Z".parse().unwrap();
    assert_eq!(
        deny(request(&customer.secret, "irina", "2026-12-02"), later),
        Denied::Ended(date(2026, 12, 1))
    );
    let just_after: Timestamp = "2026-12-01T00:05:00Z".parse().unwrap();
    assert!(
        ask(request(&customer.secret, "irina", "2026-11-30"), just_after).is_ok(),
        "a clock may be behind"
    );
}

#[test]
fn keys_are_made_once_and_customers_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let public = make_keys(folder).unwrap();
    assert!(matches!(make_keys(folder), Err(LicensorError::KeyExists(_))));
    assert_eq!(public_key(folder).unwrap(), public);
    assert!(customers(folder).unwrap().is_empty());
    let added = add(folder, "Flowers", &[DOMAIN.to_owned()], &[], date(2026, 12, 1)).unwrap();
    assert!(matches!(
        add(folder, "Flowers", &[], &[], date(2026, 12, 1)),
        Err(LicensorError::CustomerExists(_))
    ));
    assert_eq!(customers(folder).unwrap(), [added]);
    remove(folder, "Flowers").unwrap();
    assert!(matches!(remove(folder, "Flowers"), Err(LicensorError::NoSuchCustomer(_))));
}

#[cfg(unix)]
#[test]
fn what_is_secret_only_its_owner_reads() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    make_keys(folder.path()).unwrap();
    add(folder.path(), "Flowers", &[], &[], date(2026, 12, 1)).unwrap();
    for file in ["authority.key", "customers.toml"] {
        let mode = std::fs::metadata(folder.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file}");
    }
}

#[test]
fn a_broken_list_is_told_without_its_secrets() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("customers.toml"), "[[customer]]\nsecret = \"hush-hush\"\nname = 1\n")
        .unwrap();
    let error = customers(folder.path()).unwrap_err().to_string();
    assert!(!error.contains("hush"), "{error}");
}
