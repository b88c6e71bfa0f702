//! Tests of the repository's list.

use db::repo::{self, NewSection, Whom};
use serde_json::json;

use crate::test_store::{objects, on_both};

#[test]
fn only_sections_with_a_flag_are_listed_with_what_is_allowed() {
    on_both(|store| {
        let empty = store.call(&store.oleg, "repo_list", json!({})).unwrap();
        assert_eq!(empty.data.unwrap()["repos"]["rows"], json!([]));
        assert!(empty.text.unwrap().starts_with("No section of the repository is open to you"));

        let section = |name: &str, parent| NewSection {
            parent,
            skey: None,
            name: name.to_owned(),
            descr: format!("About {name}"),
            kind_key: "kShared".to_owned(),
        };
        store
            .db
            .write(|tx| {
                let top = repo::create_section(tx, &section("Top", None))?;
                let low = repo::create_section(tx, &section("Low", Some(top)))?;
                repo::create_section(tx, &section("Hidden", None))?;
                repo::set_flags(tx, low, Whom::Group(store.managers), &["topic_list"])?;
                repo::set_flags(tx, low, Whom::User(store.irina.id), &["store_read"])
            })
            .unwrap();
        let list = store.data(&store.irina, "repo_list", json!({}));
        assert_eq!(
            objects(&list),
            [
                json!({"id": 2, "skey": null, "path": "Top -> Low", "descr": "About Low", "kind_key": "kShared", "topics": 0,
            "may": ["topic_list", "store_read"]})
            ]
        );
    });
}
