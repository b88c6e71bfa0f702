//! Rows that lie in each other, by `parent_id`, in an order: categories and items of menus.

use jiff::Timestamp;

use crate::id_list::Ids;
use crate::{DbError, Tx, categories, micros, schema};

/// A tree whose nodes are added, moved and removed by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Categories: a removed one stays, marked.
    Categories,
    /// Items of menus, each menu a tree of its own.
    MenuItems,
}

/// What a table is among trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tree that is changed node by node.
    Open(Tree),
    /// A tree that only its own windows and commands change.
    Closed,
    /// No tree.
    None,
}

/// What came of moving a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It lies there now.
    Done,
    /// There is no such node, or the parent lies inside of it.
    Not,
}

/// What this table is.
pub fn kind(table: &str) -> Kind {
    match table {
        "categories" => Kind::Open(Tree::Categories),
        "menu_items" => Kind::Open(Tree::MenuItems),
        _ if schema::table(table).is_some_and(|table| table.is_tree) => Kind::Closed,
        _ => Kind::None,
    }
}

impl Tree {
    fn table(self) -> &'static str {
        match self {
            Self::Categories => "categories",
            Self::MenuItems => "menu_items",
        }
    }

    /// What nodes that are there have in common.
    fn alive(self) -> &'static str {
        match self {
            Self::Categories => "deleted is null",
            Self::MenuItems => "1 = 1",
        }
    }

    fn hold(self, tx: &mut Tx) -> Result<(), DbError> {
        tx.lock(self.table())
    }

    /// Whether there is a node of this number.
    pub fn has(self, tx: &mut Tx, id: i64) -> Result<bool, DbError> {
        let sql = format!("select 1 as yes from {} where id = :id and {}", self.table(), self.alive());
        Ok(tx.row(&sql, &[("id", id.into())])?.is_some())
    }

    /// Numbers of the nodes directly in one, or at the top, in their order; items of one menu only.
    fn children(self, tx: &mut Tx, parent: Option<i64>, menu: Option<i64>) -> Result<Vec<i64>, DbError> {
        let mut which = match parent {
            Some(_) => "parent_id = :parent".to_owned(),
            None => "parent_id is null".to_owned(),
        };
        let mut params = Vec::new();
        params.extend(parent.map(|parent| ("parent", parent.into())));
        if let Some(menu) = menu {
            which.push_str(" and menu_id = :menu");
            params.push(("menu", menu.into()));
        }
        let (table, alive) = (self.table(), self.alive());
        let sql = format!("select id from {table} where {which} and {alive} order by position, id");
        tx.rows(&sql, &params)?.iter().map(|row| row.get("id")).collect()
    }

    /// The menu of an item; none of a category.
    fn menu_of(self, tx: &mut Tx, id: i64) -> Result<Option<i64>, DbError> {
        if self == Self::Categories {
            return Ok(None);
        }
        let row = tx.row("select menu_id from menu_items where id = :id", &[("id", id.into())])?;
        row.map(|row| row.get("menu_id")).transpose()
    }

    fn parent_of(self, tx: &mut Tx, id: i64) -> Result<Option<i64>, DbError> {
        let sql = format!("select parent_id from {} where id = :id", self.table());
        match tx.row(&sql, &[("id", id.into())])? {
            Some(row) => row.get("parent_id"),
            None => Ok(None),
        }
    }

    /// Adds an empty node behind its brothers; `None` where it is not clear which menu an item at the top is of.
    pub fn add(
        self,
        tx: &mut Tx,
        parent: Option<i64>,
        author: i64,
        now: Timestamp,
    ) -> Result<Option<i64>, DbError> {
        self.hold(tx)?;
        let menu = match (self, parent) {
            (Self::Categories, _) => None,
            (Self::MenuItems, Some(parent)) => self.menu_of(tx, parent)?,
            (Self::MenuItems, None) => {
                let menus = tx.rows("select id from menus order by id limit 2", &[])?;
                let [menu] = menus.as_slice() else { return Ok(None) };
                Some(menu.get("id")?)
            }
        };
        let position = self.next_position(tx, parent, menu)?;
        if self == Self::Categories {
            let new = categories::NewCategory {
                parent_id: parent,
                position,
                author_id: Some(author),
                ..categories::NewCategory::default()
            };
            return categories::insert(tx, &new, now).map(Some);
        }
        let id = tx.insert(
            "insert into menu_items (menu_id, parent_id, position, name, author_id, created, changed)
             values (:menu, :parent, :position, '', :author, :now, :now) returning id",
            &[
                ("menu", menu.into()),
                ("parent", parent.into()),
                ("position", position.into()),
                ("author", author.into()),
                ("now", micros(now).into()),
            ],
        )?;
        Ok(Some(id))
    }

    fn next_position(self, tx: &mut Tx, parent: Option<i64>, menu: Option<i64>) -> Result<i64, DbError> {
        let brothers = self.children(tx, parent, menu)?;
        let Some(last) = brothers.last() else { return Ok(1) };
        let sql = format!("select position from {} where id = :id", self.table());
        let row = tx.row(&sql, &[("id", (*last).into())])?;
        Ok(row.map_or(Ok(0), |row| row.get::<i64>("position"))? + 1)
    }

    /// Moves a node, with all in it, behind those that lie in the new parent.
    pub fn move_to(
        self,
        tx: &mut Tx,
        id: i64,
        parent: Option<i64>,
        now: Timestamp,
    ) -> Result<Moved, DbError> {
        self.hold(tx)?;
        if !self.has(tx, id)? || parent.map_or(Ok(false), |parent| self.is_inside(tx, parent, id))? {
            return Ok(Moved::Not);
        }
        let menu = match parent {
            Some(parent) => self.menu_of(tx, parent)?,
            None => self.menu_of(tx, id)?,
        };
        let position = self.next_position(tx, parent, menu)?;
        if self == Self::Categories {
            let is_done = categories::move_to(tx, id, parent, position, now)?;
            return Ok(if is_done { Moved::Done } else { Moved::Not });
        }
        tx.run(
            "update menu_items set parent_id = :parent, position = :position, changed = :now, version = version + 1
             where id = :id",
            &[
                ("id", id.into()),
                ("parent", parent.into()),
                ("position", position.into()),
                ("now", micros(now).into()),
            ],
        )?;
        // What lies in an item is of the same menu.
        let nodes = self.subtree(tx, id)?;
        let nodes = Ids::new("node", &nodes);
        let sql = format!(
            "update menu_items set menu_id = :menu, changed = :now, version = version + 1
             where id in {} and menu_id <> :menu",
            nodes.places()
        );
        tx.run(&sql, &nodes.with(&[("menu", menu.into()), ("now", micros(now).into())]))?;
        Ok(Moved::Done)
    }

    /// Whether a node is another one or lies in it.
    fn is_inside(self, tx: &mut Tx, node: i64, other: i64) -> Result<bool, DbError> {
        Ok(self.subtree(tx, other)?.contains(&node))
    }

    /// A node and all that lie in it, a parent before its children; a circle ends by itself.
    fn subtree(self, tx: &mut Tx, id: i64) -> Result<Vec<i64>, DbError> {
        let mut found = vec![id];
        let mut at = 0;
        while let Some(&parent) = found.get(at) {
            for child in self.children(tx, Some(parent), None)? {
                if !found.contains(&child) {
                    found.push(child);
                }
            }
            at += 1;
        }
        Ok(found)
    }

    /// Changes places with the brother before it, or with the one behind it; the first and the last stay.
    pub fn step(self, tx: &mut Tx, id: i64, is_up: bool, now: Timestamp) -> Result<bool, DbError> {
        self.hold(tx)?;
        if !self.has(tx, id)? {
            return Ok(false);
        }
        let (parent, menu) = (self.parent_of(tx, id)?, self.menu_of(tx, id)?);
        let mut brothers = self.children(tx, parent, menu)?;
        let Some(at) = brothers.iter().position(|brother| *brother == id) else { return Ok(false) };
        let other = if is_up { at.checked_sub(1) } else { Some(at + 1).filter(|at| *at < brothers.len()) };
        if let Some(other) = other {
            brothers.swap(at, other);
        }
        let sql = format!(
            "update {} set position = :position, changed = :now, version = version + 1
             where id = :id and position <> :position",
            self.table()
        );
        for (position, brother) in (1_i64..).zip(brothers) {
            let params = [("id", brother.into()), ("position", position.into()), ("now", micros(now).into())];
            tx.run(&sql, &params)?;
        }
        Ok(true)
    }

    /// Removes a node and all that lie in it; how many.
    pub fn remove(self, tx: &mut Tx, id: i64, now: Timestamp) -> Result<usize, DbError> {
        self.hold(tx)?;
        if !self.has(tx, id)? {
            return Ok(0);
        }
        let nodes = self.subtree(tx, id)?;
        for node in nodes.iter().rev() {
            match self {
                Self::Categories => {
                    categories::remove(tx, *node, now)?;
                }
                Self::MenuItems => {
                    tx.run("delete from menu_items where id = :id", &[("id", (*node).into())])?;
                }
            }
        }
        Ok(nodes.len())
    }
}
