//! Filling a new store with the sample, in one transaction.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow};
use db::options::{Scope, Setting};
use db::repo::{NewSection, Whom};
use db::{Tx, events, groups, notes, options, repo, rights, tasks, translations, users};
use jiff::{SignedDuration, Timestamp};

use super::sample::{self, OptionOf, Sample, Texts, of};
use crate::store_tools;

/// What stands for a password until one is set: no hash verifies against it.
const NO_PASSWORD: &str = "!";

/// Whether the sample is in this store already.
pub(super) fn is_filled(tx: &mut Tx, sample: &Sample) -> Result<bool> {
    for login in sample.logins() {
        if users::by_login(tx, login)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Puts the sample into a store that has its administrator and nothing else.
pub(super) fn fill(tx: &mut Tx, sample: &Sample, language: &str, now: Timestamp) -> Result<()> {
    let mut filler = Filler { tx, language, now, groups: BTreeMap::new(), users: BTreeMap::new() };
    filler.groups(&sample.people.groups)?;
    filler.people(&sample.people.people)?;
    filler.options(&sample.people)?;
    filler.notes(&sample.notes)?;
    filler.tasks(&sample.work.tasks)?;
    filler.events(&sample.work.events)?;
    store_tools::lay(filler.tx, language)?;
    filler.repo(&sample.work.repo)
}

struct Filler<'a> {
    tx: &'a mut Tx,
    /// Language of the texts that a store has only once.
    language: &'a str,
    now: Timestamp,
    /// Numbers by key, or by English name where there is no key.
    groups: BTreeMap<String, i64>,
    users: BTreeMap<String, i64>,
}

impl Filler<'_> {
    fn text(&self, texts: &Texts) -> String {
        of(texts, self.language).to_owned()
    }

    fn ago(&self, hours: i64) -> Result<Timestamp> {
        Ok(self.now.checked_sub(SignedDuration::from_hours(hours))?)
    }

    fn group(&self, word: &str) -> Result<i64> {
        self.groups.get(word).copied().with_context(|| format!("the sample has no group `{word}`"))
    }

    fn user(&self, login: &str) -> Result<i64> {
        self.users.get(login).copied().with_context(|| format!("the sample has no person `{login}`"))
    }

    fn groups(&mut self, all: &[sample::Group]) -> Result<()> {
        for group in all {
            let english = of(&group.name, "en");
            let skey = group.skey.as_deref();
            let id = if group.built_in {
                let there = groups::by_skey(self.tx, skey.unwrap_or_default(), "en")?;
                there.with_context(|| format!("the store has no group {skey:?}"))?.id
            } else {
                let id = groups::create(self.tx, skey, english)?;
                for (language, name) in &group.name {
                    translations::set(self.tx, "groups", id, language, name)?;
                }
                id
            };
            for command in &group.grants {
                known(rights::grant_to_group(self.tx, id, command)?, command)?;
            }
            self.groups.insert(skey.unwrap_or(english).to_owned(), id);
        }
        Ok(())
    }

    fn people(&mut self, all: &[sample::Person]) -> Result<()> {
        for person in all {
            let id = match users::by_login(self.tx, &person.login)? {
                Some(user) => user.id,
                None => users::create(
                    self.tx,
                    &users::NewUser {
                        login: person.login.clone(),
                        name: self.text(&person.name),
                        password_hash: NO_PASSWORD.to_owned(),
                        main_group: Some(self.group(&person.group)?),
                        now: self.now,
                    },
                )?,
            };
            for group in &person.more_groups {
                users::add_group(self.tx, id, self.group(group)?)?;
            }
            for command in &person.grants {
                known(rights::grant_to_user(self.tx, id, command)?, command)?;
            }
            self.users.insert(person.login.clone(), id);
        }
        Ok(())
    }

    fn options(&mut self, sample: &sample::People) -> Result<()> {
        let of_users = self.create_options(Scope::User, &sample.user_options)?;
        for person in &sample.people {
            for (word, value) in &person.options {
                let (option, setting) = chosen(&of_users, word, value)?;
                options::set_for_user(self.tx, self.user(&person.login)?, option, &setting)?;
            }
        }
        let of_groups = self.create_options(Scope::Group, &sample.group_options)?;
        for group in &sample.groups {
            let id = self.group(group.skey.as_deref().unwrap_or_else(|| of(&group.name, "en")))?;
            for (word, value) in &group.options {
                let (option, setting) = chosen(&of_groups, word, value)?;
                options::set_for_group(self.tx, id, option, &setting)?;
            }
        }
        Ok(())
    }

    fn create_options(&mut self, target: Scope, all: &[OptionOf]) -> Result<Made> {
        let mut made = Made::new();
        for option in all {
            let name = self.text(&option.name);
            let id = options::create(self.tx, target, option.skey.as_deref(), &name)?;
            let mut values = BTreeMap::new();
            for value in &option.values {
                let name = self.text(&value.name);
                let value_id = options::create_value(self.tx, id, value.skey.as_deref(), &name)?;
                values.insert(value.word().to_owned(), value_id);
            }
            made.insert(option.word().to_owned(), (id, values));
        }
        Ok(made)
    }

    fn notes(&mut self, all: &[sample::Note]) -> Result<()> {
        for (count, note) in (1..).zip(all) {
            let owner = match (note.level.as_str(), &note.group, &note.owner) {
                ("all", None, None) => notes::Owner::All,
                ("group", Some(group), None) => notes::Owner::Group(self.group(group)?),
                ("own", None, Some(login)) => notes::Owner::Own(self.user(login)?),
                _ => return Err(anyhow!("the note `{}` is of no level", of(&note.name, "en"))),
            };
            let fields = notes::Fields {
                name: self.text(&note.name),
                kind_key: note.kind.clone(),
                category: self.text(&note.category),
                info: self.text(&note.info),
                body: self.text(&note.body),
            };
            let edited = self.ago(24 * count)?;
            notes::create(self.tx, owner, &fields, edited)?;
        }
        Ok(())
    }

    fn tasks(&mut self, all: &[sample::Task]) -> Result<()> {
        for task in all {
            let given = self.ago(24 * task.days_ago + 1)?;
            let new = tasks::NewTask {
                creator_id: self.user(&task.creator)?,
                executor_id: self.user(&task.executor)?,
                state: task.state.clone(),
                name: self.text(&task.title),
                body: self.text(&task.text),
                due: None,
                now: given,
            };
            let id = tasks::create(self.tx, &new)?;
            for note in &task.notes {
                let (author, text) = (self.user(&note.author)?, self.text(&note.text));
                tasks::add_note(self.tx, id, author, &text, given)?;
            }
        }
        Ok(())
    }

    fn events(&mut self, all: &[sample::Event]) -> Result<()> {
        for event in all {
            let user = |login: &Option<String>| login.as_deref().map(|login| self.user(login)).transpose();
            let new = events::NewEvent {
                user_id: user(&event.author)?,
                to_user: user(&event.to_user)?,
                to_group: event.to_group.as_deref().map(|group| self.group(group)).transpose()?,
                princ_id: user(&event.princ)?,
                key: event.key.clone(),
                data: serde_json::from_str(&event.data)?,
                now: self.ago(event.hours_ago)?,
            };
            events::create(self.tx, &new)?;
        }
        Ok(())
    }

    fn repo(&mut self, all: &[sample::Branch]) -> Result<()> {
        for branch in all {
            let (name, descr) = (self.text(&branch.name), self.text(&branch.descr));
            let parent = self.section(None, None, name, descr)?;
            for section in &branch.sections {
                let (name, descr) = (self.text(&section.name), self.text(&section.descr));
                let id = self.section(Some(parent), Some(section.skey.clone()), name, descr)?;
                for (who, flags) in &section.may {
                    let whom = match self.users.get(who) {
                        Some(user) => Whom::User(*user),
                        None => Whom::Group(self.group(who)?),
                    };
                    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
                    repo::set_flags(self.tx, id, whom, &flags)?;
                }
            }
        }
        Ok(())
    }

    fn section(
        &mut self,
        parent: Option<i64>,
        skey: Option<String>,
        name: String,
        descr: String,
    ) -> Result<i64> {
        let new = NewSection { parent, skey, name, descr, kind_key: "kShared".to_owned() };
        Ok(repo::create_section(self.tx, &new)?)
    }
}

/// Options that were made: number and the numbers of the list's values, by the words of the files.
type Made = BTreeMap<String, (i64, BTreeMap<String, i64>)>;

fn chosen(made: &Made, word: &str, value: &str) -> Result<(i64, Setting)> {
    let (id, values) = made.get(word).with_context(|| format!("the sample has no option `{word}`"))?;
    if values.is_empty() {
        return Ok((*id, Setting::Text(value.to_owned())));
    }
    let listed = values.get(value).with_context(|| format!("the option `{word}` has no value `{value}`"))?;
    Ok((*id, Setting::Listed(*listed)))
}

fn known(there: bool, command: &str) -> Result<()> {
    there.then_some(()).with_context(|| format!("the tree of operations has no `{command}`"))
}
