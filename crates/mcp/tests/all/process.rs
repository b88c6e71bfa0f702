//! The server as a process of its own: how it starts and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The example that serves by hand; built with the tests.
fn server(home: &TempDir) -> Command {
    let folder: PathBuf =
        std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("examples");
    let mut command = Command::new(folder.join("stdio"));
    command
        .env("SHOPWRIGHT_HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn ends_well(mut child: Child) -> String {
    drop(child.stdin.take());
    let since = Instant::now();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    said
}

fn discover() -> String {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}})
    )
}

#[test]
fn a_probe_and_a_server_run_side_by_side() {
    let home = TempDir::new().unwrap();
    let mut probe = server(&home).spawn().unwrap();
    let mut real = server(&home).spawn().unwrap();
    for child in [&mut probe, &mut real] {
        child.stdin.as_mut().unwrap().write_all(discover().as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["result"]["resultType"], "complete");
    }
    assert!(ends_well(probe).is_empty());
    assert!(ends_well(real).is_empty());
}

#[test]
fn input_from_a_file_is_answered_and_then_the_process_ends() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("input");
    std::fs::write(&path, discover()).unwrap();
    let child = server(&home).stdin(std::fs::File::open(&path).unwrap()).spawn().unwrap();
    assert!(ends_well(child).contains("supportedVersions"));
    let child = server(&home).stdin(Stdio::null()).spawn().unwrap();
    assert!(ends_well(child).is_empty());
}

#[test]
fn sockets_serve_as_well_as_pipes() {
    let home = TempDir::new().unwrap();
    let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let (mut answers, output) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut command = server(&home);
    command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
    command.stdout(Stdio::from(std::os::fd::OwnedFd::from(output)));
    let mut child = command.spawn().unwrap();
    drop(command);
    ours.write_all(discover().as_bytes()).unwrap();
    drop(ours);
    let mut said = String::new();
    answers.read_to_string(&mut said).unwrap();
    assert!(said.contains("supportedVersions"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_host_that_takes_no_output_any_more_ends_the_process() {
    let home = TempDir::new().unwrap();
    let mut child = server(&home).spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        let _ = input.write_all(b"garbage\n");
        std::thread::sleep(Duration::from_millis(10));
        assert!(since.elapsed() < Duration::from_secs(5));
    }
}
