//! An agent's way: units made, broken, shared and brought back, seen from outside; hostile texts; paths that lead out.

use std::fs;

use db::schema::{self, Access, Words};
use serde_json::{Value, json};
use testkit::{Client, TestStore, ToolAnswer, Trying};

use crate::setup::{is_row, store};

/// A session of the administrator with the rules of `engine_` and `shop_` accepted.
fn developer(trying: &Trying) -> Client {
    let mut client = trying.connected().unwrap();
    client.accept_rules("engine_map_tree", json!({})).unwrap();
    client.accept_rules("shop_page", json!({})).unwrap();
    client
}

/// The home page as a visitor gets it.
fn home(client: &mut Client) -> String {
    let data = client.done("shop_page", json!({"url": "/", "find": "zzz"})).unwrap();
    assert_eq!(data["status"], 200);
    fs::read_to_string(data["file"].as_str().unwrap()).unwrap()
}

fn save(client: &mut Client, code: &str, base: Option<&Value>) -> ToolAnswer {
    let mut arguments = json!({"path": "units/tea_day.js", "content": code});
    if let Some(base) = base {
        arguments["base"] = base.clone();
    }
    client.call("engine_unit_save", arguments).unwrap()
}

const GOOD: &str = "export function main() {\n  return shop.render('main.htm', { tea: 'Assam' });\n}\n";

#[test]
fn a_unit_is_made_shown_broken_shared_and_brought_back() {
    let store = store();
    let trying = store.start("admin").unwrap();
    let mut client = developer(&trying);
    let before = home(&mut client);

    // Made, included in a template, seen from outside.
    client.done("engine_unit_add", json!({"path": "units/tea_day.js"})).unwrap();
    let own = "templates/default/units/tea_day/main.htm";
    let body = "<p>Tea of the day: {{ tea }}</p>";
    client.done("engine_html_save", json!({"path": own, "content": body})).unwrap();
    let answer = save(&mut client, GOOD, None);
    assert!(!answer.refused(), "{}", answer.text());
    let good = answer.data()["version"].clone();
    let path = "templates/default/units/home/main.htm";
    let loaded = client.call("engine_html_load", json!({"path": path})).unwrap();
    let template = fs::read_to_string(store.root().join(path)).unwrap();
    let with_unit = template.replacen("{% block body %}", "{% block body %}{{ unit('tea_day') }}", 1);
    assert_ne!(template, with_unit);
    let arguments = json!({"path": path, "content": with_unit, "base": loaded.data()["version"]});
    client.done("engine_html_save", arguments).unwrap();
    assert!(home(&mut client).contains("<p>Tea of the day: Assam</p>"));

    // A mistake of syntax is not saved, and says where it is.
    let text = save(&mut client, "export function main() {\n  return (;\n}\n", None).text();
    assert!(text.starts_with("Syntax error: units/tea_day.js:2:"), "{text}");
    assert!(home(&mut client).contains("<p>Tea of the day: Assam</p>"));
    let text = client.refused("engine_html_save", json!({"path": own, "content": "<p>\n{% if %}"})).unwrap();
    assert!(text.starts_with(&format!("Syntax error: {own}:2:")), "{text}");

    // What fails only when it runs is left out of the page; the log says where it was.
    let broken = save(&mut client, "export function main() {\n  return prices.today();\n}\n", Some(&good));
    assert!(broken.data()["warning"].as_str().unwrap().contains("Undeclared"), "{}", broken.text());
    let page = home(&mut client);
    assert!(!page.contains("Tea of the day") && !page.contains("ReferenceError"));
    assert!(page.len() >= before.len() - 64, "the rest of the page is there");
    let log = json!({"path": "core/log/units.log", "output": "units.log"});
    let log = client.done("engine_whole_load", log).unwrap();
    let log = fs::read_to_string(log["file"].as_str().unwrap()).unwrap();
    assert!(log.contains("Module Runtime Exception: tea_day:2:10: ReferenceError"), "{log}");

    // Another agent saved meanwhile: the difference is shown, and nothing is written.
    let mut other = developer(&trying);
    let base = broken.data()["version"].clone();
    let theirs = GOOD.replace("Assam", "Darjeeling");
    assert!(!save(&mut other, &theirs, Some(&base)).refused());
    let text = save(&mut client, &GOOD.replace("Assam", "Ceylon"), Some(&base)).text();
    assert!(is_row(&text, "changed_since"), "{text}");
    assert!(text.contains("-  return prices.today();") && text.contains("Darjeeling"), "{text}");
    assert!(home(&mut client).contains("Darjeeling"));

    // Back to what it was.
    let list = client.done("engine_history_list", json!({"path": "units/tea_day.js"})).unwrap();
    let versions = list["versions"]["rows"].as_array().unwrap();
    assert!(versions.iter().any(|row| row[0] == good), "{versions:?}");
    client.done("engine_history_restore", json!({"id": good})).unwrap();
    assert!(home(&mut client).contains("<p>Tea of the day: Assam</p>"));
}

#[test]
fn whoever_may_change_files_may_read_them() {
    let store = store();
    store.store_command("grant", &["--login", "irina", "AGENT_ENGINE_DEV_WRITE"]).unwrap();
    let trying = store.start("irina").unwrap();
    let mut client = trying.client().unwrap();
    let connected = client.connect("develops").unwrap();
    let granted = connected["granted"].as_array().unwrap();
    for tool in ["engine_unit_save", "engine_unit_load", "engine_map_tree", "engine_whole_load", "shop_page"]
    {
        assert!(granted.contains(&json!(tool)), "{tool}: {granted:?}");
    }
    client.accept_rules("engine_map_tree", json!({})).unwrap();
    client.done("engine_unit_load", json!({"path": "units/home.js"})).unwrap();
}

/// Markup, templates, quotes and what turns the direction of text.
const HOSTILE: &str = "{{ 7*191 }}{% raw %}{# x #}\u{202e}\u{2066}</title></textarea></style></script>\
                       <script>alert(7)</script><img src=x onerror=alert(8)>\" onmouseover=\"alert(9)\" x='&#60;b>' ";

/// Columns whose words are somebody's, and that no page is found by.
fn poisoned_columns(store: &TestStore<'_>) -> usize {
    let mut count = 0;
    for table in schema::tables().filter(|table| table.access != Access::Secret) {
        // Addresses of pages, names of files and of people who sign in lead to what is looked at.
        if ["slugs", "file_versions", "users", "user_groups"].contains(&table.name) {
            continue;
        }
        for column in table.columns().filter(|column| column.words != Words::None && !column.is_secret) {
            let (table, column, text) = (table.name, column.name, HOSTILE.replace('\'', "''"));
            let numbered = format!("update {table} set {column} = '{text}' || id where {column} <> ''");
            // What must be of one of some forms (JSON, a country, a list of values) takes no such text.
            if store.sql(&numbered).is_ok() {
                count += 1;
            }
        }
    }
    count
}

fn addresses(store: &TestStore<'_>) -> Vec<String> {
    let mut found =
        vec!["/".to_owned(), "/search?q=tea".to_owned(), "/contact".to_owned(), "/no/such".to_owned()];
    for entity in ["products", "categories", "brands", "pages"] {
        let sql = format!(
            "select path from slugs where entity = '{entity}' and state = 'kCurrent' and language = 'en' order by id limit 3"
        );
        found.extend(
            store
                .query(&sql)
                .unwrap()
                .into_iter()
                .flatten()
                .map(|path| format!("/{}", path.trim_matches('/'))),
        );
    }
    found
}

/// The tags of a page without the values of their attributes: what stands in quotes there is text.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    for (at, _) in page.match_indices('<') {
        let rest = &page[at + 1..];
        if !rest.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            continue;
        }
        let (mut tag, mut quote) = (String::new(), None);
        for letter in rest.chars() {
            match quote {
                Some(open) if letter == open => quote = None,
                Some(_) => {}
                None if letter == '>' => break,
                None if letter == '"' || letter == '\'' => quote = Some(letter),
                None => tag.push(letter),
            }
        }
        tags.push(tag);
    }
    tags
}

#[test]
fn the_tags_of_a_page_are_told_without_the_values_of_attributes() {
    let page = "<p title=\"a > onerror\" id='x'>\" onerror=\"</p><img src=x onerror=alert(1)>";
    assert_eq!(tags(page), ["p title= id=", "img src=x onerror=alert(1)"]);
}

#[test]
fn hostile_texts_in_every_column_are_inert_on_pages() {
    let store = store();
    let addresses = addresses(&store);
    assert!(addresses.len() > 8, "{addresses:?}");
    let columns = poisoned_columns(&store);
    assert!(columns > 40, "{columns}");
    let trying = store.start("admin").unwrap();
    let mut client = developer(&trying);
    let mut reached = 0;
    let query = format!("/search?q={}", "%3Cscript%3Ealert(7)%3C%2Fscript%3E%22%20onmouseover%3D%22alert(9)");
    for address in addresses.iter().chain([&query]) {
        let data = client.done("shop_page", json!({"url": address, "find": "zzz"})).unwrap();
        assert!([200, 404].contains(&data["status"].as_u64().unwrap()), "{address}: {data}");
        let page = fs::read_to_string(data["file"].as_str().unwrap()).unwrap();
        reached += usize::from(page.contains("alert(7)"));
        for live in ["<script>alert", "<img src=x", "1337", "\u{202e}", "\u{2066}"] {
            let around =
                page.find(live).map(|at| &page[page.floor_char_boundary(at.saturating_sub(200))..at]);
            assert!(around.is_none(), "{address}: `{live}` is live behind {around:?}");
        }
        let handler =
            tags(&page).into_iter().find(|tag| tag.contains("onmouseover") || tag.contains("onerror"));
        assert_eq!(handler, None, "{address}");
    }
    assert!(reached > 5, "the texts are on {reached} pages only");
}

/// Paths by which one tries to get out of a folder.
fn ways_out() -> Vec<String> {
    let targets = ["secret.txt", "server/config.json", "etc/passwd"];
    let dots = [
        "../",
        "..\\",
        "%2e%2e/",
        "%2e%2e%2f",
        "..%2f",
        "%252e%252e%252f",
        "....//",
        "..;/",
        "./../../",
        ".\u{200b}./",
        "\u{2024}\u{2024}/",
        "\u{ff0e}\u{ff0e}\u{ff0f}",
        "..%c0%af",
        "..%5c",
        "units/../../",
        "units/./../../",
        "/../",
        "//../",
        "core/log/../../../",
        "templates/default/../../../",
        "~/../",
        "..\u{0}/",
    ];
    let mut ways: Vec<String> =
        dots.iter().flat_map(|dots| targets.map(|target| format!("{dots}{target}"))).collect();
    ways.extend(
        [
            "/etc/passwd",
            "file:///etc/passwd",
            "C:\\Windows\\win.ini",
            "\\\\host\\share\\x",
            "config.json",
            "CONFIG.JSON",
            "config.json ",
            "config.json.",
            "core/store.db",
            "Core/Store.db",
            "core/versions/aa",
            "admin.here",
            "shop.lock",
            "units/home.js\u{0}.png",
            "units/con",
            "units/nul.js",
            "units/home.js:stream",
            "link/secret.txt",
        ]
        .map(str::to_owned),
    );
    ways
}

#[test]
fn no_path_leads_out_of_the_store() {
    let store = store();
    fs::write(store.folder().join("secret.txt"), "s3cr3t-outside").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(store.folder(), store.root().join("link")).unwrap();
    store
        .config(|config| {
            config.insert("debug_code".to_owned(), "s3cr3t-code".into());
        })
        .unwrap();
    let trying = store.start("admin").unwrap();
    let mut client = developer(&trying);
    let ways = ways_out();
    assert!(ways.len() >= 60, "{}", ways.len());
    for (at, way) in ways.iter().enumerate() {
        let text =
            client.refused("engine_whole_load", json!({"path": way, "output": format!("got/{at}")})).unwrap();
        let rows = ["outside_store", "config_closed", "server_marker", "file_not_found"];
        assert!(rows.iter().any(|row| is_row(&text, row)), "{way:?}: {text}");
        for (tool, arguments) in [
            ("shop_page", json!({"url": way})),
            ("shop_page", json!({"url": format!("/statics/{way}")})),
            ("shop_module", json!({"url": way})),
            ("shop_agent", json!({"mod": way})),
            ("shop_agent", json!({"mod": format!("agent_{way}")})),
        ] {
            let answer = client.call(tool, arguments).unwrap();
            let shown = answer.texts().join("\n");
            assert!(!shown.contains("s3cr3t") && !shown.contains("root:"), "{tool} {way:?}: {shown}");
            if tool == "shop_agent" {
                assert!(is_row(&answer.text(), "agent_units_only"), "{way:?}: {shown}");
            } else if !answer.refused() {
                let file = answer.data()["file"].as_str().unwrap().to_owned();
                let page = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
                assert!(!page.contains("s3cr3t") && !page.contains("root:"), "{tool} {way:?}");
                let folder = store.store().canonicalize().unwrap().join("mcp");
                assert!(fs::canonicalize(&file).unwrap().starts_with(folder), "{file}");
            }
        }
    }
    assert!(
        !store.store().join("got").exists() || fs::read_dir(store.store().join("got")).unwrap().count() == 0
    );
    #[cfg(unix)]
    {
        // A link on the way to `output` is not followed.
        std::os::unix::fs::symlink(store.folder(), store.store().join("away")).unwrap();
        let arguments = json!({"path": "units/home.js", "output": "away/x.js"});
        let text = client.refused("engine_whole_load", arguments).unwrap();
        assert!(is_row(&text, "folder_not_made"), "{text}");
    }
}
