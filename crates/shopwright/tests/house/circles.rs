//! No file of a crate imports in a circle.
//!
//! An arrow runs from a file to the file that defines what it names. A parent
//! module that only hands on the names of its children is no stop on the way:
//! the arrow goes to the file behind it. What a module takes from the modules
//! around it is no arrow: it is a part of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::Imports;
use crate::workspace::sources;

/// The files of one crate, by module path.
struct Crate {
    modules: BTreeMap<Vec<String>, Module>,
}

struct Module {
    file: String,
    imports: Imports,
}

/// From file to file: the names that tie them.
type Arrows = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

impl Crate {
    fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut modules = BTreeMap::new();
        for (file, text) in files {
            modules.insert(module_of(file), Module { file: file.to_owned(), imports: Imports::read(text) });
        }
        let tests: Vec<Vec<String>> = modules
            .iter()
            .flat_map(|(path, module)| module.imports.test_modules.iter().map(|name| joined(path, [name])))
            .collect();
        modules.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
        Self { modules }
    }

    /// Where a name leads that is written in this module: the file that defines it.
    fn target(&self, from: &[String], path: &[String], steps: usize) -> Option<Vec<String>> {
        let (mut module, mut rest) = self.start(from, path)?;
        while let Some((first, others)) = rest.split_first() {
            let child = joined(&module, [first]);
            if first == "super" {
                module.pop();
            } else if self.modules.contains_key(&child) {
                module = child;
            } else {
                return Some(self.handed_on(&module, rest, steps).unwrap_or(module));
            }
            rest = others;
        }
        // A module alone is no name of its own: what is taken from it counts where it is taken.
        None
    }

    /// The module where a path begins, and what is left of the path.
    fn start<'p>(&self, from: &[String], path: &'p [String]) -> Option<(Vec<String>, &'p [String])> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), rest)),
            "self" => Some((from.to_vec(), rest)),
            "super" => Some((from[..from.len().checked_sub(1)?].to_vec(), rest)),
            _ if self.modules.contains_key(&joined(from, [first])) => Some((from.to_vec(), path)),
            _ => None,
        }
    }

    /// Follows a name that a module only hands on to the file that defines it.
    fn handed_on(&self, module: &[String], rest: &[String], steps: usize) -> Option<Vec<String>> {
        let imports = &self.modules.get(module)?.imports;
        let name = rest.first()?;
        if steps == 0 || imports.defined.contains(name) {
            return None;
        }
        let named = imports.uses.iter().find(|one| one.within.is_empty() && one.name == *name);
        if let Some(named) = named {
            return self.target(module, &joined(&named.path, &rest[1..]), steps - 1);
        }
        let globs = imports.uses.iter().filter(|one| one.within.is_empty() && one.name == "*");
        globs.into_iter().find_map(|glob| {
            let path = joined(&glob.path[..glob.path.len() - 1], rest);
            let found = self.target(module, &path, steps - 1)?;
            self.modules.get(&found)?.imports.defined.contains(name).then_some(found)
        })
    }

    fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (path, module) in &self.modules {
            for (within, names) in self.named(path, &module.imports) {
                let Some(target) = self.target(&joined(path, &within), &names, 8) else { continue };
                let is_around = path.starts_with(&target);
                let target = self.file_of(&target);
                if *target != module.file && !is_around {
                    let ties = arrows.entry(module.file.clone()).or_default();
                    ties.entry(target.clone()).or_default().insert(names.join("::"));
                }
            }
        }
        arrows
    }

    /// The file of a module; an inline one lies in the file around it.
    fn file_of(&self, module: &[String]) -> &String {
        let ends = (0..=module.len()).rev();
        let around = ends.into_iter().find_map(|end| self.modules.get(&module[..end]));
        &around.expect("the crate has a root").file
    }

    /// Every path that a file names, with the inline modules around it.
    fn named(&self, path: &[String], imports: &Imports) -> Vec<(Vec<String>, Vec<String>)> {
        let mut named = imports.paths.clone();
        for one in &imports.uses {
            // What is only handed on is not used here.
            if !one.is_public || imports.words.contains(&one.name) {
                named.push((one.within.clone(), one.path.clone()));
            }
        }
        // A path may begin with a module that a `use` named.
        for (within, names) in &imports.paths {
            let by_use = imports.uses.iter().find(|one| one.name == names[0] && one.within == *within);
            if let Some(one) = by_use
                && !self.modules.contains_key(&joined(path, [&names[0]]))
            {
                named.push((within.clone(), joined(&one.path, &names[1..])));
            }
        }
        named
    }
}

fn joined<'a>(path: &'a [String], more: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    path.iter().chain(more).cloned().collect()
}

/// The module that a file below `src` holds.
fn module_of(file: &str) -> Vec<String> {
    let inside = file.split_once("/src/").map_or(file, |(_, inside)| inside);
    let mut parts: Vec<String> = inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// Groups of files that reach each other.
fn circles(arrows: &Arrows) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        arrows.keys().map(|file| (file, reach(arrows, file))).collect();
    let mut circles = Vec::new();
    for (file, reaches) in &reached {
        if !reaches.contains(file) {
            continue;
        }
        let back = |other: &&&String| reached.get(**other).is_some_and(|from| from.contains(file));
        let circle: BTreeSet<String> = reaches.iter().filter(back).map(|other| (*other).clone()).collect();
        if !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

fn reach<'a>(arrows: &'a Arrows, file: &String) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut left: Vec<&String> = arrows.get(file).into_iter().flat_map(BTreeMap::keys).collect();
    while let Some(next) = left.pop() {
        if found.insert(next) {
            left.extend(arrows.get(next).into_iter().flat_map(BTreeMap::keys));
        }
    }
    found
}

/// The circle in words: which names tie which files.
fn told(circle: &BTreeSet<String>, arrows: &Arrows) -> String {
    let mut words = String::new();
    for from in circle {
        for (to, names) in arrows[from].iter().filter(|(to, _)| circle.contains(*to)) {
            words.push_str(&format!(
                "\n  {from} -> {to}: {}",
                names.iter().cloned().collect::<Vec<_>>().join(", ")
            ));
        }
    }
    words
}

fn is_shipped(name: &str) -> bool {
    name.starts_with("crates/")
        && name.contains("/src/")
        && !name.ends_with("tests.rs")
        && !name.contains("/tests/")
}

#[test]
fn no_file_imports_in_a_circle() {
    let sources = sources();
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (name, text) in sources.iter().filter(|(name, _)| is_shipped(name)) {
        let of = name.split('/').nth(1).unwrap();
        crates.entry(of).or_default().push((name, text));
    }
    assert!(crates.len() > 10, "the crates are found");
    let mut said = Vec::new();
    for files in crates.into_values() {
        let arrows = Crate::new(files).arrows();
        said.extend(circles(&arrows).iter().map(|circle| told(circle, &arrows)));
    }
    assert!(said.is_empty(), "{} circles:{}", said.len(), said.join("\n"));
}

/// The circles of a made-up crate.
fn of(files: &[(&str, &str)]) -> Vec<BTreeSet<String>> {
    circles(&Crate::new(files.iter().copied()).arrows())
}

#[test]
fn two_files_that_name_each_other_are_a_circle() {
    let files = [
        ("crates/x/src/lib.rs", "mod a; mod b;"),
        ("crates/x/src/a.rs", "use crate::b::{self, Two}; pub struct One(Two);"),
        ("crates/x/src/b.rs", "pub struct Two; fn two() { super::a::One::new(\"{ // \", '\"', 'a') }"),
    ];
    assert_eq!(of(&files).len(), 1);
    let harmless = (
        "crates/x/src/b.rs",
        "//! crate::a::One\npub struct Two; /* crate::a::One */ const A: &str = r#\"crate::a::One\"#;",
    );
    assert!(of(&[files[0], files[1], harmless]).is_empty());
    let in_tests = ("crates/x/src/b.rs", "pub struct Two; #[cfg(test)] mod tests { use crate::a::One; }");
    assert!(of(&[files[0], files[1], in_tests]).is_empty());
}

#[test]
fn a_circle_over_names_handed_on_is_found_behind_them() {
    let files = [
        ("crates/x/src/lib.rs", "mod a; mod b;"),
        ("crates/x/src/a/mod.rs", "mod inner; pub use inner::One; pub use self::inner::*;"),
        ("crates/x/src/a/inner.rs", "use crate::b; pub struct One; pub struct Three; fn one() { b::two() }"),
        ("crates/x/src/b.rs", "use crate::a::Three; pub fn two(_: Three) {}"),
    ];
    let circle: BTreeSet<String> =
        ["crates/x/src/a/inner.rs", "crates/x/src/b.rs"].map(str::to_owned).into_iter().collect();
    assert_eq!(of(&files), [circle]);
}

#[test]
fn a_parent_that_hands_on_is_no_circle() {
    let files = [
        ("crates/x/src/lib.rs", "mod a; pub use a::One;"),
        ("crates/x/src/a.rs", "mod inner; mod other; pub use inner::One; pub use other::Two;"),
        ("crates/x/src/a/inner.rs", "use super::Two; pub struct One(Two);"),
        ("crates/x/src/a/other.rs", "pub struct Two;"),
    ];
    assert!(of(&files).is_empty());
    let parent = ("crates/x/src/a.rs", "mod inner; pub struct Two; fn a() { inner::one() }");
    assert!(of(&[files[0], parent, ("crates/x/src/a/inner.rs", "pub fn one(_: super::Two) {}")]).is_empty());
    // Through a third file it is one all the same.
    let third = ("crates/x/src/b.rs", "pub fn b() { crate::a::a() }");
    let inner = ("crates/x/src/a/inner.rs", "pub fn one() { crate::b::b() }");
    assert_eq!(of(&[files[0], parent, inner, third]).len(), 1);
}
