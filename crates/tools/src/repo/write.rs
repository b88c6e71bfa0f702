//! `repo_write`: topics are made, changed and removed, records are written.

use db::repo::records::{self, NewRecord};
use db::repo::topics::{self, Fields};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::text::quoted;
use wire::{Stop, catalogue};

use crate::field_text::{line, short, storable};
use crate::{EngineCx, LocalContext, Right};

/// Most characters of a name, of `params` and of a comment.
const LINE_MOST: usize = 255;
/// Most characters of a description.
const DESCR_MOST: usize = 1000;
/// Most characters of an author's name.
const AUTHOR_MOST: usize = 100;
/// Most characters of a record.
const BODY_MOST: usize = 1 << 20;
/// Most characters of an appendix.
const APPENDIX_MOST: usize = 8 << 20;

crate::tool!("repo_write", right: Right::Command("AGENT_REPO_WRITE"), effect: Destroys,
    refuses: [missing_parameter, not_both, no_such_file, not_utf8, too_long, repo_is_a_number, topic_is_a_number,
        no_open_section, no_such_topic, section_flag_missing, topic_name_taken, nothing_to_change, table_in_work],
    run: run, prepare: prepare);

/// Makes (`repo`, `name`), changes or removes a topic, or writes a record in one: records never change, the last is the topic's state.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    action: Action,
    /// Section of a new topic
    repo: Option<i64>,
    /// The topic
    topic: Option<i64>,
    /// Topic's name
    name: Option<String>,
    /// Topic: what it is about
    descr: Option<String>,
    /// Topic: a line of words
    params: Option<String>,
    /// Record: who writes
    author: Option<String>,
    /// Record
    body: Option<String>,
    /// Or a UTF-8 file
    body_source: Option<String>,
    /// Record: what is new
    comment: Option<String>,
    /// Record: a further text
    appendix: Option<String>,
    /// Or a UTF-8 file
    appendix_source: Option<String>,
}

/// What to do.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    TopicCreate,
    TopicUpdate,
    TopicRemove,
    StoreWrite,
}

/// What travels: the texts themselves instead of their sources.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    action: Action,
    repo: Option<i64>,
    topic: Option<i64>,
    name: Option<String>,
    descr: Option<String>,
    params: Option<String>,
    author: Option<String>,
    body: Option<String>,
    comment: Option<String>,
    appendix: Option<String>,
}

/// What was done.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// Number of the new record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<i64>,
    /// Number of the topic.
    topic: i64,
    /// Its name.
    name: String,
    /// Whether the topic is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    saved: Option<Saved>,
    /// How many records went with the removed topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    records: Option<u64>,
    /// Bytes of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
    /// Bytes of its appendix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    appendix_size: Option<usize>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Saved {
    Created,
    Updated,
}

fn prepare(local: &LocalContext, args: Args) -> Result<Sent, Stop> {
    let body = local.text_or_file("body", args.body, args.body_source, BODY_MOST)?;
    let appendix = local.text_or_file("appendix", args.appendix, args.appendix_source, APPENDIX_MOST)?;
    let Args { action, repo, topic, name, descr, params, author, comment, .. } = args;
    Ok(Sent { action, repo, topic, name, descr, params, author, body, comment, appendix })
}

fn run(cx: &mut EngineCx<'_>, sent: Sent) -> Result<Answer, Stop> {
    match sent.action {
        Action::TopicCreate => create(cx, &sent),
        Action::TopicUpdate => update(cx, &sent),
        Action::TopicRemove => remove(cx, &sent),
        Action::StoreWrite => write(cx, &sent),
    }
}

/// A line of the call, where it is named.
fn named(field: &str, value: Option<&String>, most: usize) -> Result<Option<String>, Stop> {
    Ok(value.map(|value| line(field, value, most)).transpose()?)
}

/// What must be said, and not by space alone.
fn required(field: &str, value: Option<String>, about: &str) -> Result<String, Stop> {
    let said = value.filter(|value| !value.trim().is_empty());
    said.ok_or_else(|| catalogue::missing_parameter(field, about).into())
}

fn create(cx: &mut EngineCx<'_>, sent: &Sent) -> Result<Answer, Stop> {
    let id = sent.repo.filter(|id| *id > 0).ok_or_else(catalogue::repo_is_a_number)?;
    let section = super::section(cx, id, "topic_create")?;
    cx.refuse_in_work("repo_topics")?;
    let name = named("name", sent.name.as_ref(), LINE_MOST)?;
    let fields = Fields {
        name: required("name", name, "A name that others will search for.")?,
        descr: named("descr", sent.descr.as_ref(), DESCR_MOST)?.unwrap_or_default(),
        params: named("params", sent.params.as_ref(), LINE_MOST)?.unwrap_or_default(),
    };
    refuse_taken(cx, section.id, &fields.name, None)?;
    let topic = topics::create(cx.tx, section.id, cx.caller.id, &fields, cx.now)?;
    Ok(Answer { topic, name: fields.name, saved: Some(Saved::Created), ..Answer::default() })
}

/// Refuses the name of another topic of the section.
fn refuse_taken(cx: &mut EngineCx<'_>, section: i64, name: &str, own: Option<i64>) -> Result<(), Stop> {
    match topics::named(cx.tx, section, name)? {
        Some((id, name)) if Some(id) != own => {
            Err(catalogue::topic_name_taken(&quoted(&name, LINE_MOST), id).into())
        }
        _ => Ok(()),
    }
}

fn update(cx: &mut EngineCx<'_>, sent: &Sent) -> Result<Answer, Stop> {
    let seen = super::topic(cx, sent.topic, "topic_update")?;
    cx.refuse_in_work("repo_topics")?;
    if sent.name.is_none() && sent.descr.is_none() && sent.params.is_none() {
        return Err(catalogue::nothing_to_change().into());
    }
    let name = match named("name", sent.name.as_ref(), LINE_MOST)? {
        Some(name) => Some(required("name", Some(name), "A topic keeps a name.")?),
        None => None,
    };
    // Two who change different fields at once both keep theirs: the topic is read again behind the lock.
    refuse_taken(cx, seen.section_id, name.as_deref().unwrap_or(&seen.name), Some(seen.id))?;
    let topic = topics::by_id(cx.tx, seen.id)?.ok_or_else(|| catalogue::no_such_topic(seen.id))?;
    let fields = Fields {
        name: name.unwrap_or(topic.name),
        descr: named("descr", sent.descr.as_ref(), DESCR_MOST)?.unwrap_or(topic.descr),
        params: named("params", sent.params.as_ref(), LINE_MOST)?.unwrap_or(topic.params),
    };
    topics::update(cx.tx, topic.id, &fields, cx.now)?;
    Ok(Answer { topic: topic.id, name: fields.name, saved: Some(Saved::Updated), ..Answer::default() })
}

fn remove(cx: &mut EngineCx<'_>, sent: &Sent) -> Result<Answer, Stop> {
    let topic = super::topic(cx, sent.topic, "topic_remove")?;
    cx.refuse_in_work("repo_topics")?;
    cx.refuse_in_work("repo_records")?;
    let records = topics::remove(cx.tx, topic.id)?;
    Ok(Answer { topic: topic.id, name: topic.name, records: Some(records), ..Answer::default() })
}

fn write(cx: &mut EngineCx<'_>, sent: &Sent) -> Result<Answer, Stop> {
    let topic = super::topic(cx, sent.topic, "store_write")?;
    cx.refuse_in_work("repo_records")?;
    let author = named("author", sent.author.as_ref(), AUTHOR_MOST)?;
    let author = required("author", author, "Who writes: the assistant's name.")?;
    let body = required("body", sent.body.clone(), "The record, or its file in `body_source`.")?;
    short("body", &body, BODY_MOST)?;
    let appendix = sent.appendix.as_deref().filter(|appendix| !appendix.is_empty());
    appendix.map_or(Ok(()), |appendix| short("appendix", appendix, APPENDIX_MOST))?;
    let comment = named("comment", sent.comment.as_ref(), LINE_MOST)?.unwrap_or_default();
    let (body, appendix) = (storable(&body), appendix.map(storable));
    let new = NewRecord {
        topic_id: topic.id,
        user_id: cx.caller.id,
        author: &author,
        comment: &comment,
        body: &body,
        appendix: appendix.as_deref(),
    };
    let record = records::create(cx.tx, &new, cx.now)?;
    Ok(Answer {
        record: Some(record.ok_or_else(|| catalogue::no_such_topic(topic.id))?),
        topic: topic.id,
        name: topic.name,
        size: Some(body.len()),
        appendix_size: appendix.map(|appendix| appendix.len()),
        ..Answer::default()
    })
}
