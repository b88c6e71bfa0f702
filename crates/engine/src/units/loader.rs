//! Units as they lie on disk: source, manifest, and bytecode kept until the source changes.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use sandbox::{Compiled, Pool};

use super::compile::compile;
use super::error::UnitError;
use super::manifest::Manifest;
use super::name;
use super::stamp::{Stamp, is_as_it_was};
use super::tree::Tree;

/// Most modules one unit may be made of.
const MOST_MODULES: usize = 64;

/// A unit that can be run.
#[derive(Clone)]
pub(crate) struct Unit {
    /// Its name.
    pub(crate) name: String,
    /// Its manifest.
    pub(crate) manifest: Arc<Manifest>,
    /// The unit first, then everything it imports.
    pub(crate) modules: Vec<Arc<Compiled>>,
    /// What it is told of the visit.
    pub(crate) uses: Uses,
    /// The files it was made of, from the root, as they were read.
    pub(crate) files: Vec<(String, Option<Stamp>)>,
}

/// What a unit's code mentions of the visit. What it does not mention it is not told, so that the cache knows by
/// what its answer can differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// The address and its fields.
    pub(crate) request: bool,
    /// Who asks: user, customer, session, cookies.
    pub(crate) visitor: bool,
    /// The clock or chance.
    pub(crate) chance: bool,
}

impl Uses {
    /// What a source mentions: any of the words, whatever they mean there. A name that is put together while it
    /// runs finds nothing.
    fn of(source: &str) -> Self {
        let words: HashSet<&str> =
            source.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
        Self {
            request: words.contains("request"),
            visitor: ["user", "customer", "session", "cookies"].iter().any(|word| words.contains(word)),
            chance: ["Date", "random"].iter().any(|word| words.contains(word)),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            request: self.request || other.request,
            visitor: self.visitor || other.visitor,
            chance: self.chance || other.chance,
        }
    }
}

/// One module as it was read.
#[derive(Clone)]
struct Module {
    source_stamp: Option<Stamp>,
    manifest_stamp: Option<Stamp>,
    source_hash: blake3::Hash,
    manifest: Arc<Manifest>,
    compiled: Arc<Compiled>,
    uses: Uses,
}

/// The units below a root.
pub(crate) struct Loader {
    tree: Tree,
    kept: Mutex<HashMap<String, Module>>,
}

impl Loader {
    /// The tree.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The units of this tree.
    pub(crate) fn new(tree: Tree) -> Self {
        Self { tree, kept: Mutex::default() }
    }

    /// Whether there is a unit of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        name::is_unit(name) && matches!(self.tree.inside("units", &source_path(name)), Ok(Some(_)))
    }

    /// The manifest alone, for who does not run the unit.
    pub(crate) fn manifest(&self, name: &str) -> Result<Manifest, UnitError> {
        let path = manifest_path(name);
        let text = self.tree.text("units", &path).map_err(|error| unreadable(&path, &error))?;
        text.map_or_else(|| Ok(Manifest::default()), |text| Manifest::parse(&path, &text))
    }

    /// A unit with everything it imports, as the files are now.
    pub(crate) fn load(&self, name: &str, pool: &Pool) -> Result<Unit, UnitError> {
        if !name::is_unit(name) {
            return Err(UnitError::NotFound(name.to_owned()));
        }
        let Some(entry) = self.module(name, pool)? else { return Err(UnitError::NotFound(name.to_owned())) };
        let mut unit = Unit {
            name: name.to_owned(),
            manifest: Arc::clone(&entry.manifest),
            modules: vec![Arc::clone(&entry.compiled)],
            uses: entry.uses,
            files: vec![
                (source_path(name), entry.source_stamp.clone()),
                (manifest_path(name), entry.manifest_stamp.clone()),
            ],
        };
        let mut at = 0;
        while let Some(module) = unit.modules.get(at).cloned() {
            for import in module.imports() {
                self.add(&mut unit, import, pool)?;
            }
            at += 1;
        }
        Ok(unit)
    }

    /// Adds an imported module, once.
    fn add(&self, unit: &mut Unit, import: &str, pool: &Pool) -> Result<(), UnitError> {
        if unit.modules.iter().any(|known| known.name() == import) {
            return Ok(());
        }
        let missing = || UnitError::NoModule(import.to_owned());
        let name = name::imported(import).ok_or_else(missing)?;
        if unit.modules.len() >= MOST_MODULES {
            return Err(UnitError::Broken(format!("more than {MOST_MODULES} modules")));
        }
        let module = self.module(name, pool)?.ok_or_else(missing)?;
        unit.modules.push(module.compiled);
        unit.uses = unit.uses.and(module.uses);
        unit.files.push((source_path(name), module.source_stamp));
        Ok(())
    }

    /// A module as the files are now; `None` where there is none.
    fn module(&self, name: &str, pool: &Pool) -> Result<Option<Module>, UnitError> {
        let (source_path, manifest_path) = (source_path(name), manifest_path(name));
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(module) = &kept
            && is_as_it_was(&self.tree.path(&source_path), module.source_stamp.as_ref())
            && is_as_it_was(&self.tree.path(&manifest_path), module.manifest_stamp.as_ref())
        {
            return Ok(kept);
        }
        let read = |path: &str| self.tree.text("units", path).map_err(|error| unreadable(path, &error));
        let Some(source) = read(&source_path)? else {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
            return Ok(None);
        };
        let manifest_text = read(&manifest_path)?;
        let manifest = Manifest::parse(&manifest_path, manifest_text.as_deref().unwrap_or_default())?;
        let source_hash = blake3::hash(source.as_bytes());
        let (compiled, uses) = match kept.filter(|module| module.source_hash == source_hash) {
            Some(module) => (module.compiled, module.uses),
            None => (Arc::new(compile(pool, &source_path, &source)?), Uses::of(&source)),
        };
        let stamp = |path: &str, text: &str| Stamp::of(&self.tree.path(path), text.as_bytes());
        let module = Module {
            source_stamp: stamp(&source_path, &source),
            manifest_stamp: manifest_text.and_then(|text| stamp(&manifest_path, &text)),
            source_hash,
            manifest: Arc::new(manifest),
            compiled,
            uses,
        };
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), module.clone());
        Ok(Some(module))
    }
}

/// Where a unit's code lies, from the root; also the name under which it is compiled and imported.
pub(crate) fn source_path(name: &str) -> String {
    format!("units/{name}.js")
}

fn manifest_path(name: &str) -> String {
    format!("units/{name}.json")
}

fn unreadable(path: &str, error: &io::Error) -> UnitError {
    UnitError::Broken(format!("{path} cannot be read: {error}"))
}
