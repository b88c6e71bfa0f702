//! `memory_save`: a note of the person's own, new or changed.

use db::notes::{self, Fields, Level, Owner};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shop::note::DEFAULT;
use wire::{Refusal, Stop, catalogue};

use super::body::{SimpleHtml, other_tags, simple_html, tags};
use super::weight::{DEEPEST, Heavy};
use crate::field_text::{line, short, storable};
use crate::{EngineCx, LocalContext, Right};

/// Most characters of a name.
const NAME_MOST: usize = 100;
/// Most characters of a category.
const CATEGORY_MOST: usize = 100;
/// Most characters of the line that says what a note is about.
const INFO_MOST: usize = 255;
/// Most characters of a body.
const BODY_MOST: usize = 1_000_000;
/// Most tags that a body opens, and most that it closes: a thousand rows of a table fit.
const TAGS_MOST: usize = 10_000;

crate::tool!("memory_save", right: Right::Command("AGENT_MEMORY_SAVE"), effect: Writes,
    refuses: [not_both, no_such_file, not_utf8, too_long, too_many_tags, note_needs_name, no_such_kind,
        no_such_note, note_not_own, table_in_work],
    run: run, prepare: prepare);

/// Writes a note of this person's own: a new one, or with `id` only the named fields of that one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Note to change
    id: Option<i64>,
    /// Up to 100 characters
    name: Option<String>,
    /// Up to 100
    category: Option<String>,
    /// What it is about, up to 255
    info: Option<String>,
    /// Simple HTML
    body: Option<String>,
    /// Or a UTF-8 file with it
    body_source: Option<String>,
    /// kDefault unless named; kSkill, kDirect, kCritical
    kind_key: Option<String>,
}

/// What travels: the body itself instead of its source.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    info: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind_key: Option<String>,
}

/// The saved note.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Number.
    id: i64,
    /// Name.
    name: String,
    /// Whether the note is new.
    saved: Saved,
    /// Tags and attributes of the body that are not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Saved {
    Created,
    Updated,
}

fn prepare(local: &LocalContext, args: Args) -> Result<Sent, Stop> {
    let body = local.text_or_file("body", args.body, args.body_source, BODY_MOST)?;
    let Args { id, name, category, info, kind_key, .. } = args;
    Ok(Sent { id, name, category, info, body, kind_key })
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    cx.refuse_in_work("notes")?;
    let id = sent.id;
    let (change, removed) = checked(cx, sent)?;
    let answer = match id {
        None => create(cx, change)?,
        Some(id) => update(cx, id, change)?,
    };
    Ok(Answer { removed, ..answer })
}

/// The named fields, fit to be kept.
struct Change {
    name: Option<String>,
    category: Option<String>,
    info: Option<String>,
    body: Option<String>,
    kind_key: Option<String>,
}

/// The change, and what of its body is not kept.
fn checked(cx: &mut EngineCx<'_>, sent: Sent) -> Result<(Change, Vec<String>), Stop> {
    let line = |name, value: Option<String>, most| value.map(|value| line(name, &value, most)).transpose();
    let name = line("name", sent.name, NAME_MOST)?;
    if name.as_deref().is_some_and(str::is_empty) {
        return Err(catalogue::note_needs_name().into());
    }
    if let Some(kind) = &sent.kind_key {
        let kinds = notes::kinds(cx.tx, cx.language)?;
        if !kinds.iter().any(|(known, _)| known == kind) {
            let kinds: Vec<_> = kinds.into_iter().map(|(kind, name)| format!("`{kind}` ({name})")).collect();
            return Err(catalogue::no_such_kind(&wire::text::quoted(kind, 60), &kinds.join(", ")).into());
        }
    }
    let body = sent.body.map(|body| clean(&body)).transpose()?;
    let (body, removed) = body.map(|body| (body.html, body.removed)).unzip();
    let change = Change {
        name,
        category: line("category", sent.category, CATEGORY_MOST)?,
        info: line("info", sent.info, INFO_MOST)?,
        body,
        kind_key: sent.kind_key,
    };
    Ok((change, removed.unwrap_or_default()))
}

fn clean(body: &str) -> Result<SimpleHtml, Refusal> {
    short("body", body, BODY_MOST)?;
    let body = storable(body);
    let most = tags(&body).max(other_tags(&body));
    if most > TAGS_MOST {
        return Err(catalogue::too_many_tags("body", TAGS_MOST, most));
    }
    simple_html(&body).map_err(|heavy| match heavy {
        Heavy::Deep(got) => catalogue::too_many_tags("body (tags within tags)", DEEPEST, got),
        Heavy::Many(got) => catalogue::too_many_tags("body (attributes too)", TAGS_MOST, got),
    })
}

fn create(cx: &mut EngineCx<'_>, change: Change) -> Result<Answer, Stop> {
    let fields = Fields {
        name: change.name.ok_or_else(catalogue::note_needs_name)?,
        kind_key: change.kind_key.unwrap_or_else(|| DEFAULT.to_owned()),
        category: change.category.unwrap_or_default(),
        info: change.info.unwrap_or_default(),
        body: change.body.unwrap_or_default(),
    };
    let id = notes::create(cx.tx, Owner::Own(cx.caller.id), &fields, cx.now)?;
    Ok(Answer { id, name: fields.name, saved: Saved::Created, removed: Vec::new() })
}

/// Changes the named fields only. The row is held from before it is read, so
/// that of two writers at once neither loses the other's field.
fn update(cx: &mut EngineCx<'_>, id: i64, change: Change) -> Result<Answer, Stop> {
    cx.tx.lock_row("notes", id)?;
    let seen = notes::find(cx.tx, cx.caller.id, &cx.caller.groups, id, cx.language)?;
    let note = seen.ok_or_else(|| catalogue::no_such_note(id))?;
    if note.head.level != Level::Own {
        return Err(catalogue::note_not_own(id, note.head.level.as_str()).into());
    }
    let Change { name: None, category: None, info: None, body: None, kind_key: None } = change else {
        return write(cx, note, change);
    };
    let about = "Name what to change: name, category, info, body or kind_key.";
    Err(catalogue::missing_parameter("body", about).into())
}

fn write(cx: &mut EngineCx<'_>, note: notes::Note, change: Change) -> Result<Answer, Stop> {
    let notes::Note { head, body } = note;
    let fields = Fields {
        name: change.name.unwrap_or(head.name),
        kind_key: change.kind_key.unwrap_or(head.kind_key),
        category: change.category.unwrap_or(head.category),
        info: change.info.unwrap_or(head.info),
        body: change.body.unwrap_or(body),
    };
    notes::update(cx.tx, head.id, &fields, cx.now)?;
    Ok(Answer { id: head.id, name: fields.name, saved: Saved::Updated, removed: Vec::new() })
}
