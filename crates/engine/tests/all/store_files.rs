//! Statics with bundles, pictures, folders and groups of templates by the agent's tools: what visitors get of them,
//! and what versions keep.

use std::fs;

use serde_json::{Value, json};

use crate::client::{TestRequest, get, ticket};
use crate::test_store::{TestStore, on_both};

async fn call(store: &TestStore, tool: &str, params: Value) -> Result<Value, String> {
    let ticket = ticket(store, "admin").await;
    TestRequest::tool(tool, params).with("session", ticket).result(store).await
}

async fn done(store: &TestStore, tool: &str, params: Value) -> Value {
    call(store, tool, params).await.unwrap_or_else(|words| panic!("{tool}: {words}"))
}

fn statics(name: &str) -> String {
    format!("templates/default/statics/{name}")
}

/// A static file with this body, in these bundles.
async fn put(store: &TestStore, name: &str, body: &str, bundles: &str) {
    let path = statics(name);
    done(store, "engine_static_add", json!({"path": path})).await;
    let bundle = json!({"parameters": bundles, "description": ""});
    let params = json!({"path": path, "content": body, "bundle": bundle});
    done(store, "engine_static_save", params).await;
}

async fn served(store: &TestStore, path: &str) -> String {
    get(store, path, "").await.text()
}

on_both! {
    async fn bundles_follow_their_files_and_visitors_get_what_is_there(store: TestStore) {
        put(store, "a.css", "/* a */ a { color: red; }\n", "main.css: 20").await;
        put(store, "b.css", "b { color: blue; }", "main.css: 10, print.css: 1").await;
        assert_eq!(served(store, "/statics/bundle.main.css").await, "b {color: blue;}\na {color: red;}\n");
        assert_eq!(served(store, "/statics/bundle.print.css").await, "b {color: blue;}\n");

        let wrong = json!({"path": statics("a.css"), "bundle": {"parameters": "main.js: 1"}});
        assert!(call(store, "engine_static_save", wrong).await.unwrap_err().starts_with("Can't include file to bundle: "));
        assert_eq!(served(store, "/statics/bundle.main.css").await, "b {color: blue;}\na {color: red;}\n");

        done(store, "engine_static_save", json!({"path": statics("a.css"), "content": "a{}"})).await;
        assert_eq!(served(store, "/statics/bundle.main.css").await, "b {color: blue;}\na{}\n");
        done(store, "engine_static_dir_add", json!({"path": statics("parts")})).await;
        let moved = json!({"path": statics("a.css"), "new_path": statics("parts/a.css")});
        assert_eq!(done(store, "engine_static_rename", moved).await["bundled"], 1);
        assert_eq!(served(store, "/statics/bundle.main.css").await, "b {color: blue;}\na{}\n");
        let renamed = json!({"path": statics("parts"), "new_path": statics("pieces")});
        assert_eq!(done(store, "engine_static_dir_rename", renamed).await["bundled"], 1);
        assert!(!store.root().join(statics("parts")).exists());
        assert_eq!(served(store, "/statics/pieces/a.css").await, "a{}");
        assert_eq!(done(store, "engine_static_dir_remove", json!({"path": statics("pieces")})).await["bundled"], 1);
        assert!(!store.root().join(statics("pieces")).exists());
        assert_eq!(served(store, "/statics/bundle.main.css").await, "b {color: blue;}\n");
        assert_eq!(done(store, "engine_static_remove", json!({"path": statics("b.css")})).await["bundled"], 1);
        for name in ["bundle.main.css", "bundle.print.css", "b.css"] {
            assert!(!store.root().join(statics(name)).exists(), "{name}");
        }
        // What was removed with its folder comes back from its versions.
        let versions = done(store, "engine_history_list", json!({"path": statics("pieces/a.css")})).await;
        let id = versions["versions"]["rows"][1][0].clone();
        done(store, "engine_history_restore", json!({"id": id})).await;
        assert_eq!(served(store, "/statics/pieces/a.css").await, "a{}");
    }

    async fn of_two_agents_who_save_the_same_style_the_second_is_told(store: TestStore) {
        put(store, "a.css", "a{}", "").await;
        let loaded = done(store, "engine_static_load", json!({"path": statics("a.css")})).await;
        let save = |body: &str| json!({"path": statics("a.css"), "content": body, "base": loaded["version"]});
        done(store, "engine_static_save", save("b{}")).await;
        let words = call(store, "engine_static_save", save("c{}")).await.unwrap_err();
        assert!(words.starts_with("CHANGED_SINCE: ") && words.contains("+b{}"), "{words}");
        assert_eq!(served(store, "/statics/a.css").await, "b{}");
    }

    async fn pictures_and_groups_are_kept_moved_and_removed(store: TestStore) {
        let path = "templates/default/images/mark.svg";
        done(store, "engine_image_add", json!({"path": path, "base64": "PHN2Zy8+"})).await;
        assert!(call(store, "engine_image_add", json!({"path": path, "base64": ""})).await.unwrap_err().contains("would overwrite it"));
        let again = json!({"path": path, "base64": "PHN2Zz48L3N2Zz4=", "overwrite": true});
        assert_eq!(done(store, "engine_image_add", again).await["replaced"], true);
        assert_eq!(served(store, "/images/mark.svg").await, "<svg></svg>");

        done(store, "engine_template_add", json!({"template": "winter"})).await;
        for folder in ["units", "statics", "images", "bundles"] {
            assert!(store.root().join("templates/winter").join(folder).is_dir(), "{folder}");
        }
        let moved = json!({"path": path, "new_path": "templates/winter/images/mark.svg"});
        done(store, "engine_image_rename", moved).await;
        done(store, "engine_template_rename", json!({"template": "winter", "new_template": "autumn"})).await;
        assert!(!store.root().join("templates/winter").exists());
        assert_eq!(
            fs::read_to_string(store.root().join("templates/autumn/images/mark.svg")).unwrap(),
            "<svg></svg>"
        );
        let words = call(store, "engine_template_remove", json!({"template": "default"})).await.unwrap_err();
        assert!(words.starts_with("ACCESS_DENIED: default is the default template group"), "{words}");
        done(store, "engine_template_remove", json!({"template": "autumn"})).await;
        assert!(!store.root().join("templates/autumn").exists());
    }

    async fn settings_are_told_without_what_opens_anything(store: TestStore) {
        let told = done(store, "engine_dev_config", json!({})).await;
        assert_eq!((&told["demo"], &told["config"]["template"]), (&json!(false), &json!("default")));
        let words = told.to_string();
        assert!(!words.contains("postgres://") || words.contains("postgres://…"), "{words}");
    }
}
