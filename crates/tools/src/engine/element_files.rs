//! What the tools for files of rows share.

use db::files::{self, ElementFile};
use serde_json::Value;
use wire::text::quoted;
use wire::{Refusal, catalogue};

use crate::Table;

/// Refuses a table whose rows have no files.
pub(crate) fn named_entity(entity: &str) -> Result<(), Refusal> {
    if files::may_have(entity) { Ok(()) } else { Err(catalogue::unknown_entity(&quoted(entity, 80))) }
}

/// Files as a table.
pub(crate) fn file_table(files: &[ElementFile]) -> Table {
    let columns = ["entity", "elem_id", "id", "kind_key", "real_name", "path", "size", "pos"];
    Table::new(columns, files.iter().map(row))
}

fn row(file: &ElementFile) -> [Value; 8] {
    [
        file.entity.clone().into(),
        file.elem_id.into(),
        file.id.into(),
        file.kind_key.clone().into(),
        file.real_name.clone().into(),
        format!("files/{}", file.stored_name).into(),
        file.bytes.into(),
        file.position.into(),
    ]
}
