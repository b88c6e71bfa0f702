//! The registry rows of the store's own tools, which a new store begins with and its owner may change.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use db::{Tx, ai_tools, groups};
use serde::Deserialize;
use shop::ai_field::Field;

/// A folder of tools each, in the order in which people see them.
const FOLDERS: &[(&str, &str)] = &[
    ("catalogue.toml", include_str!("store_tools/catalogue.toml")),
    ("orders.toml", include_str!("store_tools/orders.toml")),
    ("people.toml", include_str!("store_tools/people.toml")),
    ("store.toml", include_str!("store_tools/store.toml")),
];
/// Words of fields that mean the same everywhere.
const COMMON: &str = include_str!("store_tools/common.toml");
/// The group whose people run what is not the owners' only, where the store has it.
const MANAGERS: &str = "MANAGER";

/// Lays the rows into a store that has no tools yet.
pub(crate) fn lay(tx: &mut Tx, language: &str) -> Result<()> {
    if ai_tools::count(tx)? > 0 {
        return Ok(());
    }
    let managers = groups::by_skey(tx, MANAGERS, language)?.map(|group| group.id);
    let common: Common = toml::from_str(COMMON).context("common.toml")?;
    let mut layer = Layer { tx, language, managers, common: common.words };
    for (file, text) in FOLDERS {
        let folder: Folder = toml::from_str(text).context(*file)?;
        layer.folder(&folder).context(*file)?;
    }
    Ok(())
}

struct Layer<'a> {
    tx: &'a mut Tx,
    language: &'a str,
    managers: Option<i64>,
    common: BTreeMap<String, Text>,
}

impl Layer<'_> {
    fn folder(&mut self, folder: &Folder) -> Result<()> {
        let parent = ai_tools::create_folder(self.tx, None, folder.folder.of(self.language))?;
        for tool in &folder.tools {
            let (name, descr) = (tool.name.of(self.language), tool.descr.of(self.language));
            let id = ai_tools::create_tool(self.tx, Some(parent), &tool.unit, name, descr)?;
            for command in &tool.commands {
                self.command(id, command).with_context(|| format!("{} of {}", command.name, tool.unit))?;
            }
        }
        Ok(())
    }

    fn command(&mut self, tool: i64, command: &Command) -> Result<()> {
        let id = ai_tools::create_command(self.tx, tool, &command.name, command.descr.of(self.language))?;
        if let Some(managers) = self.managers.filter(|_| !command.owners_only) {
            ai_tools::grant(self.tx, id, None, Some(managers))?;
        }
        for field in &command.fields {
            let common = self.common.get(&field.name);
            let text = field.descr.as_ref().or(common);
            let text = text.with_context(|| format!("the field {} has no words", field.name))?;
            let new = Field {
                name: field.name.clone(),
                kind: field.r#type.clone(),
                required: field.required,
                default: field.default.clone(),
                descr: text.of(self.language).to_owned(),
            };
            ai_tools::create_field(self.tx, id, &new)?;
        }
        Ok(())
    }
}

/// A text in both languages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    en: String,
    ru: String,
}

impl Text {
    fn of(&self, language: &str) -> &str {
        if language == "ru" { &self.ru } else { &self.en }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    words: BTreeMap<String, Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Folder {
    folder: Text,
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    unit: String,
    name: Text,
    descr: Text,
    commands: Vec<Command>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    name: String,
    descr: Text,
    /// Not for managers.
    #[serde(default)]
    owners_only: bool,
    #[serde(default)]
    fields: Vec<Declared>,
}

/// A field. One without words of its own has the common ones.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    name: String,
    r#type: String,
    #[serde(default)]
    required: bool,
    default: Option<String>,
    descr: Option<Text>,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use shop::ai_field;

    use super::*;

    fn folders() -> Vec<Folder> {
        FOLDERS.iter().map(|(_, text)| toml::from_str(text).unwrap()).collect()
    }

    #[test]
    fn every_command_is_a_function_of_its_unit() {
        let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store_files/units");
        for tool in folders().iter().flat_map(|folder| &folder.tools) {
            let file = units.join(format!("{}.js", tool.unit.to_lowercase()));
            let code = std::fs::read_to_string(&file).unwrap();
            for command in &tool.commands {
                assert!(
                    code.contains(&format!("export function {}(", command.name)),
                    "{} {}",
                    tool.unit,
                    command.name
                );
            }
            let functions = code.matches("export function Cmd").count();
            assert_eq!(functions, tool.commands.len(), "{}: every function is a command", tool.unit);
        }
    }

    #[test]
    fn every_field_has_words_a_type_and_a_default_of_it() {
        let common: Common = toml::from_str(COMMON).unwrap();
        let folders = folders();
        let commands = folders.iter().flat_map(|folder| &folder.tools).flat_map(|tool| &tool.commands);
        for field in commands.flat_map(|command| &command.fields) {
            assert!(field.descr.is_some() || common.words.contains_key(&field.name), "{}", field.name);
            let kind = ai_field::FieldType::parse(&field.r#type);
            let kind = kind.unwrap_or_else(|| panic!("{} {}", field.name, field.r#type));
            if let Some(default) = &field.default {
                assert!(kind.taken(serde_json::from_str(default).unwrap()).is_ok(), "{}", field.name);
                assert!(!field.required, "{}: a default of a required field is never taken", field.name);
            }
        }
    }
}
