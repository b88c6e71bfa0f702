//! The example of two nodes (`compose.yaml`, `deploy/`): it is not run here, but its parts must fit each other and
//! the binary.

use std::collections::BTreeMap;
use std::process::{Command, Output};

use yaml_rust2::{Yaml, YamlLoader};

use crate::workspace::root;

/// Connections that a node holds at most: see `db/src/driver/postgres`.
const OF_A_NODE: usize = 16 + 4 + 1;

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

fn compose() -> Yaml {
    let mut all = YamlLoader::load_from_str(&read("compose.yaml")).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// The services; one that takes over all of another is that one.
fn services() -> BTreeMap<String, Yaml> {
    let compose = compose();
    let services = compose["services"].as_hash().unwrap().iter();
    let named = services.map(|(name, service)| {
        let same = &service["<<"];
        let service = if same.is_badvalue() { service } else { same };
        (name.as_str().unwrap().to_owned(), service.clone())
    });
    named.collect()
}

fn words(list: &Yaml) -> Vec<&str> {
    list.as_vec().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

/// The services that serve, with the port each listens on.
fn nodes() -> BTreeMap<String, String> {
    let serving = services().into_iter().filter_map(|(name, service)| {
        let command = service["command"].as_vec().filter(|command| command[0].as_str() == Some("serve"))?;
        let command: Vec<&str> = command.iter().filter_map(Yaml::as_str).collect();
        let listen = command.iter().position(|word| *word == "--listen").unwrap();
        let (address, port) = command[listen + 1].rsplit_once(':').unwrap();
        assert_eq!(address, "0.0.0.0", "a node that only itself can reach");
        Some((name, port.to_owned()))
    });
    serving.collect()
}

/// The binary's opinion of a command; `--help` keeps it from being carried out.
fn understood(command: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shopwright")).args(command).arg("--help").output().unwrap()
}

#[test]
fn the_services_are_two_nodes_a_database_and_a_proxy() {
    let names: Vec<String> = services().into_keys().collect();
    assert_eq!(names, ["database", "init", "node-1", "node-2", "proxy"]);
    assert_eq!(nodes().into_keys().collect::<Vec<_>>(), ["node-1", "node-2"]);
    let services = services();
    assert_eq!(services["node-1"], services["node-2"]);
    for (name, service) in &services {
        assert!(service["image"].as_str().is_some(), "{name} has no image");
        for (after, how) in service["depends_on"].as_hash().into_iter().flatten() {
            let after = &services[after.as_str().unwrap()];
            let how = how["condition"].as_str().unwrap();
            let fits = match how {
                "service_healthy" => !after["healthcheck"]["test"].is_badvalue(),
                "service_completed_successfully" => after["restart"].is_badvalue(),
                _ => false,
            };
            assert!(fits, "{name} waits for what does not happen: {how}");
        }
        for volume in service["volumes"].as_vec().into_iter().flatten() {
            let (from, _) = volume.as_str().unwrap().split_once(':').unwrap();
            let is_there = match from.strip_prefix("./") {
                Some(file) => root().join(file).is_file(),
                None => {
                    !compose()["volumes"].as_hash().unwrap()[&Yaml::String(from.to_owned())].is_badvalue()
                }
            };
            assert!(is_there, "{name}: {from}");
        }
    }
}

#[test]
fn the_nodes_commands_are_commands_of_the_binary() {
    let output = understood(&["serve", "--no-such-word"]);
    assert_eq!(output.status.code(), Some(2), "what the binary does not know, it refuses in spite of --help");
    for name in nodes().keys() {
        let services = services();
        let output = understood(&words(&services[name]["command"]));
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_node_is_asked_for_its_health_where_it_tells_it() {
    let http = read("crates/engine/src/http.rs");
    for (name, port) in nodes() {
        let services = services();
        let test = words(&services[&name]["healthcheck"]["test"]);
        let path = test.last().unwrap().strip_prefix(&format!("http://127.0.0.1:{port}")).unwrap().to_owned();
        assert!(http.contains(&format!("\"{path}\"")), "the engine has no {path}");
        assert!(read("Dockerfile").contains(&format!(" {} ", test[1])), "the image has no {}", test[1]);
    }
}

#[test]
fn the_proxy_knows_the_nodes_and_they_believe_it() {
    let proxy = read("deploy/nginx.conf");
    let known: BTreeMap<String, String> = proxy
        .lines()
        .filter_map(|line| line.trim().strip_prefix("server ")?.split([' ', ';']).next()?.split_once(':'))
        .map(|(node, port)| (node.to_owned(), port.to_owned()))
        .collect();
    assert_eq!(known, nodes());
    for header in ["Host $http_host", "X-Forwarded-For $proxy_add_x_forwarded_for"] {
        assert!(proxy.contains(&format!("proxy_set_header {header};")), "{header}");
    }
    assert!(!proxy.contains("non_idempotent"), "a proxy that repeats writes");
    let published = services()["proxy"]["ports"][0].as_str().unwrap().to_owned();
    let inside = published.rsplit(':').next().unwrap();
    assert!(proxy.contains(&format!("listen {inside};")));
    let network =
        compose()["networks"]["default"]["ipam"]["config"][0]["subnet"].as_str().unwrap().to_owned();
    assert!(read("deploy/init").contains(&format!("[\"{network}\"]")), "init names another network");
}

#[test]
fn the_database_is_the_one_that_the_store_is_made_in() {
    let services = services();
    let database = &services["database"];
    let of = |key: &str| database["environment"][key].as_str().unwrap();
    let url = services["init"]["environment"]["DATABASE_URL"].as_str().unwrap();
    // Secret lines are for servers elsewhere: this network is the store's alone.
    let url = url.trim_end_matches("?sslmode=disable");
    let (user, name) = (of("POSTGRES_USER"), of("POSTGRES_DB"));
    assert_eq!(url, format!("postgres://{user}:${{DATABASE_PASSWORD}}@database/{name}"));
    assert!(of("POSTGRES_PASSWORD").starts_with("${DATABASE_PASSWORD:?"));
    let command = words(&database["command"]);
    let most = command.iter().find_map(|word| word.strip_prefix("max_connections=")).unwrap();
    assert!(most.parse::<usize>().unwrap() > nodes().len() * OF_A_NODE + 10);
}

#[test]
fn the_image_is_built_with_the_toolchain_the_workspace_asks_for() {
    let workspace: toml::Value = toml::from_str(&read("Cargo.toml")).unwrap();
    let version = workspace["workspace"]["package"]["rust-version"].as_str().unwrap();
    let image = read("Dockerfile");
    assert!(image.contains(&format!("FROM rust:{version}-")));
    let init = services()["init"]["entrypoint"][1].as_str().unwrap().to_owned();
    assert!(image.contains(&format!("COPY deploy/init {init}\n")));
    for secret in [".env", "target"] {
        assert!(read(".dockerignore").lines().any(|line| line == secret), "{secret} goes into the image");
    }
}

#[test]
fn the_store_is_made_as_the_script_expects() {
    let folder = tempfile::tempdir().unwrap();
    let script = read("deploy/init")
        .replace("/srv/shop", &folder.path().join("shop").display().to_string())
        .replace("shopwright store", &format!("{} store", env!("CARGO_BIN_EXE_shopwright")));
    let run = || {
        let output = Command::new("sh")
            .args(["-c", &script])
            .env("ADMIN_PASSWORD", "correct horse")
            .env("DATABASE_URL", "sqlite:core/store.db")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(folder.path().join("shop/config.json")).unwrap()
    };
    let config = run();
    let settings: serde_json::Value = serde_json::from_str(&config).unwrap();
    assert_eq!(settings["trusted_proxies"], serde_json::json!(["172.28.5.0/24"]));
    assert_eq!(run(), config, "a store that is there stays as it is");
}
