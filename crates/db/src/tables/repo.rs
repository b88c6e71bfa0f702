//! The repository: working data that assistants keep for each other. See spec: tools.md, repo.

pub mod records;
pub mod topics;

use std::collections::HashMap;

use crate::id_list::Ids;
use crate::rights::ARROW;
use crate::{DbError, Tx, Value};

/// What can be allowed in a section, in the order it is listed.
pub const FLAGS: [&str; 6] =
    ["topic_list", "topic_create", "topic_update", "topic_remove", "store_read", "store_write"];

/// A section that a person may do something in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Number.
    pub id: i64,
    /// Key, where the owner gave it one.
    pub skey: Option<String>,
    /// Names from the top of the tree.
    pub path: String,
    /// What it is for.
    pub descr: String,
    /// Kind, of the registry's branch `repo_kind`.
    pub kind_key: String,
    /// How many topics it has.
    pub topics: u64,
    /// What the person may do: of [`FLAGS`], in that order.
    pub may: Vec<String>,
}

/// What a new section needs.
#[derive(Clone, Debug)]
pub struct NewSection {
    /// The section it lies in.
    pub parent: Option<i64>,
    /// Key.
    pub skey: Option<String>,
    /// Name.
    pub name: String,
    /// What it is for.
    pub descr: String,
    /// Kind, of the registry's branch `repo_kind`.
    pub kind_key: String,
}

/// Whom flags are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// A person.
    User(i64),
    /// A group.
    Group(i64),
}

/// Sections in which a person of these groups may do something, in the order of the tree.
pub fn sections(tx: &mut Tx, user: i64, groups: &[i64]) -> Result<Vec<Section>, DbError> {
    let groups = Ids::new("group", groups);
    let flags: Vec<_> =
        FLAGS.iter().map(|flag| format!("max(case when f.{flag} then 1 else 0 end) as {flag}")).collect();
    let sql = format!(
        "select f.section_id, {} from repo_flags f
         where f.user_id = :user_id or f.group_id in {} group by f.section_id",
        flags.join(", "),
        groups.places()
    );
    let mut may = HashMap::new();
    for row in tx.rows(&sql, &groups.with(&[("user_id", user.into())]))? {
        let mut allowed = Vec::new();
        for flag in FLAGS {
            if row.get::<bool>(flag)? {
                allowed.push(flag.to_owned());
            }
        }
        if !allowed.is_empty() {
            may.insert(row.get::<i64>("section_id")?, allowed);
        }
    }
    let mut sections = Vec::with_capacity(may.len());
    for (id, node) in tree(tx)? {
        let Some(may) = may.remove(&id) else { continue };
        let Node { skey, path, descr, kind_key, topics } = node;
        sections.push(Section { id, skey, path, descr, kind_key, topics, may });
    }
    Ok(sections)
}

/// All sections with every flag, in the order of the tree.
pub fn all_sections(tx: &mut Tx) -> Result<Vec<Section>, DbError> {
    let sections = tree(tx)?.into_iter().map(|(id, node)| {
        let Node { skey, path, descr, kind_key, topics } = node;
        Section { id, skey, path, descr, kind_key, topics, may: FLAGS.map(str::to_owned).into() }
    });
    Ok(sections.collect())
}

struct Node {
    skey: Option<String>,
    path: String,
    descr: String,
    kind_key: String,
    topics: u64,
}

/// All sections, each after the one it lies in.
fn tree(tx: &mut Tx) -> Result<Vec<(i64, Node)>, DbError> {
    let rows = tx.rows(
        "select s.id, s.parent_id, s.skey, s.name, s.descr, s.kind_key,
           (select count(*) from repo_topics t where t.section_id = s.id) as topics
         from repo_sections s order by s.position, s.id",
        &[],
    )?;
    let mut below: HashMap<Option<i64>, Vec<_>> = HashMap::new();
    for row in rows {
        below.entry(row.get("parent_id")?).or_default().push(row);
    }
    let mut nodes = Vec::new();
    // What is still to be listed, the next one last: rows and the path they lie under.
    let mut waiting: Vec<_> =
        below.remove(&None).unwrap_or_default().into_iter().rev().map(|row| (row, None)).collect();
    while let Some((row, above)) = waiting.pop() {
        let (id, name) = (row.get("id")?, row.get::<String>("name")?);
        let path = above.map_or_else(|| name.clone(), |above: String| format!("{above}{ARROW}{name}"));
        for inner in below.remove(&Some(id)).unwrap_or_default().into_iter().rev() {
            waiting.push((inner, Some(path.clone())));
        }
        nodes.push((
            id,
            Node {
                skey: row.get("skey")?,
                path,
                descr: row.get("descr")?,
                kind_key: row.get("kind_key")?,
                topics: row.get("topics")?,
            },
        ));
    }
    Ok(nodes)
}

/// Adds a section.
pub fn create_section(tx: &mut Tx, new: &NewSection) -> Result<i64, DbError> {
    tx.insert(
        "insert into repo_sections (parent_id, position, skey, name, descr, kind_key) values (:parent_id,
         (select coalesce(max(position), 0) + 1 from repo_sections), :skey, :name, :descr, :kind_key) returning id",
        &[
            ("parent_id", new.parent.into()),
            ("skey", new.skey.clone().into()),
            ("name", (&new.name).into()),
            ("descr", (&new.descr).into()),
            ("kind_key", (&new.kind_key).into()),
        ],
    )
}

/// Sets what a person or a group may do in a section: exactly the flags named, of [`FLAGS`].
pub fn set_flags(tx: &mut Tx, section: i64, whom: Whom, flags: &[&str]) -> Result<(), DbError> {
    if let Some(unknown) = flags.iter().find(|flag| !FLAGS.contains(flag)) {
        return Err(DbError::Parameter((*unknown).to_owned()));
    }
    let (column, id) = match whom {
        Whom::User(id) => ("user_id", id),
        Whom::Group(id) => ("group_id", id),
    };
    let names = FLAGS.join(", ");
    let places: Vec<_> = FLAGS.iter().map(|flag| format!(":{flag}")).collect();
    let changes: Vec<_> = FLAGS.iter().map(|flag| format!("{flag} = excluded.{flag}")).collect();
    let sql = format!(
        "insert into repo_flags (section_id, {column}, {names}) values (:section_id, :whom_id, {})
         on conflict (section_id, {column}) do update set {}",
        places.join(", "),
        changes.join(", ")
    );
    let mut params: Vec<(&str, Value)> = vec![("section_id", section.into()), ("whom_id", id.into())];
    params.extend(FLAGS.iter().map(|flag| (*flag, Value::Bool(flags.contains(flag)))));
    tx.run(&sql, &params)?;
    Ok(())
}
