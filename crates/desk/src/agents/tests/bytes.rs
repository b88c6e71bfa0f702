//! Only our part's bytes change.

use home::Approval;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::json_text::JsonText;
use super::{json_files, launch, markdown, toml, usual};

/// A file with everything that a parser and a printer would lay out anew.
const ODD: &str = "{\r\n\t\"z\" : 12345678901234567890123456789.10,\r\n\t\"a\":[1,2 ,\r\n3], \"n\": 1.0, \"e\": 1e400,\r\n\t\
                   \"t\": \"\\u0041\\/\", \"dup\": 1, \"dup\": 2,\r\n\t\"mcpServers\":{\"mine\":{\"command\" :\"x\"}},\r\n\t\
                   \"b\": {  }\r\n}\r\n";

#[test]
fn everything_else_of_a_json_file_stays_byte_for_byte() {
    let after = json_files::claude_code(ODD, &usual()).unwrap();
    let at = ODD.find("{\"command\" :\"x\"}").unwrap() + "{\"command\" :\"x\"}".len();
    let (before, behind) = ODD.split_at(at);
    assert!(after.starts_with(before) && after.ends_with(behind), "{after}");
    let ours = &after[before.len()..after.len() - behind.len()];
    let expected = ", \"shopwright\": {\"command\": \"/opt/shop wright/bin\", \"args\": [\"mcp\", \"--store\", \"/stores/it's tea\"]}";
    assert_eq!(ours, expected);
    assert_eq!(json_files::claude_code(&after, &usual()), Some(after.clone()));
}

#[test]
fn a_laid_out_file_keeps_its_indentation_and_line_ends() {
    let before = "\u{feff}{\r\n    \"mcpServers\": {\r\n        \"mine\": {}\r\n    }\r\n}";
    let after = json_files::gemini(before, &usual()).unwrap();
    let expected = "\u{feff}{\r\n    \"mcpServers\": {\r\n        \"mine\": {},\r\n        \"shopwright\": {\r\n            \
                    \"command\": \"/opt/shop wright/bin\",\r\n            \"args\": [\"mcp\", \"--store\", \"/stores/it's tea\"]\r\n        \
                    }\r\n    }\r\n}";
    assert_eq!(after, expected);
}

#[test]
fn a_change_of_the_home_touches_one_value() {
    let text = json_files::opencode("", &launch()).unwrap();
    let other = super::Launch { env: vec![("SHOPWRIGHT_HOME", "/other".to_owned())], ..launch() };
    assert_eq!(json_files::opencode(&text, &other), Some(text.replace("\"/h\"", "\"/other\"")));
    let gone = json_files::opencode(&text, &usual()).unwrap();
    assert_eq!(gone, json_files::opencode("", &usual()).unwrap());
}

#[test]
fn an_empty_file_is_filled_and_keeps_its_mark() {
    let fresh = json_files::gemini("", &usual()).unwrap();
    assert!(fresh.starts_with("{\n  \"mcpServers\": {\n"), "{fresh}");
    assert_eq!(json_files::gemini("\u{feff}", &usual()), Some(format!("\u{feff}{fresh}")));
    assert_eq!(json_files::gemini("{}\n", &usual()), Some(fresh));
    let one_line = json_files::gemini("{\"a\": 1}", &usual()).unwrap();
    assert!(!one_line.contains('\n'), "{one_line}");
}

#[test]
fn comments_stay() {
    let before = "// mine\n{\n  // theme\n  \"theme\": \"dark\", // here\n  /* last */\n}\n";
    let after = json_files::gemini(before, &usual()).unwrap();
    for kept in ["// mine\n{\n  // theme\n  \"theme\": \"dark\",", " // here\n  /* last */\n}\n"] {
        assert!(after.contains(kept), "{after}");
    }
    assert_eq!(json_files::gemini(&after, &usual()), Some(after.clone()));
}

#[test]
fn codex_keeps_line_ends_mark_and_comments() {
    let before = "\u{feff}# mine\r\nmodel = \"x\"   # fast\r\n\r\n[mcp_servers.shopwright]\r\ncommand = \"old\"  # ours\r\n";
    let after = toml::codex(before, &launch()).unwrap();
    assert!(
        after.starts_with("\u{feff}# mine\r\nmodel = \"x\"   # fast\r\n\r\n[mcp_servers.shopwright]\r\n"),
        "{after:?}"
    );
    assert!(after.contains("command = \"/opt/shop wright/bin\"  # ours\r\n"), "{after:?}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
    assert_eq!(toml::codex(&after, &launch()), Some(after.clone()));
}

#[test]
fn a_page_of_a_person_keeps_its_space_and_line_ends() {
    let before = "# Mine  \r\n\r\n\r\n";
    let after = markdown::section(before, &usual()).unwrap();
    assert!(after.starts_with("# Mine  \r\n\r\n\r\n\r\n<!-- shopwright: begin -->\r\n"), "{after:?}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    assert_eq!(markdown::section(&after, &usual()), Some(after.clone()));
    // A page that ends with half of a line's end, and one that a person gave other line ends.
    for text in ["{\r", "# Mine\r", "\r", "a\r\n\r"] {
        let once = markdown::section(text, &usual()).unwrap();
        assert_eq!(markdown::section(&once, &usual()), Some(once.clone()), "{text:?}");
    }
    let other = after.replace("\r\n", "\n");
    assert_eq!(markdown::section(&other, &usual()), Some(other.clone()));
}

#[test]
fn approval_is_as_the_person_chose() {
    let chosen = |approval| super::Launch { approval: Some(approval), ..usual() };
    let (ask, approve) = (chosen(Approval::Ask), chosen(Approval::Approve));
    let mode = "default_tools_approval_mode";
    assert!(!toml::codex("", &usual()).unwrap().contains(mode));
    let codex = toml::codex("", &approve).unwrap();
    assert!(codex.contains("default_tools_approval_mode = \"approve\""), "{codex}");
    assert!(toml::codex(&codex, &ask).unwrap().contains("default_tools_approval_mode = \"prompt\""));
    // Nothing chosen: what a person wrote stays.
    assert_eq!(toml::codex(&codex, &usual()), Some(codex.clone()));
    let gemini = json_files::gemini("", &approve).unwrap();
    assert!(gemini.contains("\"trust\": true"), "{gemini}");
    assert!(json_files::gemini(&gemini, &ask).unwrap().contains("\"trust\": false"));
    let mine = "{\"permissions\": {\"allow\": [\"mine\"]}}";
    let claude = json_files::claude_settings(mine, &approve).unwrap();
    let allowed = |text: &str| serde_json::from_str::<Value>(text).unwrap()["permissions"]["allow"].clone();
    assert_eq!(allowed(&claude), json!(["mine", "mcp__shopwright"]));
    assert_eq!(allowed(&json_files::claude_settings(&claude, &ask).unwrap()), json!(["mine"]));
}

#[test]
fn codex_hands_on_what_the_server_reads() {
    let text = toml::codex("[mcp_servers.shopwright]\nenv_vars = [\"MINE\"]\n", &usual()).unwrap();
    for name in ["MINE", "SHOPWRIGHT_EVENT", "SHOPWRIGHT_KEYRING", "DBUS_SESSION_BUS_ADDRESS"] {
        assert!(text.contains(&format!("\"{name}\"")), "{name}: {text}");
    }
}

/// A value with space, comments and commas strewn in as a person might.
fn odd_object() -> impl Strategy<Value = String> {
    let space =
        prop_oneof![Just(""), Just(" "), Just("\n  "), Just("\r\n\t"), Just(" // c\n"), Just("/* , } */")];
    let scalar = prop_oneof![
        Just("1e5".to_owned()),
        Just("\"a\\\"}\\\\\"".to_owned()),
        Just("null".to_owned()),
        "-?[1-9][0-9]{0,30}"
    ];
    let value = scalar.prop_recursive(3, 12, 3, move |inner| {
        let member = (inner.clone(), space.clone(), "[a-c]")
            .prop_map(|(value, space, key)| format!("\"{key}\"{space}:{space}{value}{space}"));
        let comma = prop_oneof![Just(""), Just(",")];
        prop_oneof![
            (prop::collection::vec(member, 1..4), comma.clone(), space.clone())
                .prop_map(|(members, comma, space)| format!("{{{}{comma}{space}}}", members.join(","))),
            (prop::collection::vec(inner, 0..3), space.clone())
                .prop_map(|(items, space)| format!("[{space}{}{space}]", items.join(","))),
        ]
    });
    prop::collection::vec((value, "[a-c]"), 0..4).prop_map(|members| {
        let members: Vec<String> = members.iter().map(|(value, key)| format!("\"{key}\": {value}")).collect();
        format!("{{{}}}", members.join(",\n"))
    })
}

proptest! {
    #[test]
    fn what_is_set_is_there_and_what_is_removed_leaves_the_rest(text in odd_object()) {
        let mut file = JsonText::read(&text).unwrap();
        prop_assume!(file.get(&["a"]).is_none_or(|value| value.is_object()));
        let before: Vec<Option<Value>> = ["b", "c"].iter().map(|key| file.get(&[*key])).collect();
        file.set(&["a", "new", "x"], &json!("one")).unwrap();
        file.set(&["a", "new", "x"], &json!({"y": [1, "two"]})).unwrap();
        prop_assert_eq!(file.get(&["a", "new", "x", "y"]), Some(json!([1, "two"])));
        let after: Vec<Option<Value>> = ["b", "c"].iter().map(|key| file.get(&[*key])).collect();
        prop_assert_eq!(before, after);
        // Every byte that was there is there, in its order.
        let changed = file.finish();
        let mut bytes = changed.bytes();
        prop_assert!(text.bytes().all(|byte| bytes.any(|other| other == byte)), "{}\n->\n{}", text, changed);
        let mut file = JsonText::read(&changed).unwrap();
        file.remove(&["a", "new"]).unwrap();
        let removed = file.finish();
        let mut file = JsonText::read(&removed).unwrap();
        prop_assert_eq!(file.get(&["a", "new"]), None);
        file.push(&["list"], &json!("x")).unwrap();
        file.push(&["list"], &json!("y")).unwrap();
        prop_assert_eq!(file.get(&["list"]), Some(json!(["x", "y"])));
        file.take_out(&["list"], &json!("y")).unwrap();
        prop_assert_eq!(file.get(&["list"]), Some(json!(["x"])));
    }
}
