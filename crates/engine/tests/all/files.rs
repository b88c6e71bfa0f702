//! Units, templates and their versions by the agent's tools: an agent's way, two agents at once, a killed engine,
//! attacks on paths.

use std::fs;
use std::ops::ControlFlow;

use engine::maintenance::{RestoreOptions, backup, restore};
use serde_json::{Value, json};

use crate::client::{Line, TestRequest, get, ticket};
use crate::test_store::{TestStore, on_both};
use crate::units::put;

/// Calls a tool's engine half as the administrator.
async fn call(store: &TestStore, tool: &str, params: Value) -> Result<Value, String> {
    let ticket = ticket(store, "admin").await;
    TestRequest::tool(tool, params).with("session", ticket).result(store).await
}

async fn done(store: &TestStore, tool: &str, params: Value) -> Value {
    call(store, tool, params).await.unwrap()
}

async fn refused(store: &TestStore, tool: &str, params: Value) -> String {
    let before = store.count("file_versions");
    let words = call(store, tool, params).await.unwrap_err();
    assert_eq!(store.count("file_versions"), before, "a refused call left a version: {words}");
    words
}

fn on_disk(store: &TestStore, path: &str) -> Option<String> {
    fs::read_to_string(store.root().join(path)).ok()
}

const CODE: &str = "export function main({ id = 1 }) { return shop.render('main.htm', { id }); }";
const MAIN: &str = "templates/default/units/home/main.htm";
const STYLE: &str = "templates/default/statics/a.css";
const MARK: &str = "templates/default/images/a.svg";

on_both! {
    async fn an_agent_makes_a_unit_and_a_visitor_sees_it(store: TestStore) {
        let added = done(store, "engine_unit_add", json!({"path": "./../units/shop_hello.js"})).await;
        assert_eq!(added["folders"], json!(["templates/default/units/shop_hello"]));
        assert_eq!((&added["library"], &added["path"]), (&json!(false), &json!("units/shop_hello.js")));
        assert_eq!(done(store, "engine_unit_add", json!({"path": "units/home.js"})).await["library"], json!(true));
        done(store, "engine_html_add", json!({"path": MAIN})).await;

        let base = done(store, "engine_unit_load", json!({"path": "units/home.js"})).await["version"].clone();
        let manifest = json!({"description": "Home", "entry_point": true, "tables": ["invented"]});
        let params = json!({"path": "units/home.js", "content": CODE, "manifest": manifest, "base": base});
        let saved = done(store, "engine_unit_save", params).await;
        assert_eq!((&saved["manifest"], &saved["warning"]), (&json!(true), &json!("")));
        let text = "<h1>No {{ id }}</h1>{{ unit('shop_hello') }}";
        done(store, "engine_html_save", json!({"path": MAIN, "content": text})).await;
        let hello = "templates/default/units/shop_hello/main.htm";
        done(store, "engine_html_save", json!({"path": hello, "content": "<p>Hello</p>"})).await;
        done(store, "engine_unit_save", json!({"path": "units/shop_hello.js", "content": CODE})).await;
        let page = get(store, "/", "").await.text();
        assert!(page.contains("<h1>No 1</h1><p>Hello</p>"), "{page}");

        let loaded = done(store, "engine_unit_load", json!({"path": "units/home.js"})).await;
        assert_eq!((&loaded["code"], &loaded["version"]), (&json!(CODE), &saved["version"]));
        assert_eq!(loaded["manifest"]["tables"], json!([]), "the engine says what queries touch");
        let functions = done(store, "engine_map_units", json!({"source": "home.js"})).await;
        assert_eq!(functions["functions"]["rows"][0][1], "main");
        let found = done(store, "engine_search", json!({"keyword": "HELLO"})).await;
        assert!(found["files"].as_array().unwrap().iter().any(|file| file["path"] == hello), "{found}");
    }

    async fn what_is_wrong_is_refused_with_line_and_column_and_nothing_is_written(store: TestStore) {
        done(store, "engine_unit_add", json!({"path": "units/home.js"})).await;
        done(store, "engine_html_add", json!({"path": MAIN})).await;
        let words = refused(store, "engine_unit_save", json!({"path": "units/home.js", "content": "let a;\nlet = 1 +;"})).await;
        assert!(words.starts_with("Syntax error: units/home.js:2:"), "{words}");
        let words = refused(store, "engine_html_save", json!({"path": MAIN, "content": "a\n{% if %}"})).await;
        assert!(words.starts_with(&format!("Syntax error: {MAIN}:2:")), "{words}");
        let manifest = json!({"entry_pint": true});
        let words = refused(store, "engine_unit_save", json!({"path": "units/home.js", "manifest": manifest})).await;
        assert!(words.starts_with("Syntax error: units/home.json:"), "{words}");
        assert_eq!(on_disk(store, "units/home.js").as_deref(), Some(""));

        let code = "import { a } from 'units/inc_gone.js';\nexport function main() { const b = 1; return missing(a); }";
        let saved = done(store, "engine_unit_save", json!({"path": "units/home.js", "content": code})).await;
        let warning = saved["warning"].as_str().unwrap();
        for part in ["Warning!", "Undeclared: missing (2:", "Unused: b (2:", "Missing include: inc_gone"] {
            assert!(warning.contains(part), "{part}: {warning}");
        }
    }

    async fn of_two_agents_on_one_unit_the_second_reads_what_the_first_did(store: TestStore) {
        done(store, "engine_unit_add", json!({"path": "units/home.js"})).await;
        let save = |content: &str, base: &Value| json!({"path": "units/home.js", "content": content, "base": base});
        let first = done(store, "engine_unit_save", json!({"path": "units/home.js", "content": "export const a = 1;\n"})).await;
        let base = &first["version"];
        let second = done(store, "engine_unit_save", save("export const a = 2;\n", base)).await;
        let words = refused(store, "engine_unit_save", save("export const a = 3;\n", base)).await;
        assert!(words.starts_with("CHANGED_SINCE: units/home.js: "), "{words}");
        assert!(words.contains("Administrator") && words.contains("-export const a = 1;\n+export const a = 2;"), "{words}");
        // A manifest alone is a version of the unit too.
        let saved = done(store, "engine_unit_save", json!({"path": "units/home.js", "manifest": {}})).await;
        assert!(refused(store, "engine_unit_save", save("", &second["version"])).await.starts_with("CHANGED_SINCE: "));
        done(store, "engine_unit_save", save("export const a = 4;\n", &saved["version"])).await;
        // What somebody changes on the disk is seen, kept, and had back.
        put(store, "units/home.js", "export const hand = 1;\n");
        let words = refused(store, "engine_unit_save", save("", &saved["version"])).await;
        assert!(words.starts_with("CHANGED_SINCE: "), "{words}");
        let now = done(store, "engine_unit_load", json!({"path": "units/home.js"})).await;
        assert!(now["version"].as_i64().unwrap() < 0, "{now}");
        done(store, "engine_unit_save", save("export const a = 5;\n", &now["version"])).await;
        let list = done(store, "engine_history_list", json!({"path": "units/home.js"})).await;
        let by_hand = list["versions"]["rows"][1].clone();
        assert_eq!((&by_hand[2], &by_hand[5]), (&json!(""), &json!(23)));
        let content = done(store, "engine_history_content", json!({"id": by_hand[0]})).await;
        assert_eq!(content["body"], "export const hand = 1;\n");
        done(store, "engine_history_restore", json!({"id": by_hand[0], "base": list["versions"]["rows"][0][0]})).await;
        assert_eq!(on_disk(store, "units/home.js").as_deref(), Some("export const hand = 1;\n"));
    }

    async fn a_rename_takes_everything_along_and_a_removal_can_be_taken_back(store: TestStore) {
        done(store, "engine_unit_add", json!({"path": "units/shop_menu.js"})).await;
        done(store, "engine_unit_add", json!({"path": "units/inc_words.js"})).await;
        let includes = json!({"includes": ["inc_words"]});
        let code = "import 'units/inc_words.js';\nexport function main() { return ''; }";
        let params = json!({"path": "units/shop_menu.js", "content": code, "manifest": includes});
        done(store, "engine_unit_save", params).await;

        let renamed = done(store, "engine_unit_rename", json!({"path": "units/inc_words.js", "new_path": "units/inc_texts.js"})).await;
        assert_eq!(renamed["mentions"], json!(["units/shop_menu.js"]));
        let menu = done(store, "engine_unit_load", json!({"path": "units/shop_menu.js"})).await;
        assert_eq!(menu["manifest"]["includes"], json!(["inc_texts"]));

        done(store, "engine_unit_rename", json!({"path": "units/shop_menu.js", "new_path": "units/shop_nav.js"})).await;
        assert!(on_disk(store, "templates/default/units/shop_nav/main.htm").is_some());
        for gone in ["units/shop_menu.js", "units/shop_menu.json", "templates/default/units/shop_menu"] {
            assert!(!store.root().join(gone).exists(), "{gone}");
        }
        let list = done(store, "engine_history_list", json!({"path": "units/shop_nav.js"})).await;
        assert_eq!(list["versions"]["rows"][0][6], "units/shop_menu.js");

        done(store, "engine_unit_remove", json!({"path": "units/shop_nav.js"})).await;
        assert!(on_disk(store, "units/shop_nav.js").is_none());
        let words = refused(store, "engine_unit_load", json!({"path": "units/shop_nav.js"})).await;
        assert_eq!(words, "File not found: units/shop_nav.js.");
        let list = done(store, "engine_history_list", json!({"path": "units/shop_nav.js"})).await;
        assert_eq!(list["versions"]["rows"][0][5], Value::Null);
        done(store, "engine_history_restore", json!({"id": list["versions"]["rows"][1][0]})).await;
        assert_eq!(on_disk(store, "units/shop_nav.js").as_deref(), Some(code));
    }

    async fn a_file_that_was_not_put_in_place_is_so_at_the_next_start(store: TestStore) {
        done(store, "engine_unit_add", json!({"path": "units/home.js"})).await;
        for code in ["export const a = 1;", "export const a = 2;"] {
            done(store, "engine_unit_save", json!({"path": "units/home.js", "content": code})).await;
        }
        done(store, "engine_unit_add", json!({"path": "units/gone.js"})).await;
        done(store, "engine_unit_remove", json!({"path": "units/gone.js"})).await;
        store.stop().await;
        // What a kill between commit and rename leaves: the older content, no file, a removed one.
        put(store, "units/home.js", "export const a = 1;");
        fs::remove_file(store.root().join("units/home.json")).unwrap();
        put(store, "units/gone.js", "");
        put(store, "units/own.js", "by hand");
        store.restart().await;
        assert_eq!(on_disk(store, "units/home.js").as_deref(), Some("export const a = 2;"));
        assert!(on_disk(store, "units/home.json").is_some() && on_disk(store, "units/gone.js").is_none());
        assert_eq!(on_disk(store, "units/own.js").as_deref(), Some("by hand"));
        // What no version ever was is somebody's work, and stays.
        store.stop().await;
        put(store, "units/home.js", "mine");
        store.restart().await;
        assert_eq!(on_disk(store, "units/home.js").as_deref(), Some("mine"));
    }

    async fn what_one_node_saves_the_next_page_of_the_other_shows(store: TestStore) {
        done(store, "engine_unit_add", json!({"path": "units/home.js"})).await;
        done(store, "engine_html_add", json!({"path": MAIN})).await;
        let other = store.node(&store.clock).await;
        let (mut here, mut there) = (String::new(), String::new());
        // Texts of one length, saved faster than a file system's clock may tick, over caches that are warm.
        for round in 0..30 {
            let code = format!("export function main() {{ return shop.render('main.htm', {{ id: {} }}); }}", 100 + round);
            let text = format!("<h1>{{{{ id }}}}:{}</h1>", 200 + round);
            let wanted = match round % 3 {
                0 => {
                    done(store, "engine_unit_save", json!({"path": "units/home.js", "content": code})).await;
                    done(store, "engine_html_save", json!({"path": MAIN, "content": text})).await;
                    (here, there) = ((100 + round).to_string(), (200 + round).to_string());
                    format!("<h1>{here}:{there}</h1>")
                }
                1 => {
                    done(store, "engine_unit_save", json!({"path": "units/home.js", "content": code})).await;
                    here = (100 + round).to_string();
                    format!("<h1>{here}:{there}</h1>")
                }
                _ => {
                    done(store, "engine_html_save", json!({"path": MAIN, "content": text})).await;
                    there = (200 + round).to_string();
                    format!("<h1>{here}:{there}</h1>")
                }
            };
            for _ in 0..2 {
                let mut line = Line::to(("127.0.0.1", other.address().port())).await;
                let page = line.send(b"GET / HTTP/1.1\r\nhost: shop.example.com\r\n\r\n").await.text();
                assert!(page.contains(&wanted), "round {round}: {wanted} in {page}");
            }
            assert!(get(store, "/", "").await.text().contains(&wanted), "round {round}");
        }
        other.stop().await;
    }

    async fn a_backup_holds_what_every_file_was(store: TestStore) {
        done(store, "engine_unit_add", json!({"path": "units/home.js"})).await;
        for n in 1..=3 {
            let code = format!("export const a = {n};");
            done(store, "engine_unit_save", json!({"path": "units/home.js", "content": code})).await;
        }
        done(store, "engine_unit_add", json!({"path": "units/shop_gone.js"})).await;
        done(store, "engine_unit_save", json!({"path": "units/shop_gone.js", "content": "export const gone = 1;"})).await;
        done(store, "engine_unit_remove", json!({"path": "units/shop_gone.js"})).await;
        let rows = |store: &TestStore, path: &str| {
            let path = path.to_owned();
            store.db.read(|tx| db::file_versions::list(tx, &path, 10)).unwrap()
        };
        let (home, gone) = (rows(store, "units/home.js"), rows(store, "units/shop_gone.js"));
        // One content is damaged and one is missing: told, and no reason to have no backup.
        let kept = |hash: &str| format!("core/versions/{}/{hash}", &hash[..2]);
        let damaged = home[2].hash.clone().unwrap();
        put(store, &kept(&damaged), "export const a = 9;");
        store.stop().await;
        let root = store.root().to_owned();
        let file = root.parent().unwrap().join("backup.tar.gz");
        let (lost, restored) = tokio::task::spawn_blocking({
            let (root, file) = (root.clone(), file.clone());
            move || {
                let done = backup(&root, &file, &mut |_| ControlFlow::Continue(())).unwrap();
                fs::remove_dir_all(root.join("core/versions")).unwrap();
                fs::write(root.join("units/home.js"), "spoilt").unwrap();
                let options = RestoreOptions { from: file, database: None, replace: true };
                (done.lost_versions, restore(&root, &options, &mut |_| ControlFlow::Continue(())).unwrap())
            }
        })
        .await
        .unwrap();
        assert_eq!(lost, ["units/home.js"]);
        assert_eq!(restored.lost_versions, ["units/home.js"]);
        store.restart().await;
        assert_eq!(on_disk(store, "units/home.js").as_deref(), Some("export const a = 3;"));
        let content = |id: i64| json!({"id": id});
        let old = done(store, "engine_history_content", content(home[1].id)).await;
        assert_eq!(old["body"], "export const a = 2;");
        let removed = gone.iter().find(|version| version.size > 0).unwrap();
        assert_eq!(done(store, "engine_history_content", content(removed.id)).await["body"], "export const gone = 1;");
        let words = call(store, "engine_history_content", content(home[2].id)).await.unwrap_err();
        assert!(words.starts_with("Engine failure: incident "), "{words}");
        // Saved again, a content that was damaged is whole again.
        done(store, "engine_unit_save", json!({"path": "units/home.js", "content": "export const a = 1;"})).await;
        assert_eq!(done(store, "engine_history_content", content(home[2].id)).await["body"], "export const a = 1;");
    }

    async fn no_path_parameter_leads_out_of_the_store(store: TestStore) {
        let outside = store.root().parent().unwrap().join("outside");
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("main.htm"), "secret").unwrap();
        done(store, "engine_unit_add", json!({"path": "units/shop_a.js"})).await;
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&outside, store.root().join("templates/default/units/shop_link")).unwrap();
            std::os::unix::fs::symlink(store.root().join("config.json"), store.root().join("units/leak.js")).unwrap();
            for (tool, params) in [
                ("engine_unit_load", json!({"path": "units/leak.js"})),
                ("engine_unit_save", json!({"path": "units/leak.js", "content": ""})),
                ("engine_unit_remove", json!({"path": "units/leak.js"})),
                ("engine_history_list", json!({"path": "units/leak.js"})),
                ("engine_html_load", json!({"path": "templates/default/units/shop_link/main.htm"})),
                ("engine_html_save", json!({"path": "templates/default/units/shop_link/main.htm", "content": ""})),
                ("engine_html_remove", json!({"path": "templates/default/units/shop_link/main.htm"})),
            ] {
                let words = refused(store, tool, params).await;
                assert!(words.starts_with("ACCESS_DENIED: parameter path points outside"), "{tool}: {words}");
            }
            fs::remove_file(store.root().join("units/leak.js")).unwrap();
            for tree in ["statics", "images"] {
                let folder = store.root().join("templates/default").join(tree);
                fs::create_dir_all(&folder).unwrap();
                std::os::unix::fs::symlink(&outside, folder.join("link")).unwrap();
            }
            done(store, "engine_static_add", json!({"path": STYLE})).await;
            done(store, "engine_image_add", json!({"path": MARK, "base64": "PHN2Zy8+"})).await;
            done(store, "engine_static_dir_add", json!({"path": "templates/default/statics/parts"})).await;
            done(store, "engine_image_dir_add", json!({"path": "templates/default/images/parts"})).await;
            let (style, mark) = ("templates/default/statics/link/main.htm", "templates/default/images/link/main.htm");
            for (tool, params) in [
                ("engine_static_add", json!({"path": "templates/default/statics/link/x.css"})),
                ("engine_static_load", json!({"path": style})),
                ("engine_static_save", json!({"path": style, "content": ""})),
                ("engine_static_remove", json!({"path": style})),
                ("engine_static_rename", json!({"path": STYLE, "new_path": "templates/default/statics/link/a.css"})),
                ("engine_static_dir_add", json!({"path": "templates/default/statics/link/x"})),
                ("engine_static_dir_remove", json!({"path": "templates/default/statics/link"})),
                ("engine_static_dir_rename", json!({"path": "templates/default/statics/parts", "new_path": "templates/default/statics/link/parts"})),
                ("engine_image_add", json!({"path": "templates/default/images/link/x.svg", "base64": ""})),
                ("engine_image_load", json!({"path": mark})),
                ("engine_image_remove", json!({"path": mark})),
                ("engine_image_rename", json!({"path": MARK, "new_path": "templates/default/images/link/a.svg"})),
            ] {
                let words = refused(store, tool, params).await;
                assert!(words.starts_with("ACCESS_DENIED: parameter path points outside"), "{tool}: {words}");
            }
        }
        let session = ticket(store, "admin").await;
        let mut count = 0;
        for attack in ATTACKS {
            for (tool, parameter) in PARAMETERS {
                let mut params = match *tool {
                    _ if tool.contains("template") => json!({"template": "default"}),
                    _ if tool.contains("image_dir_") => json!({"path": "templates/default/images/parts"}),
                    _ if tool.contains("_dir_") => json!({"path": "templates/default/statics/parts"}),
                    _ if tool.contains("static") => json!({"path": STYLE}),
                    _ if tool.contains("image") => json!({"path": MARK}),
                    _ if tool.contains("html") => json!({"path": MAIN}),
                    _ => json!({"path": "units/shop_a.js"}),
                };
                if *tool == "engine_image_add" {
                    params["base64"] = "".into();
                }
                if *parameter == "new_template" {
                    params["template"] = "winter".into();
                } else if tool.ends_with("template_rename") {
                    params["new_template"] = "spring".into();
                }
                if tool.ends_with("_save") {
                    params["content"] = "owned".into();
                }
                if tool.ends_with("_rename") && !tool.contains("template") {
                    params["new_path"] = params["path"].clone();
                }
                params[parameter] = (*attack).into();
                let asked = TestRequest::tool(tool, params).with("session", session.as_str());
                let words = asked.result(store).await.unwrap_err();
                let is_no = [
                    "ACCESS_DENIED: ",
                    "path is required",
                    "new_path is required",
                    "Parameter missing: ",
                    "template is the name of a template group",
                    "new_template is",
                ];
                assert!(is_no.iter().any(|no| words.starts_with(no)), "{tool} {parameter} {attack:?}: {words}");
                count += 1;
            }
        }
        assert!(count > 60 * 30);
        assert_eq!(on_disk(store, "../outside/main.htm").as_deref(), Some("secret"));
        let map = done(store, "engine_map_tree", json!({})).await.to_string();
        for hidden in ["config.json", "store.db", "core/versions", "shop_link"] {
            assert!(!map.contains(hidden), "{hidden}: {map}");
        }
    }
}

/// Every path parameter of the tools for files.
const PARAMETERS: &[(&str, &str)] = &[
    ("engine_unit_add", "path"),
    ("engine_unit_load", "path"),
    ("engine_unit_save", "path"),
    ("engine_unit_rename", "path"),
    ("engine_unit_rename", "new_path"),
    ("engine_unit_remove", "path"),
    ("engine_html_add", "path"),
    ("engine_html_load", "path"),
    ("engine_html_save", "path"),
    ("engine_html_rename", "new_path"),
    ("engine_html_remove", "path"),
    ("engine_history_list", "path"),
    ("engine_whole_load", "path"),
    ("engine_static_add", "path"),
    ("engine_static_load", "path"),
    ("engine_static_save", "path"),
    ("engine_static_rename", "path"),
    ("engine_static_rename", "new_path"),
    ("engine_static_remove", "path"),
    ("engine_static_dir_add", "path"),
    ("engine_static_dir_rename", "path"),
    ("engine_static_dir_rename", "new_path"),
    ("engine_static_dir_remove", "path"),
    ("engine_image_add", "path"),
    ("engine_image_load", "path"),
    ("engine_image_rename", "path"),
    ("engine_image_rename", "new_path"),
    ("engine_image_remove", "path"),
    ("engine_image_dir_add", "path"),
    ("engine_image_dir_rename", "path"),
    ("engine_image_dir_rename", "new_path"),
    ("engine_image_dir_remove", "path"),
    ("engine_template_add", "template"),
    ("engine_template_rename", "template"),
    ("engine_template_rename", "new_template"),
    ("engine_template_remove", "template"),
];

/// Ways out of the root, and the server's own files.
const ATTACKS: &[&str] = &[
    "..",
    "../",
    "../config.json",
    "../../etc/passwd",
    "./../../etc/passwd",
    "units/..",
    "units/../config.json",
    "units/../../x.js",
    "units/./a.js",
    "./units/a.js",
    ".",
    "./",
    "units/a.js/..",
    "units/.../a.js",
    "/",
    "//",
    "/etc/passwd",
    "//server/share",
    "units//a.js",
    "/units/a.js",
    "units/a.js//",
    "\\etc\\passwd",
    "units\\..\\config.json",
    "..\\config.json",
    "units/..\\..\\x.js",
    "\\\\?\\C:\\x",
    "C:/windows/win.ini",
    "c:units/a.js",
    "units/a.js:stream",
    "units/a.js::$DATA",
    "file:///etc/passwd",
    "http://example.com/a.js",
    "units/a.js\0",
    "units/\0/a.js",
    "units/a.js\n",
    "%2e%2e/config.json",
    "units/%2e%2e/%2e%2e/x.js",
    "..%2fconfig.json",
    "units%2f..%2fx.js",
    "%252e%252e/x",
    "..%c0%af..%c0%afetc",
    "%00",
    "units/a.js%00.htm",
    "\u{ff0e}\u{ff0e}/config.json",
    "units\u{ff0f}a.js",
    "units\u{2215}..\u{2215}x.js",
    "units\u{2044}a.js",
    "\u{2025}/config.json",
    "units/con.js",
    "units/NUL.js",
    "units/com1.js",
    "units/lpt9",
    "units/a.js.",
    "units/a.js ",
    " units/a.js",
    "~/x",
    ".git/config",
    "units/.htaccess",
    ".env",
    "units/\u{202e}sj.a",
    "units/a\u{200b}.js",
    "./../../x",
    "config.json",
    "./../config.json",
    "CONFIG.JSON",
    "admin.here",
    "shop.lock",
    "core/store.db",
    "core/versions/ab/cd",
    "Core/tmp/x",
];
