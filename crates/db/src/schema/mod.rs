//! What every table is for and what its columns mean: the one declaration behind `docs/database.md`, the secrets that
//! agents never read, and the rules about who may write what.
//!
//! Migrations make the tables; a test compares them with these declarations on both databases.

mod catalogue;
mod content;
mod document;
mod engine;
mod money;
mod orders;
mod people;
mod spec;
mod stock;
mod work;

pub use document::tables_as_markdown;
pub use spec::{Access, ColumnSpec, Section, Sets, TableSpec, Words};

/// All tables by section, in the order of `docs/database.md`.
pub const SECTIONS: &[&Section] = &[
    &people::PEOPLE,
    &people::RIGHTS,
    &people::LISTS,
    &catalogue::CATALOGUE,
    &catalogue::SHARED,
    &money::PRICES,
    &money::TAXES,
    &stock::STOCK,
    &orders::CUSTOMERS,
    &orders::CARTS,
    &orders::ORDERS,
    &orders::DELIVERY,
    &money::PAYMENTS,
    &money::PROMOTIONS,
    &content::CONTENT,
    &content::SUPPLIERS,
    &content::DERIVED,
    &work::WORK,
    &work::AI_TOOLS,
    &work::REPOSITORY,
    &engine::ENGINE,
    &engine::JOURNAL,
];

/// All tables.
pub fn tables() -> impl Iterator<Item = &'static TableSpec> {
    SECTIONS.iter().flat_map(|section| section.tables)
}

/// Tables whose changes are in the journal.
pub fn journalled() -> impl Iterator<Item = &'static TableSpec> {
    tables().filter(|table| table.not_journalled.is_none())
}

/// The table of this name, in whatever case its letters are.
pub fn table(name: &str) -> Option<&'static TableSpec> {
    tables().find(|table| table.name.eq_ignore_ascii_case(name))
}

/// Sections whose open tables units may write, where their manifest names them: the shop's own data. What people may do
/// and what the engine keeps is not among it.
const OF_UNITS: &[&Section] = &[
    &catalogue::CATALOGUE,
    &catalogue::SHARED,
    &money::PRICES,
    &money::TAXES,
    &stock::STOCK,
    &orders::CUSTOMERS,
    &money::PROMOTIONS,
    &content::CONTENT,
    &content::SUPPLIERS,
];

/// Whether statements of units may write this table at all. One with a secret in it is written by typed calls only.
pub fn is_written_by_units(name: &str) -> bool {
    let mut tables = OF_UNITS.iter().flat_map(|section| section.tables);
    match tables.find(|table| table.name == name) {
        Some(table) => table.access == Access::Open && !table.columns().any(|column| column.is_secret),
        None => is_owners(name),
    }
}

/// Whether statements of agents may write this table: what units may, and the lists and names that the owner extends.
/// People, rights, tickets, the journal and what hangs together are written by the commands made for them.
pub fn is_written_by_agents(name: &str) -> bool {
    let is_list = people::LISTS.tables.iter().any(|table| table.name == name && table.access == Access::Open);
    is_list || is_written_by_units(name)
}

/// Whether the owner made this table beside ours.
fn is_owners(name: &str) -> bool {
    name.get(..OWNERS.len()).is_some_and(|start| start.eq_ignore_ascii_case(OWNERS)) && table(name).is_none()
}

/// What names of tables begin with that the owner made beside ours: agents read them, and no build makes one.
pub const OWNERS: &str = "own_";

/// Whether agents never read this column. A table that is not declared is a secret as a whole: a newer build may have
/// made it for its secrets.
pub fn is_secret(table_name: &str, column: &str) -> bool {
    match table(table_name) {
        Some(table) => table.is_secret(column),
        None => !table_name.get(..OWNERS.len()).is_some_and(|start| start.eq_ignore_ascii_case(OWNERS)),
    }
}
