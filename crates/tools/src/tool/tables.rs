//! Tables of a command's answer, written to files on this computer.

use serde_json::{Map, Value, json};
use wire::Stop;

use crate::jsonl::is_bare;
use crate::{LocalContext, jsonl};

/// Where the tables of a call go.
pub(super) struct Place<'a> {
    /// How names of their files begin.
    pub(super) beginning: String,
    /// The job whose files their rows are added to as well.
    pub(super) job: Option<&'a str>,
}

/// Writes each table to its file, and leaves where it is, how many rows it has, and the first ones.
pub(super) fn write(local: &LocalContext, place: &Place<'_>, tables: Value) -> Result<Value, Stop> {
    let Value::Object(tables) = tables else { return Err(foreign()) };
    let folder = local.conversation.join("tables");
    let mut shown = Map::new();
    for (name, rows) in tables {
        let (true, Value::Array(rows)) = (is_bare(&name), rows) else { return Err(foreign()) };
        let lines = jsonl::lines(&rows);
        let text = jsonl::text(&lines);
        let file = local.write(&folder, &format!("{}.{name}.jsonl", place.beginning), text.as_bytes())?;
        let mut left = json!({
            "rows": lines.len(),
            "file": file.to_string_lossy(),
            "head": jsonl::head(&lines),
        });
        if let (Some(job), Some(left)) = (place.job, left.as_object_mut()) {
            let file = format!("{job}.{name}.jsonl");
            let rows = local.append_lines(&folder, &file, &text)?;
            left.insert("job".to_owned(), folder.join(file).to_string_lossy().into());
            left.insert("job_rows".to_owned(), rows.into());
        }
        shown.insert(name, left);
    }
    Ok(Value::Object(shown))
}

/// The store's bytes are not trusted: names of tables become names of files.
fn foreign() -> Stop {
    wire::catalogue::unexpected_answer("the tables of the answer are not of the tool's form.").into()
}
