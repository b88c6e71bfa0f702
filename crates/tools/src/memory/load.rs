//! `memory_load`: notes with their bodies.

use db::notes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shop::note::CRITICAL;
use wire::{Stop, catalogue};

use crate::{EngineCx, LocalContext, Presented, Right};

/// Bytes of bodies that one answer carries: hosts cut what is longer. The rest goes into files.
const IN_ANSWER: usize = 60_000;
/// Most bytes of bodies that travel at once.
const AT_ONCE: u64 = 16 << 20;
/// Most numbers in `ids`, as the schema says.
const IDS_MOST: usize = 100;

crate::tool!("memory_load", right: Right::Command("AGENT_MEMORY_LOAD"), effect: Reads, refuses: [not_written, too_long],
    run: run, present: present);

/// Reads notes of the store's memory whole.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Numbers of notes
    #[schemars(length(max = 100))]
    ids: Option<Vec<i64>>,
    /// Or one number
    id: Option<i64>,
    /// Folder for the bodies, as `<id>.html`
    output: Option<String>,
}

impl Args {
    /// The asked numbers, each once, in their order.
    fn asked(&self) -> Vec<i64> {
        let mut seen = std::collections::HashSet::new();
        let ids = self.ids.iter().flatten().copied().chain(self.id);
        ids.filter(|id| seen.insert(*id)).collect()
    }
}

/// Notes of the memory.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Notes, in the order they were asked for.
    notes: Vec<Note>,
    /// Asked numbers of which this person sees no note.
    missed: Vec<i64>,
}

/// A note.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Note {
    /// Number.
    id: i64,
    /// Name.
    name: String,
    /// Kind, from the store's registry.
    kind_key: String,
    /// Whom it is for: `all`, `group` or `own`.
    level: String,
    /// Name of the group, for notes of a group.
    group: Option<String>,
    /// Category.
    category: String,
    /// What it is about, in a line.
    info: String,
    /// When it was changed, in UTC.
    edit_time: String,
    /// Simple HTML; absent where it went into a file and the note is not critical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// File with the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

impl From<notes::Note> for Note {
    fn from(note: notes::Note) -> Self {
        let head = note.head;
        Self {
            id: head.id,
            name: head.name,
            kind_key: head.kind_key,
            level: head.level.as_str().to_owned(),
            group: head.group,
            category: head.category,
            info: head.info,
            edit_time: head.edit_time,
            body: Some(note.body),
            file: None,
        }
    }
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let asked = args.asked();
    if asked.is_empty() {
        return Err(
            catalogue::missing_parameter("ids", "Name the numbers of notes, from memory_list.").into()
        );
    }
    if asked.len() > IDS_MOST + 1 {
        let got = format!("a list of {}", asked.len());
        let wanted = format!("a list of at most {IDS_MOST}");
        return Err(catalogue::wrong_parameter("ids", &wanted, &got).into());
    }
    refuse_too_much(cx, &asked)?;
    let notes = notes::load(cx.tx, cx.caller.id, &cx.caller.groups, &asked, cx.language)?;
    let found: std::collections::HashSet<i64> = notes.iter().map(|note| note.head.id).collect();
    let missed = asked.into_iter().filter(|id| !found.contains(id)).collect();
    Ok(Answer { notes: notes.into_iter().map(Note::from).collect(), missed })
}

/// Looks at the sizes before the bodies are read.
fn refuse_too_much(cx: &mut EngineCx<'_>, asked: &[i64]) -> Result<(), Stop> {
    let heads = notes::visible(cx.tx, cx.caller.id, &cx.caller.groups, cx.language)?;
    let sizes = heads.iter().filter(|head| asked.contains(&head.id)).map(|head| head.size);
    match sizes.sum::<u64>() {
        // One note can always be read.
        bytes if bytes > AT_ONCE && asked.len() > 1 => {
            let [most, got] = [AT_ONCE, bytes].map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
            Err(catalogue::too_long("ids (the bodies together)", most, got).into())
        }
        _ => Ok(()),
    }
}

fn present(local: &LocalContext, args: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let text = match &args.output {
        Some(output) => {
            answer.notes.iter_mut().try_for_each(|note| to_file(local, output, note))?;
            None
        }
        None => shorten(local, &mut answer.notes)?,
    };
    // A note that is gone, or not critical any more, must not keep the session closed.
    let notes_read = answer.notes.iter().map(|note| note.id).chain(answer.missed.iter().copied()).collect();
    Ok(Presented { text, notes_read, ..Presented::data(serde_json::to_value(answer)?) })
}

/// Moves the bodies that do not fit into one answer to files in the conversation folder.
fn shorten(local: &LocalContext, notes: &mut [Note]) -> Result<Option<String>, Stop> {
    let folder = local.conversation.join("notes");
    let (mut size, mut moved) = (0, false);
    for note in notes {
        let length = note.body.as_ref().map_or(0, String::len);
        if size + length > IN_ANSWER && note.kind_key != CRITICAL {
            to_file(local, &folder, note)?;
            moved = true;
        } else {
            size += length;
        }
    }
    Ok(moved.then(|| {
        "Bodies that do not fit into one answer are in the files named in `file`: read them there.".to_owned()
    }))
}

/// Writes the body to its file; a critical one comes in the answer too, since it counts as read.
fn to_file(local: &LocalContext, folder: impl AsRef<std::path::Path>, note: &mut Note) -> Result<(), Stop> {
    let body = note.body.take().unwrap_or_default();
    let path = local.write(folder, &format!("{}.html", note.id), body.as_bytes())?;
    note.file = Some(path.to_string_lossy().into_owned());
    if note.kind_key == CRITICAL {
        note.body = Some(body);
    }
    Ok(())
}
