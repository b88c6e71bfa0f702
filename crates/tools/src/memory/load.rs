//! `memory_load`: notes with their bodies.

use std::path::Path;

use db::notes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shop::note::CRITICAL;
use wire::{Stop, catalogue};

use crate::inline::{self, Room};
use crate::{EngineCx, LocalContext, NoteRead, Presented, Right};

/// Most bytes of bodies that travel at once.
const AT_ONCE: u64 = 16 << 20;
/// What is said where a body does not end in the answer.
const CUT: &str = "A body with `next` goes on: its whole is in the file named in `file`, and `memory_load` with its \
                   `id` and `from` (the value of `next`) reads on. A critical note counts as read when all of it was shown.";
/// Most numbers in `ids`, as the schema says.
const IDS_MOST: usize = 100;

crate::tool!("memory_load", right: Right::Command("AGENT_MEMORY_LOAD"), effect: Reads, refuses: [not_written, folder_not_made, too_long],
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
    /// Of one note: the character to go on from
    #[schemars(range(min = 0, max = 100_000_000))]
    from: Option<usize>,
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
    /// Simple HTML: the whole body, or what of it stands in this answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// Where the body goes on, for `from`; absent where its end was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<usize>,
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
            next: None,
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
    if args.from.is_some() && asked.len() > 1 {
        let why = format!("{} notes", asked.len());
        return Err(catalogue::wrong_parameter("from", "one note beside it", &why).into());
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
    let from = args.from.unwrap_or(0);
    let notes_folder = local.conversation.join("notes");
    let mut room = local.room;
    let mut read = Vec::new();
    let mut is_cut = false;
    // What closes the session until it is read gets the room first.
    for note in critical_first(&mut answer.notes) {
        let body = note.body.take().unwrap_or_default();
        let length = body.chars().count();
        let rest = inline::after(&body, from);
        let wants_file = args.output.is_some();
        let fits = room.holds(rest);
        let limit = match (note.kind_key == CRITICAL, wants_file, fits) {
            (true, _, _) | (false, false, true) => room,
            (false, true, _) => Room::NONE,
            (false, false, false) => room.least(Room::HEAD),
        };
        let shown = limit.beginning(rest);
        let until = from.min(length) + shown.chars().count();
        if wants_file || (!fits && from == 0) {
            let folder = args.output.as_ref().map_or(notes_folder.as_path(), Path::new);
            let path = local.write(folder, &format!("{}.html", note.id), body.as_bytes())?;
            note.file = Some(path.to_string_lossy().into_owned());
        }
        room = room.without(shown);
        note.body = (!limit.is_used_up() || length == 0).then(|| shown.to_owned());
        note.next = (until < length && note.body.is_some()).then_some(until);
        is_cut |= note.next.is_some();
        read.push(NoteRead { id: note.id, version: note.edit_time.clone(), from, until, length });
    }
    // A note that is gone must not keep the session closed.
    read.extend(answer.missed.iter().map(|id| NoteRead { id: *id, ..NoteRead::default() }));
    let text = is_cut.then(|| CUT.to_owned());
    Ok(Presented { text, notes_read: read, ..Presented::data(serde_json::to_value(answer)?) })
}

fn critical_first(notes: &mut [Note]) -> Vec<&mut Note> {
    let mut sorted: Vec<&mut Note> = notes.iter_mut().collect();
    sorted.sort_by_key(|note| note.kind_key != CRITICAL);
    sorted
}
