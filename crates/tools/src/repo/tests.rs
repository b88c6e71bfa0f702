//! Tests of the repository's list.

use db::repo::{self, NewSection, Whom};
use serde_json::json;

use crate::house::{objects, on_both};

#[test]
fn only_sections_with_a_flag_are_listed_with_what_is_allowed() {
    on_both(|house| {
        let empty = house.call(&house.oleg, "repo_list", json!({})).unwrap();
        assert_eq!(empty.data.unwrap()["rows"], json!([]));
        assert!(empty.text.unwrap().starts_with("No section is open"));

        let section = |name: &str, parent| NewSection {
            parent,
            skey: None,
            name: name.to_owned(),
            descr: format!("About {name}"),
            kind_key: "kDefault".to_owned(),
        };
        house
            .db
            .write(|tx| {
                let top = repo::create_section(tx, &section("Top", None))?;
                let low = repo::create_section(tx, &section("Low", Some(top)))?;
                repo::create_section(tx, &section("Hidden", None))?;
                repo::set_flags(tx, low, Whom::Group(house.managers), &["topic_list"])?;
                repo::set_flags(tx, low, Whom::User(house.irina.id), &["store_read"])
            })
            .unwrap();
        let list = house.data(&house.irina, "repo_list", json!({}));
        assert_eq!(
            objects(&list),
            [
                json!({"id": 2, "skey": null, "path": "Top -> Low", "descr": "About Low", "kind_key": "kDefault", "topics": 0,
            "may": ["topic_list", "store_read"]})
            ]
        );
    });
}
