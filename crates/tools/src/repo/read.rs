//! `repo_read`: topics of a section, records of a topic, and what stands in them.

use std::path::Path;

use db::repo::records::{self, RecordHead};
use db::repo::topics::{self, Topic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shop::caseless::folded;
use wire::{Stop, catalogue};

use crate::inline::Room;
use crate::{EngineCx, LocalContext, Presented, Right, Table};

/// Rows of a page.
const PAGE: usize = 100;
/// Most topics that are read at once.
const TOPICS_MOST: usize = 100;
/// Most bytes of texts that travel at once.
const AT_ONCE: u64 = 16 << 20;

crate::tool!("repo_read", right: Right::Command("AGENT_REPO_READ"), effect: Reads,
    refuses: [missing_parameter, repo_is_a_number, topic_is_a_number, topics_are_numbers, record_is_a_number,
        offset_is_a_number, no_open_section, no_such_topic, no_such_record, section_flag_missing, too_long,
        not_written, folder_not_made],
    run: run, present: present);

/// Reads the repository: topics of a section (`repo`), records of a `topic`, or (store_read) what they say: the last of each topic, or one `record`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    action: Action,
    /// Section
    repo: Option<i64>,
    /// Topic
    topic: Option<i64>,
    /// Topics to read
    topics: Option<Vec<i64>>,
    /// Or one record
    record: Option<i64>,
    /// Topics: text in name, descr or params
    find: Option<String>,
    /// Rows to skip; pages have 100
    offset: Option<i64>,
    /// The appendix too
    appendix: Option<bool>,
    /// Folder for the texts
    output: Option<String>,
}

/// What to read.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    TopicList,
    StoreList,
    StoreRead,
}

/// What was read.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Number of the section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repo: Option<i64>,
    /// Its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// A table of `id`, `name`, `descr`, `params`, `records` (how many), `last_time`, `last_author`, `last_user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topics: Option<Table>,
    /// Number of the topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topic: Option<i64>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// A table of `id`, `author`, `user`, `date_time`, `comment`, `size`; of `store_read` a list of records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    records: Option<Records>,
    /// How many rows there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// How many of them were skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    /// Asked topics without a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    empty: Option<Vec<i64>>,
    /// Asked topics that this person does not see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missed: Option<Vec<i64>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Records {
    Listed(Table),
    Read(Vec<Record>),
}

/// A record.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Record {
    /// Number.
    id: i64,
    /// Number of the topic.
    topic: i64,
    /// Name of the topic.
    name: String,
    /// Who wrote it, in the assistant's words.
    author: String,
    /// Login of the person in whose name it was written.
    user: String,
    /// When, in UTC.
    date_time: String,
    /// What is new.
    comment: String,
    /// Bytes of the body.
    size: u64,
    /// Bytes of the appendix.
    appendix_size: u64,
    /// The body, or its beginning where it is in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// File with the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The appendix, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    appendix: Option<String>,
    /// File with the appendix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    appendix_file: Option<String>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    let offset = usize::try_from(args.offset.unwrap_or(0)).map_err(|_| catalogue::offset_is_a_number())?;
    match args.action {
        Action::TopicList => topic_list(cx, &args, offset),
        Action::StoreList => store_list(cx, &args, offset),
        Action::StoreRead => store_read(cx, &args),
    }
}

fn topic_list(cx: &mut EngineCx<'_>, args: &Args, offset: usize) -> Result<Answer, Stop> {
    let id = args.repo.filter(|id| *id > 0).ok_or_else(catalogue::repo_is_a_number)?;
    let section = super::section(cx, id, "topic_list")?;
    let mut topics = topics::of_section(cx.tx, section.id)?;
    if let Some(find) = args.find.as_deref().map(str::trim).filter(|find| !find.is_empty()) {
        let find = folded(find);
        let holds = |text: &String| folded(text).contains(&find);
        topics.retain(|topic| [&topic.name, &topic.descr, &topic.params].into_iter().any(holds));
    }
    let total = topics.len();
    let columns = ["id", "name", "descr", "params", "records", "last_time", "last_author", "last_user"];
    let rows = topics.into_iter().skip(offset).take(PAGE).map(topic_row);
    Ok(Answer {
        repo: Some(section.id),
        path: Some(section.path),
        topics: Some(Table::new(columns, rows)),
        total: Some(total),
        offset: Some(offset),
        ..Answer::default()
    })
}

fn topic_row(topic: Topic) -> [Value; 8] {
    [
        topic.id.into(),
        topic.name.into(),
        topic.descr.into(),
        topic.params.into(),
        topic.records.into(),
        topic.last_time.into(),
        topic.last_author.into(),
        topic.last_user.into(),
    ]
}

fn store_list(cx: &mut EngineCx<'_>, args: &Args, offset: usize) -> Result<Answer, Stop> {
    let topic = super::topic(cx, args.topic, "store_read")?;
    let skipped = i64::try_from(offset).unwrap_or(i64::MAX);
    let records = records::of_topic(cx.tx, topic.id, skipped, PAGE as i64)?;
    let columns = ["id", "author", "user", "date_time", "comment", "size"];
    let rows = records.into_iter().map(|record| {
        let RecordHead { id, author, user, time, comment, size, .. } = record;
        [id.into(), author.into(), user.into(), time.into(), comment.into(), size.into()]
    });
    Ok(Answer {
        topic: Some(topic.id),
        name: Some(topic.name),
        records: Some(Records::Listed(Table::new(columns, rows))),
        total: usize::try_from(topic.records).ok(),
        offset: Some(offset),
        ..Answer::default()
    })
}

fn store_read(cx: &mut EngineCx<'_>, args: &Args) -> Result<Answer, Stop> {
    let (heads, empty, missed) = match (args.record, &args.topics, args.topic) {
        (Some(id), ..) => (vec![one_record(cx, id)?], Vec::new(), Vec::new()),
        (None, Some(asked), one) => last_records(cx, asked.iter().copied().chain(one).collect())?,
        (None, None, Some(one)) => last_records(cx, vec![one])?,
        (None, None, None) => {
            return Err(catalogue::missing_parameter("topics", "Numbers of topics, or one `record`.").into());
        }
    };
    let with_appendix = args.appendix.unwrap_or(false);
    refuse_too_much(&heads, with_appendix)?;
    let mut read = Vec::with_capacity(heads.len());
    for head in heads {
        let Some((body, appendix)) = records::texts(cx.tx, head.id)? else { continue };
        read.push(record(head, body, appendix.filter(|_| with_appendix)));
    }
    Ok(Answer {
        records: Some(Records::Read(read)),
        empty: Some(empty),
        missed: Some(missed),
        ..Answer::default()
    })
}

fn one_record(cx: &mut EngineCx<'_>, id: i64) -> Result<RecordHead, Stop> {
    if id < 1 {
        return Err(catalogue::record_is_a_number().into());
    }
    let head = records::by_id(cx.tx, id)?;
    let sections = super::open_sections(cx)?;
    let seen = head.and_then(|head| {
        sections.iter().find(|section| section.id == head.section_id).map(|section| (head, section))
    });
    let (head, section) = seen.ok_or_else(|| catalogue::no_such_record(id))?;
    super::refuse_without(section, "store_read")?;
    Ok(head)
}

type Last = (Vec<RecordHead>, Vec<i64>, Vec<i64>);

/// The last record of each topic, in the order they were asked for; the empty ones; those that are not seen.
fn last_records(cx: &mut EngineCx<'_>, asked: Vec<i64>) -> Result<Last, Stop> {
    if asked.is_empty() || asked.len() > TOPICS_MOST || asked.iter().any(|id| *id < 1) {
        return Err(catalogue::topics_are_numbers(TOPICS_MOST).into());
    }
    let sections = super::open_sections(cx)?;
    let (mut seen, mut missed): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
    for id in asked {
        if seen.contains(&id) || missed.contains(&id) {
            continue;
        }
        let topic = topics::by_id(cx.tx, id)?;
        let section = topic.and_then(|topic| sections.iter().find(|section| section.id == topic.section_id));
        let Some(section) = section else {
            missed.push(id);
            continue;
        };
        super::refuse_without(section, "store_read")?;
        seen.push(id);
    }
    let mut last = records::last_of(cx.tx, &seen)?;
    let place = |head: &RecordHead| seen.iter().position(|id| *id == head.topic_id);
    last.sort_by_key(place);
    let empty = seen.iter().copied().filter(|id| !last.iter().any(|head| head.topic_id == *id)).collect();
    Ok((last, empty, missed))
}

/// Looks at the sizes before the texts are read. One record can always be read.
fn refuse_too_much(heads: &[RecordHead], with_appendix: bool) -> Result<(), Stop> {
    let size = |head: &RecordHead| head.size + if with_appendix { head.appendix_size } else { 0 };
    match heads.iter().map(size).sum::<u64>() {
        bytes if bytes > AT_ONCE && heads.len() > 1 => {
            let [most, got] = [AT_ONCE, bytes].map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
            Err(catalogue::too_long("topics (the records together)", most, got).into())
        }
        _ => Ok(()),
    }
}

fn record(head: RecordHead, body: String, appendix: Option<String>) -> Record {
    Record {
        id: head.id,
        topic: head.topic_id,
        name: head.topic,
        author: head.author,
        user: head.user,
        date_time: head.time,
        comment: head.comment,
        size: head.size,
        appendix_size: head.appendix_size,
        body: Some(body),
        file: None,
        appendix,
        appendix_file: None,
    }
}

fn present(local: &LocalContext, args: Args, mut answer: Answer) -> Result<Presented, Stop> {
    let mut text = None;
    if let Some(Records::Read(records)) = &mut answer.records {
        let mut room = local.room;
        for record in records {
            let name = format!("{}.{}", record.topic, record.id);
            let body = record.body.take();
            (record.body, record.file) = placed(local, &args, &mut room, &format!("{name}.txt"), body)?;
            let appendix = record.appendix.take();
            let file = format!("{name}.appendix.txt");
            (record.appendix, record.appendix_file) = placed(local, &args, &mut room, &file, appendix)?;
        }
    }
    if args.action == Action::TopicList && answer.total == Some(0) {
        text = Some("No topic of the section matches.".to_owned());
    }
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}

/// A text in the answer, or its beginning there and the whole in a file.
fn placed(
    local: &LocalContext,
    args: &Args,
    room: &mut Room,
    name: &str,
    text: Option<String>,
) -> Result<(Option<String>, Option<String>), Stop> {
    let Some(text) = text else { return Ok((None, None)) };
    if args.output.is_none() && room.holds(&text) {
        *room = room.without(&text);
        return Ok((Some(text), None));
    }
    let own = local.conversation.join("repo");
    let folder = args.output.as_ref().map_or(own.as_path(), Path::new);
    let file = local.write(folder, name, text.as_bytes())?.to_string_lossy().into_owned();
    let head = if args.output.is_some() { Room::NONE } else { room.least(Room::HEAD) };
    let shown = head.beginning(&text).to_owned();
    *room = room.without(&shown);
    Ok(((!head.is_used_up()).then_some(shown), Some(file)))
}
