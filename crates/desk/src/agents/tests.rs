//! Tests of the agent applications' files: ours is written, people's stays.

mod bytes;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{FILES, Launch, Problem, copies, json as json_files, markdown, toml, write_all};

fn launch() -> Launch {
    Launch {
        command: "/opt/shop wright/bin".to_owned(),
        args: vec!["mcp".to_owned(), "--store".to_owned(), "/stores/it's tea".to_owned()],
        env: vec![("SHOPWRIGHT_HOME", "/h".to_owned())],
        approval: None,
    }
}

fn usual() -> Launch {
    Launch { env: Vec::new(), ..launch() }
}

fn parsed(text: Option<String>) -> Value {
    serde_json::from_str(&text.unwrap()).unwrap()
}

#[test]
fn people_entries_stay() {
    let before = r#"{"other": 1, "mcpServers": {"mine": {"command": "x"}, "shopwright": {"command": "old",
        "args": ["old"], "timeout": 9, "env": {"SHOPWRIGHT_LOG": "info", "SHOPWRIGHT_HOME": "/old"}}}}"#;
    let after = parsed(json_files::claude_code(before, &launch()));
    let server = &after["mcpServers"]["shopwright"];
    assert_eq!((&after["other"], &after["mcpServers"]["mine"]["command"]), (&json!(1), &json!("x")));
    assert_eq!(server["command"], "/opt/shop wright/bin");
    assert_eq!(server["timeout"], 9);
    assert_eq!(server["env"], json!({"SHOPWRIGHT_LOG": "info", "SHOPWRIGHT_HOME": "/h"}));
    let after = parsed(json_files::claude_code(before, &usual()));
    assert_eq!(after["mcpServers"]["shopwright"]["env"], json!({"SHOPWRIGHT_LOG": "info"}));
}

#[test]
fn a_file_that_says_it_already_is_not_laid_out_anew() {
    let own_layout = parsed(json_files::claude_code("", &launch())).to_string();
    assert_eq!(json_files::claude_code(&own_layout, &launch()), Some(own_layout));
    let codex = "# mine\n[mcp_servers]\nshopwright = { command = \"/opt/shop wright/bin\", args = [\"mcp\", \
                 '--store', \"/stores/it's tea\"], env = { SHOPWRIGHT_HOME = \"/h\" }, env_vars = [\"MINE\"] } # here\n";
    let after = toml::codex(codex, &launch()).unwrap();
    assert!(after.starts_with(&codex[..codex.len() - " } # here\n".len() - "]".len()]), "{after}");
    assert!(after.ends_with(" } # here\n"), "{after}");
    assert_eq!(toml::codex(&after, &launch()), Some(after.clone()));
}

#[test]
fn comments_and_other_tables_of_codex_stay() {
    let before = "# mine\nmodel = \"x\" # fast\n\n[mcp_servers.mine]\ncommand = \"y\"\n\n[mcp_servers.shopwright]\n\
                  command = \"old\"\nstartup_timeout_sec = 20\nenv = { A = \"1\", SHOPWRIGHT_HOME = \"/old\" }\n";
    let after = toml::codex(before, &usual()).unwrap();
    for kept in
        ["# mine", "model = \"x\" # fast", "[mcp_servers.mine]", "startup_timeout_sec = 20", "A = \"1\""]
    {
        assert!(after.contains(kept), "{kept} is gone:\n{after}");
    }
    assert!(after.contains("\"/stores/it's tea\"") && !after.contains("/old"), "{after}");
    assert_eq!(toml::codex(&after, &usual()).as_deref(), Some(after.as_str()));
}

#[test]
fn a_server_that_a_person_turned_off_stays_off() {
    let text = r#"{"disabledMcpjsonServers": ["shopwright"]}"#;
    assert_eq!(json_files::claude_settings(text, &usual()).as_deref(), Some(text));
    let after = parsed(json_files::claude_settings(r#"{"enabledMcpjsonServers": ["mine"]}"#, &usual()));
    assert_eq!(after["enabledMcpjsonServers"], json!(["mine", "shopwright"]));
    let after = parsed(json_files::opencode(r#"{"mcp": {"shopwright": {"enabled": false}}}"#, &usual()));
    assert_eq!(after["mcp"]["shopwright"]["enabled"], false);
}

#[test]
fn the_section_is_replaced_between_its_markers() {
    let first = markdown::section("# Mine\n\nWords.\n", &usual()).unwrap();
    assert!(first.starts_with("# Mine\n\nWords.\n\n<!-- shopwright: begin -->\n"));
    assert_eq!(markdown::section(&first, &usual()), Some(first.clone()));
    let edited = first.replace("session_init", "gone") + "\nBelow.\n";
    let again = markdown::section(&edited, &usual()).unwrap();
    assert!(again.contains("session_init") && again.ends_with("\nBelow.\n"), "{again}");
    assert_eq!(markdown::section("<!-- shopwright: begin -->\nx", &usual()), None);
    assert_eq!(markdown::section("<!-- shopwright: end -->\n<!-- shopwright: begin -->", &usual()), None);
}

#[test]
fn a_broken_file_is_left_alone_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let broken = [
        (".mcp.json", "{\"mcpServers\": []}"),
        (".claude/settings.json", "[]"),
        (".codex/config.toml", "mcp_servers = 3"),
        ("opencode.json", "{"),
        (".gemini/settings.json", "{\"mcpServers\": {\"shopwright\": 1}}"),
        (".qwen/settings.json", "{\"a\" 1}"),
        ("AGENTS.md", "<!-- shopwright: begin -->"),
    ];
    for (file, text) in broken {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    for report in write_all(folder.path(), &launch()) {
        assert_eq!(report.problem, Some(Problem::Broken), "{}", report.file);
    }
    for (file, text) in broken {
        assert_eq!(std::fs::read_to_string(folder.path().join(file)).unwrap(), text);
    }
}

#[test]
fn a_file_that_cannot_be_written_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".claude"), "in the way").unwrap();
    std::fs::create_dir(folder.path().join("AGENTS.md")).unwrap();
    let reports = write_all(folder.path(), &launch());
    let troubled: Vec<_> =
        reports.iter().filter(|report| report.problem.is_some()).map(|report| report.file).collect();
    assert_eq!(troubled, [".claude/settings.json", "AGENTS.md"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_device_in_place_of_a_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join(".mcp.json")).status().unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("opencode.json")).unwrap();
    let reports = write_all(folder.path(), &launch());
    let troubled: Vec<_> = reports
        .iter()
        .filter(|report| matches!(&report.problem, Some(Problem::Io(what)) if what.contains("regular")))
        .map(|report| report.file)
        .collect();
    assert_eq!(troubled, [".mcp.json", "opencode.json"]);
}

#[test]
fn what_is_copied_survives_a_shell() {
    let copies = copies(&launch());
    let text = |key: &str| copies.iter().find(|copy| copy.key == key).unwrap().text.clone();
    assert_eq!(
        text("claude"),
        "claude mcp add --scope user shopwright -e SHOPWRIGHT_HOME=/h -- '/opt/shop wright/bin' mcp --store '/stores/it'\\''s tea'"
    );
    for key in ["cursor", "vscode", "opencode", "other"] {
        serde_json::from_str::<Value>(&text(key)).unwrap();
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_change_fail_badly(text in "([\\[\\]{}\":,=#\n]|mcp|mcpServers|mcp_servers|shopwright|<!-- shopwright: (begin|end) -->|.){0,30}") {
        for (file, change) in FILES {
            if let Some(after) = change(&text, &launch()) {
                let again = change(&after, &launch());
                prop_assert_eq!(again.as_ref(), Some(&after), "{} is not settled", file);
            }
        }
    }
}
