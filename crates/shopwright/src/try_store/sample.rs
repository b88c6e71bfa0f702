//! What the sample store holds, as its TOML files tell it.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

/// People, groups and options.
const PEOPLE: &str = include_str!("sample/people.toml");
/// Tasks, events, repository.
const WORK: &str = include_str!("sample/work.toml");
/// Memory.
const NOTES: &str = include_str!("sample/notes.toml");

/// The whole sample.
pub(super) struct Sample {
    pub(super) people: People,
    pub(super) work: Work,
    pub(super) notes: Vec<Note>,
}

impl Sample {
    /// Reads the files that are part of the binary.
    pub(super) fn read() -> Result<Self> {
        let notes: Notes = toml::from_str(NOTES).context("notes.toml")?;
        Ok(Self {
            people: toml::from_str(PEOPLE).context("people.toml")?,
            work: toml::from_str(WORK).context("work.toml")?,
            notes: notes.notes,
        })
    }

    /// Logins of the people.
    pub(super) fn logins(&self) -> Vec<&str> {
        self.people.people.iter().map(|person| person.login.as_str()).collect()
    }
}

/// A text in every language that the sample has.
pub(super) type Texts = BTreeMap<String, String>;

/// The text of this language, else the English one.
pub(super) fn of<'a>(texts: &'a Texts, language: &str) -> &'a str {
    texts.get(language).or_else(|| texts.get("en")).map_or("", String::as_str)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct People {
    pub(super) store: Store,
    pub(super) groups: Vec<Group>,
    pub(super) people: Vec<Person>,
    pub(super) user_options: Vec<OptionOf>,
    pub(super) group_options: Vec<OptionOf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Store {
    pub(super) name: Texts,
    pub(super) time_zone: String,
    pub(super) currency: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) skey: Option<String>,
    /// Made by the engine with every store.
    #[serde(default)]
    pub(super) built_in: bool,
    pub(super) name: Texts,
    #[serde(default)]
    pub(super) options: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) grants: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Person {
    pub(super) login: String,
    pub(super) name: Texts,
    pub(super) group: String,
    #[serde(default)]
    pub(super) more_groups: Vec<String>,
    #[serde(default)]
    pub(super) grants: Vec<String>,
    #[serde(default)]
    pub(super) options: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OptionOf {
    pub(super) skey: Option<String>,
    pub(super) name: Texts,
    #[serde(default)]
    pub(super) values: Vec<OptionValue>,
}

impl OptionOf {
    /// What the files call this option by: its key, or its English name.
    pub(super) fn word(&self) -> &str {
        self.skey.as_deref().unwrap_or_else(|| of(&self.name, "en"))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OptionValue {
    pub(super) skey: Option<String>,
    pub(super) name: Texts,
}

impl OptionValue {
    /// What the files call this value by: its key, or its English name.
    pub(super) fn word(&self) -> &str {
        self.skey.as_deref().unwrap_or_else(|| of(&self.name, "en"))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Work {
    pub(super) tasks: Vec<Task>,
    pub(super) events: Vec<Event>,
    pub(super) repo: Vec<Branch>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    pub(super) state: String,
    pub(super) creator: String,
    pub(super) executor: String,
    pub(super) days_ago: i64,
    pub(super) title: Texts,
    pub(super) text: Texts,
    #[serde(default)]
    pub(super) notes: Vec<TaskNote>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskNote {
    pub(super) author: String,
    pub(super) text: Texts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    pub(super) author: Option<String>,
    pub(super) key: String,
    pub(super) to_user: Option<String>,
    pub(super) to_group: Option<String>,
    pub(super) princ: Option<String>,
    pub(super) hours_ago: i64,
    pub(super) data: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Branch {
    pub(super) name: Texts,
    pub(super) descr: Texts,
    pub(super) sections: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    pub(super) skey: String,
    pub(super) name: Texts,
    pub(super) descr: Texts,
    /// Flags by login or group key.
    pub(super) may: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Notes {
    notes: Vec<Note>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    pub(super) level: String,
    pub(super) group: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) kind: String,
    pub(super) category: Texts,
    pub(super) name: Texts,
    pub(super) info: Texts,
    pub(super) body: Texts,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Sample, Texts};

    #[test]
    fn every_text_is_in_both_languages() {
        let sample = Sample::read().unwrap();
        let both = |texts: &Texts| assert!(texts.contains_key("en") && texts.contains_key("ru"), "{texts:?}");
        sample.people.groups.iter().for_each(|group| both(&group.name));
        sample.people.people.iter().for_each(|person| both(&person.name));
        sample.work.tasks.iter().for_each(|task| both(&task.title));
        for note in &sample.notes {
            [&note.name, &note.category, &note.info, &note.body].into_iter().for_each(both);
        }
    }

    #[test]
    fn every_state_of_a_task_is_there() {
        let sample = Sample::read().unwrap();
        let states: BTreeSet<&str> = sample.work.tasks.iter().map(|task| task.state.as_str()).collect();
        let all = ["kNew", "kReassign", "kAccept", "kClarify", "kComplete", "kClose"];
        assert_eq!(states, all.into());
    }

    #[test]
    fn every_level_and_kind_of_notes_is_there() {
        let sample = Sample::read().unwrap();
        let levels: BTreeSet<&str> = sample.notes.iter().map(|note| note.level.as_str()).collect();
        let kinds: BTreeSet<&str> = sample.notes.iter().map(|note| note.kind.as_str()).collect();
        assert_eq!(levels, ["all", "group", "own"].into());
        assert_eq!(kinds, ["kCritical", "kDirect", "kSkill", "kDefault"].into());
    }
}
