//! Tests of the settings.

use proptest::prelude::*;

use super::{Config, Secrets, Settings};

fn settings(text: &str) -> Result<Settings, String> {
    Config::parse(text).and_then(Settings::of).map_err(|error| error.to_string())
}

#[test]
fn an_empty_file_is_a_store_with_defaults() {
    let settings = settings("\u{feff}{}").unwrap();
    assert_eq!(settings.listen.to_string(), "127.0.0.1:8420");
    assert_eq!(settings.request_limit(), 64 * 1024 * 1024);
    assert!(settings.backup.is_none() && settings.licence.is_none() && settings.ip_list.is_empty());
}

#[test]
fn a_wrong_value_is_named_by_its_key() {
    for (text, key) in [
        (r#"{"ip_list": ["10.0.0.300"]}"#, "ip_list"),
        (r#"{"trusted_proxies": ["proxy"]}"#, "trusted_proxies"),
        (r#"{"backup_begin": "05:00"}"#, "backup_begin"),
        (r#"{"time_zone": "Europe/Nowhere"}"#, "time_zone"),
        (r#"{"program_least": "new"}"#, "program_least"),
        (r#"{"request_limit": 0}"#, "request_limit"),
        (r#"{"cache_mb": 0}"#, "cache_mb"),
        (r#"{"journal_days": 0}"#, "journal_days"),
        (r#"{"listen": "8420"}"#, "listen"),
        (r#"{"licence": {"public_key": "k4.public.x", "domain": "a"}}"#, "licence"),
        (r#"{"licence": {"public_key": "k4.public.x", "domain": ""}}"#, "licence"),
    ] {
        let error = settings(text).unwrap_err();
        assert!(error.contains(&format!("`{key}`")), "{error}");
    }
}

#[test]
fn a_broken_file_says_where_and_quotes_nothing() {
    let error =
        settings("{\n\"secrets\": {\"licence\": \"hush-hush\"},\n\"cache\": \"hush-hush\"}").unwrap_err();
    assert!(error.contains("line 3"), "{error}");
    assert!(!error.contains("hush"), "{error}");
    assert!(settings("{").unwrap_err().contains("ends too early"));
}

#[test]
fn a_key_that_stands_twice_is_named_wherever_it_stands() {
    for (text, key) in [
        ("{\"cache\": true,\n\"cache\": true}", "cache"),
        ("{\"later\": {\"a\": 1,\n\"a\": 2}}", "a"),
        ("{\"secrets\": {\"mail\": \"hush-hush\",\n\"mail\": \"hush\"}}", "mail"),
        ("{\"later\": [{\"b\": 1},{\"b\": 1,\n\"b\": null}]}", "b"),
    ] {
        let error = settings(text).unwrap_err();
        assert!(error.contains(&format!("key `{key}` twice")) && error.contains("line 2"), "{error}");
        assert!(!error.contains("hush"), "{error}");
    }
    // One key in two objects is no mistake, and what is no JSON is told as that.
    assert!(settings(r#"{"later": [{"b": 1}, {"b": 1}], "b": 1}"#).is_ok());
    assert!(settings(r#"{"cache": tru, "cache": true}"#).unwrap_err().contains("not JSON"));
}

#[test]
fn secrets_do_not_print_and_unknown_keys_stay() {
    let settings = settings(r#"{"secrets": {"licence": " hush-hush "}, "later": [1]}"#).unwrap();
    assert_eq!(settings.config.secrets.get(Secrets::LICENCE), Some("hush-hush"));
    assert!(!format!("{settings:?}").contains("hush"));
    let written = serde_json::to_value(&settings.config).unwrap();
    assert_eq!(written["later"], serde_json::json!([1]));
}

proptest! {
    #[test]
    fn reading_settings_never_fails_badly(text in ".{0,200}") {
        let _ = settings(&text);
    }
}
