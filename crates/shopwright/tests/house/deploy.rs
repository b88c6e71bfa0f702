//! The example of two nodes in `deploy/`: it is not run here, but its parts must fit each other and the binary.

use std::process::Command;

use crate::workspace::root;

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join("deploy").join(name)).unwrap()
}

#[test]
fn every_file_that_is_named_is_there() {
    let (compose, dockerfile) = (read("compose.yaml"), read("Dockerfile"));
    assert!(compose.contains("dockerfile: deploy/Dockerfile"));
    assert!(compose.contains("./nginx.conf:") && !read("nginx.conf").is_empty());
    assert!(dockerfile.contains("COPY deploy/init ") && !read("init").is_empty());
    assert!(
        compose.contains("/usr/local/lib/shopwright/init")
            && dockerfile.contains("/usr/local/lib/shopwright/init")
    );
}

#[test]
fn the_proxy_knows_the_nodes() {
    let compose = read("compose.yaml");
    let proxy = read("nginx.conf");
    let nodes: Vec<&str> = proxy
        .lines()
        .filter_map(|line| line.trim().strip_prefix("server ")?.split(':').next())
        .filter(|name| name.starts_with("node"))
        .collect();
    assert_eq!(nodes.len(), 2);
    for node in nodes {
        assert!(compose.contains(&format!("\n  {node}:")), "compose.yaml has no service {node}");
    }
    assert!(compose.contains("0.0.0.0:8420") && proxy.contains(":8420"));
    assert!(compose.contains("172.28.5.0/24") && read("init").contains("172.28.5.0/24"));
}

#[test]
fn the_toolchain_is_the_one_the_workspace_asks_for() {
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = workspace
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""))
        .unwrap()
        .trim_end_matches('"');
    assert!(read("Dockerfile").contains(&format!("FROM rust:{version}-")));
}

#[test]
fn the_store_is_made_as_the_script_expects() {
    let folder = tempfile::tempdir().unwrap();
    let script = read("init")
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
