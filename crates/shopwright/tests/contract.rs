//! The contract: transcripts in tests/tools replayed by real processes, snapshots of what hosts see,
//! generated docs, and the proof that every refusal can be provoked.
//!
//! `UPDATE=1` writes all of them anew; read the difference before you keep it.

#[path = "session/provoked.rs"]
mod provoked;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};
use testkit::transcript::{Page, Piece, pretty, replay};
use testkit::{Fixture, check_file, updating};

/// Versions of the protocol that the server speaks.
const PROTOCOLS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Only one test at a time writes a transcript's file.
static WRITING: Mutex<()> = Mutex::new(());

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let place = concat!(env!("CARGO_TARGET_TMPDIR"), "/contract");
    let mut fixtures = vec![Arc::new(Fixture::new(env!("CARGO_BIN_EXE_shopwright"), place))];
    fixtures.extend(Fixture::postgres(env!("CARGO_BIN_EXE_shopwright"), place).map(Arc::new));
    let mut trials = fixed();
    for fixture in &fixtures {
        for (file, page) in pages() {
            for at in 0..page.sections.len() {
                trials.push(transcript(fixture, &file, &page, at));
            }
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    conclusion.exit_code()
}

/// Tests that start nothing.
fn fixed() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("every_refusal_is_provoked", every_refusal_is_provoked),
        Trial::test("every_tool_has_a_transcript", every_tool_has_a_transcript),
        Trial::test("declared_refusals_are_shown", declared_refusals_are_shown),
        Trial::test("docs/refusals.md", || {
            generated("docs/refusals.md", &tools::reference::refusals_md(&mcp::all_tools()))
        }),
        Trial::test("docs/tools.md", || {
            generated("docs/tools.md", &tools::reference::tools_md(&mcp::all_tools()))
        }),
        Trial::test("docs/rights.md", rights_page),
        Trial::test("docs/performance.md", sizes_table),
    ];
    for protocol in PROTOCOLS {
        let name = format!("tools_list_{protocol}");
        trials.push(Trial::test(name, move || {
            let file = format!("tests/snapshots/tools_list_{protocol}.json");
            generated(&file, &(pretty(&mcp::tools_list_json(protocol)) + "\n"))
        }));
    }
    trials
}

/// The table of rights.
fn rights_page() -> Result<(), Failed> {
    table_between_marks("docs/rights.md", &tools::reference::rights_table(&mcp::all_tools()))
}

/// What each family of tools costs a session that lists them.
fn sizes_table() -> Result<(), Failed> {
    let list = mcp::tools_list_json("2025-11-25");
    let mut families: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for tool in list.as_array().ok_or("no list")? {
        let family = tool["name"].as_str().unwrap_or_default().split('_').next().unwrap_or_default();
        let sizes = families.entry(family.to_owned()).or_default();
        *sizes = (sizes.0 + 1, sizes.1 + tool.to_string().len());
    }
    let mut table = "| family | tools | bytes | tokens (bytes / 4) |\n|---|---|---|---|\n".to_owned();
    for (family, (count, bytes)) in &families {
        table.push_str(&format!("| `{family}_` | {count} | {bytes} | {} |\n", bytes / 4));
    }
    let count: usize = families.values().map(|(count, _)| count).sum();
    let bytes: usize = families.values().map(|(_, bytes)| bytes).sum();
    table.push_str(&format!("| all (goal: 9,000 tokens at most) | {count} | {bytes} | {} |\n", bytes / 4));
    table_between_marks("docs/performance.md", &table)
}

/// A table between the two marks of a page; the rest of it is written by people.
fn table_between_marks(file: &str, table: &str) -> Result<(), Failed> {
    let kept = std::fs::read_to_string(root().join(file))?;
    let (before, rest) = kept.split_once("<!-- tools -->\n").ok_or("the table's beginning is not marked")?;
    let (_, after) = rest.split_once("<!-- /tools -->").ok_or("the table's end is not marked")?;
    generated(file, &format!("{before}<!-- tools -->\n{table}<!-- /tools -->{after}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every transcript with its path below the repository's folder.
fn pages() -> Vec<(String, Page)> {
    let folder = root().join("tests/tools");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .map(|entries| entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
        .unwrap_or_default();
    names.retain(|name| name.ends_with(".md"));
    names.sort();
    let read = |name: String| {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap_or_default();
        (format!("tests/tools/{name}"), Page::parse(&text))
    };
    names.into_iter().map(read).collect()
}

fn transcript(fixture: &Arc<Fixture>, file: &str, page: &Page, at: usize) -> Trial {
    let (fixture, file, section) = (Arc::clone(fixture), file.to_owned(), page.sections[at].clone());
    let stem =
        Path::new(&file).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = format!("{stem}: {}", section.heading);
    let writes = updating() && fixture.dialect() == "sqlite";
    Trial::test(name, {
        let fixture = Arc::clone(&fixture);
        move || {
            let fresh = replay(&fixture, &section).map_err(|error| Failed::from(format!("{error:#}")))?;
            if fresh == section {
                return Ok(());
            }
            if writes {
                return write_section(&file, at, fresh);
            }
            let text = |pieces: &[Piece]| pieces.iter().map(Piece::to_string).collect::<String>();
            Err(difference(&text(&section.pieces), &text(&fresh.pieces)).into())
        }
    })
    .with_kind(fixture.dialect())
}

fn write_section(file: &str, at: usize, fresh: testkit::transcript::Section) -> Result<(), Failed> {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = root().join(file);
    let mut page = Page::parse(&std::fs::read_to_string(&path)?);
    page.sections[at] = fresh;
    Ok(std::fs::write(path, page.to_string())?)
}

/// Both texts from the first line that differs.
fn difference(kept: &str, came: &str) -> String {
    let same = kept.lines().zip(came.lines()).take_while(|(one, other)| one == other).count();
    let rest =
        |text: &str| text.lines().skip(same).take(12).map(|line| format!("    {line}\n")).collect::<String>();
    format!("kept:\n{}came:\n{}(UPDATE=1 writes what came)", rest(kept), rest(came))
}

fn generated(file: &str, wanted: &str) -> Result<(), Failed> {
    check_file(&root().join(file), wanted).map_err(|error| Failed::from(error.to_string()))
}

/// Names of the refusals that transcripts show.
fn shown() -> BTreeSet<String> {
    let pieces = pages().into_iter().flat_map(|(_, page)| page.sections).flat_map(|section| section.pieces);
    let names = pieces.filter_map(|piece| match piece {
        Piece::Block { kind, about, .. } if kind == "refusal" => Some(about),
        _ => None,
    });
    names.collect()
}

fn every_refusal_is_provoked() -> Result<(), Failed> {
    let mut provoked = shown();
    let sources = sources_of_session();
    for (row, test) in provoked::ELSEWHERE {
        if !sources.contains(&format!("fn {test}(")) {
            return Err(format!("`{row}` is said to be provoked by `{test}`, which is not there").into());
        }
        provoked.insert((*row).to_owned());
    }
    let all: BTreeSet<String> = wire::catalogue::ALL.iter().map(|row| row.name.to_owned()).collect();
    let lacking: Vec<&String> = all.difference(&provoked).collect();
    let unknown: Vec<&String> = provoked.difference(&all).collect();
    if lacking.is_empty() && unknown.is_empty() {
        return Ok(());
    }
    Err(format!("never provoked: {lacking:?}; not in the catalogue: {unknown:?}").into())
}

fn sources_of_session() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/session");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).collect()
}

fn every_tool_has_a_transcript() -> Result<(), Failed> {
    let files: BTreeSet<String> = pages().into_iter().map(|(file, _)| file).collect();
    let lacking: Vec<&str> = mcp::all_tools()
        .iter()
        .map(|tool| tool.name)
        .filter(|name| !files.contains(&format!("tests/tools/{name}.md")))
        .collect();
    if lacking.is_empty() { Ok(()) } else { Err(format!("no transcript for {lacking:?}").into()) }
}

/// A tool's own refusals are shown in its own transcript, or by a test that is named.
fn declared_refusals_are_shown() -> Result<(), Failed> {
    let mut lacking = Vec::new();
    for tool in mcp::all_tools() {
        let text =
            std::fs::read_to_string(root().join(format!("tests/tools/{}.md", tool.name))).unwrap_or_default();
        for row in tool.refuses {
            let elsewhere = provoked::ELSEWHERE.iter().any(|(name, _)| name == row);
            if !text.contains(&format!("```refusal {row}\n")) && !elsewhere {
                lacking.push(format!("{}: {row}", tool.name));
            }
        }
    }
    if lacking.is_empty() { Ok(()) } else { Err(format!("declared and not shown: {lacking:?}").into()) }
}
