//! Tests of the command line.

use std::fmt::Write;
use std::path::Path;

use clap::{CommandFactory, Parser};
use mcp::StorePin;

use super::{Cli, Command};

#[test]
fn clap_finds_no_fault_in_its_definition() {
    Cli::command().debug_assert();
}

#[test]
fn every_help_is_the_reviewed_one() {
    let mut text = HEAD.to_owned();
    let mut root = Cli::command().term_width(100);
    root.build();
    help_of(&mut root, &mut text);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    testkit::check_file(&file, &text).unwrap();
}

const HEAD: &str = "<!-- Generated from the command line's declaration; the tests write it anew with UPDATE=1. -->\n\n\
    # The command line\n\n\
    Exit codes: 0 done, 1 refused or failed, 2 wrong usage. Data goes to stdout, words for people to stderr. \
    Progress and colours only on a terminal, and without colours where `NO_COLOR` is set.\n";

fn help_of(command: &mut clap::Command, text: &mut String) {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let name = command.get_bin_name().unwrap_or("shopwright").to_owned();
    let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
    for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help") {
        help_of(sub, text);
    }
}

#[test]
fn store_without_a_folder_is_no_usage_error() {
    let pin = |rest: &[&str]| {
        let line = ["shopwright", "mcp"].iter().chain(rest).copied();
        match Cli::try_parse_from(line).unwrap().command {
            Command::Mcp(mcp) => mcp.pin(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(pin(&[]), None);
    assert_eq!(pin(&["--store"]), Some(StorePin::NoFolder));
    assert_eq!(pin(&["--store", ""]), Some(StorePin::NoFolder));
    assert_eq!(pin(&["--store="]), Some(StorePin::NoFolder));
    assert_eq!(pin(&["--store", "/shop"]), Some(StorePin::Folder("/shop".into())));
}

#[test]
fn a_right_is_of_a_person_or_of_a_group() {
    let right = |rest: &[&str]| {
        let line = ["shopwright", "store", "grant", "--root", "x"].iter().chain(rest).copied();
        Cli::try_parse_from(line).is_ok()
    };
    assert!(right(&["--login", "oleg", "SCHEDULER"]));
    assert!(right(&["--group", "TRAINEE", "SCHEDULER"]));
    assert!(!right(&["--login", "oleg", "--group", "TRAINEE", "SCHEDULER"]));
    assert!(!right(&["SCHEDULER"]));
    assert!(!right(&["--login", "oleg"]));
}
