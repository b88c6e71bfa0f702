//! The half-hour before the backup.

use std::net::Ipv4Addr;

use serde_json::json;

use crate::client::{Line, TestRequest, ticket};
use crate::test_store::{TestStore, on_both};

on_both! {
    // Each request is turned away with one chance in ten, independently. Of 2,000 that is 200, with a standard
    // deviation of 13.4: outside 140 to 260 lies less than one run in 100,000.
    async fn about_one_request_in_ten_is_turned_away_without_effect(store: TestStore) {
        let save = TestRequest::tool("memory_save", json!({"name": "n"})).with("session", ticket(store, "irina").await);
        store.settings(json!({"backup_begin": "12:20", "backup_end": "12:40"})).await;
        let mut line = Line::open(store, Ipv4Addr::LOCALHOST).await;
        let mut refused = 0;
        for _ in 0..2000 {
            match save.result_on(&mut line).await {
                Ok(_) => {}
                Err(words) => {
                    assert_eq!(words, "BACKUP_SOON: 12:20 - 12:40");
                    refused += 1;
                }
            }
        }
        assert!((140..=260).contains(&refused), "{refused} of 2000");
        assert_eq!(store.count("notes"), 2000 - refused);
        assert_eq!(store.count("journal where actor = 'agent'"), 2000 - refused);
    }
}
