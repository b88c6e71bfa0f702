//! Tests of the reference.

use wire::catalogue;

use super::{refusals_md, tools_md};
use crate::{ALL, ToolSpec};

fn all() -> Vec<&'static ToolSpec> {
    ALL.iter().collect()
}

#[test]
fn every_tool_and_parameter_is_told() {
    let page = tools_md(&all());
    for tool in ALL {
        assert!(page.contains(&format!("\n## {}\n", tool.name)), "{}", tool.name);
        for name in tool.listed_input()["properties"].as_object().unwrap().keys() {
            assert!(page.contains(&format!("| `{name}` |")), "{name}");
        }
    }
    assert!(
        page.contains("| `notes[].body` | text or null | Simple HTML; absent where")
            || page.contains("| `notes[].body` |")
    );
}

#[test]
fn every_refusal_is_told_once() {
    let page = refusals_md(&all());
    for row in catalogue::ALL {
        let rows = page.lines().filter(|line| line.starts_with(&format!("| `{}` |", row.beginning.trim())));
        let same = catalogue::ALL.iter().filter(|other| other.beginning.trim() == row.beginning.trim());
        assert_eq!(rows.count(), same.count(), "{}", row.name);
    }
}

#[test]
fn tables_have_the_same_number_of_cells_in_every_row() {
    for page in [tools_md(&all()), refusals_md(&all())] {
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        for pair in page.lines().collect::<Vec<_>>().windows(2) {
            if pair[0].starts_with('|') && pair[1].starts_with('|') {
                assert_eq!(cells(pair[0]), cells(pair[1]), "{pair:?}");
            }
        }
    }
}
