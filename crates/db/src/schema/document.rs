//! The tables as `docs/database.md` lists them.

use std::fmt::Write;

use super::SECTIONS;
use super::spec::{Access, DELETED, EDITED, TableSpec, Words};

/// The sections with their tables, as Markdown.
pub fn tables_as_markdown() -> String {
    let mut text = String::new();
    for section in SECTIONS {
        let _ = writeln!(text, "## {}\n", section.title);
        for table in section.tables {
            write_table(&mut text, table);
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn write_table(text: &mut String, table: &TableSpec) {
    let _ = writeln!(text, "**`{}`**: {}.{}\n", table.name, table.about, notes(table));
    text.push_str("| column | what |\n|---|---|\n");
    for column in table.own_columns {
        let whose = match column.words {
            Words::None | Words::Store => "",
            Words::Visitor => " (a visitor's words)",
            Words::Supplier => " (a supplier's words)",
        };
        let secret = if column.is_secret { "; agents never see it" } else { "" };
        let _ = writeln!(text, "| `{}` | {}{whose}{secret} |", column.name, column.meaning());
    }
    if table.is_edited {
        let names: Vec<_> = EDITED.iter().map(|column| format!("`{}`", column.name)).collect();
        let _ = writeln!(text, "| {} | as in every edited table |", names.join(", "));
    }
    if table.keeps_deleted {
        let _ = writeln!(text, "| `{}` | {} |", DELETED[0].name, DELETED[0].meaning());
    }
    text.push('\n');
}

fn notes(table: &TableSpec) -> String {
    let mut notes = String::new();
    if table.is_tree {
        notes.push_str(" A tree.");
    }
    match table.access {
        Access::Open => {}
        Access::Closed => notes.push_str(" Agents' statements do not write it."),
        Access::Secret => notes.push_str(" Agents never see this table."),
    }
    if let Some(why) = table.not_journalled {
        let _ = write!(notes, " Not in the journal: {why}.");
    }
    notes
}
