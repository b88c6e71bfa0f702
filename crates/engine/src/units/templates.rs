//! Templates: one environment for each look of a page, built anew when a file it read has changed.
//!
//! A template is found in its group, else in the store's default group. Text is
//! escaped, time and depth are bounded by fuel, and `unit()` stands for
//! another unit's HTML, which is filled in when the template is through.

mod as_text;
mod filters;
mod rendered;
mod words;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::{AutoEscape, Environment, Error, ErrorKind, Value};

use super::name;
use super::stamp::{Stamp, is_as_it_was};
use super::tree::Tree;

pub(crate) use filters::{
    add_values, clean_html, date_text, decimal, decimal_text, escaped, money_text, plain, write,
};
pub(crate) use rendered::Rendered;

/// Steps one template may take.
const FUEL: u64 = 1_000_000;
/// How deep templates may include and call each other.
const DEPTH: usize = 64;
/// Most looks whose environments are kept.
const KEPT: usize = 64;

/// What pages of one look have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Look {
    /// The group of templates.
    pub(crate) group: String,
    /// The group that holds what the group lacks.
    pub(crate) default_group: String,
    /// The page's language.
    pub(crate) language: String,
    /// The store's language: its words stand where the page's language has none.
    pub(crate) default_language: String,
    /// The page's currency.
    pub(crate) currency: String,
    /// IANA name of the store's time zone.
    pub(crate) time_zone: String,
}

/// Why a template was not rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TemplateError {
    /// Its path from the root.
    pub(crate) path: String,
    /// Line, from 1; 0 is unknown.
    pub(crate) line: usize,
    /// What is wrong.
    pub(crate) text: String,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// All templates of a store.
pub(crate) struct Templates {
    tree: Tree,
    kept: Mutex<HashMap<Look, Arc<Group>>>,
}

impl Templates {
    /// The templates below a root.
    pub(crate) fn new(tree: Tree) -> Self {
        Self { tree, kept: Mutex::default() }
    }

    /// The templates of a look, as the files are now. A page keeps what it got here to its end.
    pub(crate) fn group(&self, look: &Look) -> Arc<Group> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(look).cloned();
        if let Some(group) = kept
            && group.files.are_as_they_were()
        {
            return group;
        }
        let group = Arc::new(Group::new(self.tree.clone(), look));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(look.clone(), Arc::clone(&group));
        group
    }
}

/// The templates of one look.
pub(crate) struct Group {
    environment: Environment<'static>,
    files: Arc<Files>,
    words: Arc<words::Words>,
    look: Look,
}

impl Group {
    fn new(tree: Tree, look: &Look) -> Self {
        let files =
            Arc::new(Files { tree, look: look.clone(), seen: Mutex::default(), addresses: Mutex::default() });
        let words = Arc::new(words::Words::new(Arc::clone(&files)));
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.set_formatter(filters::write);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(DEPTH);
        environment.set_debug(true);
        environment.set_path_join_callback(|name, parent| {
            let unit = parent.split('/').next().unwrap_or_default();
            // A name that leads elsewhere stays as it is, and is then not found.
            name::template(unit, name).map_or_else(|| name.to_owned().into(), Into::into)
        });
        let source = Arc::clone(&files);
        environment.set_loader(move |name| source.template(name));
        rendered::add(&mut environment);
        filters::add(&mut environment, look, &files);
        words::add(&mut environment, &words);
        Self { environment, files, words, look: look.clone() }
    }

    /// Renders a template that a unit names.
    pub(crate) fn render(&self, unit: &str, named: &str, data: Value) -> Result<Rendered, TemplateError> {
        let Some(known) = name::template(unit, named) else {
            let text = "templates are named `<file>.htm` or `<unit>/<file>.htm`".to_owned();
            return Err(TemplateError { path: wire::text::quoted(named, 80), line: 0, text });
        };
        self.environment
            .get_template(&known)
            .and_then(|template| template.render_captured(data))
            .map(Rendered::of)
            .map_err(|error| self.told(&known, &error))
    }

    /// Looks whether a text is a template; for what is about to be saved.
    pub(crate) fn check(path: &str, text: &str) -> Result<(), TemplateError> {
        let environment = Environment::new();
        match environment.template_from_named_str(path, text) {
            Ok(_) => Ok(()),
            Err(error) => Err(TemplateError {
                path: path.to_owned(),
                line: error.line().unwrap_or(0),
                text: error_words(&error),
            }),
        }
    }

    /// The words of a key in the page's language.
    pub(crate) fn words(&self, unit: &str, key: &str, count: Option<i64>) -> String {
        self.words.of(unit, key, count)
    }

    /// The address of a file that every visitor may have, with a mark of its content.
    #[cfg(test)]
    pub(crate) fn address(&self, file: &str) -> Option<String> {
        self.files.address(file)
    }

    /// What every page of this look depends on: the folders of its groups.
    pub(crate) fn folders(&self) -> [String; 2] {
        [&self.look.group, &self.look.default_group].map(|group| format!("templates/{group}"))
    }

    /// An error where it happened: the innermost template that is named.
    fn told(&self, asked: &str, error: &Error) -> TemplateError {
        let mut at = (asked.to_owned(), 0, error_words(error));
        let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(cause) = next {
            if let Some(cause) = cause.downcast_ref::<Error>()
                && let (Some(name), Some(line)) = (cause.name(), cause.line())
            {
                at = (name.to_owned(), line, error_words(cause));
            }
            next = cause.source();
        }
        let (name, line, text) = at;
        let path = self.files.place(&name).unwrap_or_else(|| {
            let group = &self.look.group;
            format!("templates/{group}/units/{name}")
        });
        TemplateError { path, line, text }
    }
}

fn error_words(error: &Error) -> String {
    let kind = error.kind();
    match (kind, error.detail()) {
        (ErrorKind::OutOfFuel, _) => "the template takes too many steps".to_owned(),
        (_, Some(detail)) => format!("{kind}: {detail}"),
        (_, None) => kind.to_string(),
    }
}

/// The files of a look, and what they looked like when they were read.
pub(crate) struct Files {
    tree: Tree,
    look: Look,
    seen: Mutex<HashMap<String, Option<Stamp>>>,
    /// Addresses of files for every visitor, which hold for as long as what was seen does.
    addresses: Mutex<HashMap<String, String>>,
}

impl Files {
    /// The text of a template; one that is missing or empty in its group is the default group's.
    fn template(&self, name: &str) -> Result<Option<String>, Error> {
        let wrong = |error: std::io::Error| Error::new(ErrorKind::InvalidOperation, error.to_string());
        // Whatever asked: nothing but a template's own name leads into the tree.
        let Some(name) = name.split_once('/').and_then(|(unit, file)| name::template(unit, file)) else {
            return Ok(None);
        };
        for path in self.places(&format!("units/{name}")) {
            let text = self.text(&path).map_err(wrong)?;
            if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// A file's text, noted as seen.
    fn text(&self, path: &str) -> std::io::Result<Option<String>> {
        let content = self.tree.read("templates", path)?;
        self.see(path, content.as_deref());
        let text = content
            .map(String::from_utf8)
            .transpose()
            .map_err(|_| std::io::Error::other("not UTF-8 text"))?;
        Ok(text.map(|text| text.trim_start_matches('\u{feff}').to_owned()))
    }

    fn see(&self, path: &str, content: Option<&[u8]>) {
        let stamp = content.and_then(|content| Stamp::of(&self.tree.path(path), content));
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), stamp);
    }

    /// Where a file of a group may lie: in the group, else in the default group.
    fn places(&self, rest: &str) -> Vec<String> {
        let mut groups = vec![&self.look.group, &self.look.default_group];
        groups.dedup();
        groups.retain(|group| name::is_group(group));
        groups.into_iter().map(|group| format!("templates/{group}/{rest}")).collect()
    }

    /// The path of a template that was read.
    fn place(&self, name: &str) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut places = self.places(&format!("units/{name}")).into_iter();
        places.find(|path| matches!(seen.get(path), Some(Some(_))))
    }

    fn are_as_they_were(&self) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.iter().all(|(path, stamp)| is_as_it_was(&self.tree.path(path), stamp.as_ref()))
    }

    fn address(&self, file: &str) -> Option<String> {
        let known = self.addresses.lock().unwrap_or_else(PoisonError::into_inner).get(file).cloned();
        if known.is_some() {
            return known;
        }
        let address = self.read_address(file)?;
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        addresses.insert(file.to_owned(), address.clone());
        Some(address)
    }

    fn read_address(&self, file: &str) -> Option<String> {
        if !file.split('/').all(name::is_plain) {
            return None;
        }
        for path in self.places(&format!("statics/{file}")) {
            let content = self.tree.read("templates", &path).ok()?;
            self.see(&path, content.as_deref());
            if let Some(content) = content {
                return Some(format!("/statics/{}", name::marked(file, &name::mark(&content))));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
