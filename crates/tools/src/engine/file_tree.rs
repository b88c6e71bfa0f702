//! Statics and images: which paths they have, and what is done to files and folders of both.

use std::collections::BTreeSet;

use wire::text::quoted;
use wire::{Refusal, Stop, catalogue};

use super::bundles;
use crate::{EngineCx, StorePath};

/// Longest name of a file or folder that visitors can ask for.
const NAME: usize = 64;
/// Endings of files at the root that are everybody's.
const AT_ROOT: [&str; 5] = ["txt", "xml", "html", "htm", "webmanifest"];
/// Files that are named for one that is not there.
const SIMILAR: usize = 5;

/// A kind of files that visitors get as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// Styles, scripts, fonts and public texts.
    Statics,
    /// Pictures.
    Images,
}

/// What came of another name or place.
pub(crate) struct Renamed {
    /// How many files of bundles were among it.
    pub(crate) bundled: u64,
    /// The newest version there is of it.
    pub(crate) version: i64,
}

impl Tree {
    /// The folder's name in each group.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Statics => "statics",
            Self::Images => "images",
        }
    }

    /// Whether a path is that of a file of this kind; a built bundle is none.
    pub(crate) fn has(self, path: &StorePath) -> bool {
        match (self, path.parts().as_slice()) {
            (_, ["templates", _, tree, .., _]) if *tree == self.word() => !bundles::is_built(path),
            (Self::Statics, ["templates", _, "units", _, file]) => !file.ends_with(".htm"),
            (Self::Statics, [file]) => {
                file.rsplit_once('.').is_some_and(|(_, ending)| AT_ROOT.contains(&ending))
            }
            _ => false,
        }
    }

    /// The refusal for a path of another kind.
    fn not_of(self, path: &StorePath) -> Refusal {
        let shown = quoted(path.as_str(), 200);
        match self {
            Self::Statics => catalogue::not_a_static(&shown),
            Self::Images => catalogue::not_an_image(&shown),
        }
    }

    /// Reads the path of a file.
    pub(crate) fn file(self, name: &str, text: &str) -> Result<StorePath, Refusal> {
        let path = StorePath::parse(name, text)?;
        if self.has(&path) { Ok(path) } else { Err(self.not_of(&path)) }
    }

    /// Reads the path of a folder below a group's folder of this tree.
    fn folder(self, name: &str, text: &str) -> Result<StorePath, Refusal> {
        let path = StorePath::parse(name, text)?;
        match path.parts().as_slice() {
            ["templates", _, tree] if *tree == self.word() => {
                Err(catalogue::tree_root(self.word(), &quoted(path.as_str(), 200)))
            }
            ["templates", _, tree, ..] if *tree == self.word() => Ok(path),
            _ => Err(catalogue::not_a_tree_folder(self.word(), &quoted(path.as_str(), 200))),
        }
    }

    /// The refusal for a file that is not there.
    pub(crate) fn missing(self, cx: &mut EngineCx<'_>, path: &StorePath) -> Result<Stop, Stop> {
        if cx.files.has_folder(cx.tx, path)? && self == Self::Images {
            return Ok(catalogue::a_folder(&quoted(path.as_str(), 200)).into());
        }
        let shown = quoted(path.as_str(), 200);
        Ok(match self {
            Self::Statics => catalogue::file_not_found(&shown).into(),
            Self::Images => {
                let similar = similar(cx, path)?;
                catalogue::no_image(&shown, &similar).into()
            }
        })
    }

    fn exists(self, path: &StorePath) -> Refusal {
        match self {
            Self::Statics => catalogue::file_exists(path.file_name()),
            Self::Images => catalogue::image_exists(path.file_name()),
        }
    }

    /// Refuses a path whose folder is not there.
    pub(crate) fn refuse_no_folder(self, cx: &mut EngineCx<'_>, path: &StorePath) -> Result<(), Stop> {
        match path.parent() {
            Some(folder) if !cx.files.has_folder(cx.tx, &folder)? => {
                Err(catalogue::folder_not_found(&quoted(folder.as_str(), 200)).into())
            }
            _ => Ok(()),
        }
    }

    /// Gives a file another name or another folder.
    pub(crate) fn rename(self, cx: &mut EngineCx<'_>, path: &str, new_path: &str) -> Result<Renamed, Stop> {
        let path = self.file("path", path)?;
        let new_path = StorePath::parse("new_path", new_path)?;
        if new_path == path {
            return Err(catalogue::same_path().into());
        }
        refuse_two_acts(&path, &new_path)?;
        let is_move = path.parent() != new_path.parent();
        let fits = if is_move { target_tree(&new_path).is_some() } else { self.has(&new_path) };
        if !fits {
            return Err(self.not_of(&new_path).into());
        }
        if !is_plain(new_path.file_name()) {
            return Err(catalogue::new_plain_name(&quoted(new_path.file_name(), 80)).into());
        }
        cx.hold_file(&path)?;
        cx.hold_file(&new_path)?;
        if !cx.has_file(&path)? {
            return Err(self.missing(cx, &path)?);
        }
        refuse_no_target(cx, &new_path)?;
        if cx.has_file(&new_path)? || cx.files.has_folder(cx.tx, &new_path)? {
            return Err(self.exists(&new_path).into());
        }
        let version = cx.move_file(&path, &new_path)?;
        let bundled = bundles::moved(cx, &[(path, Some(new_path))])?;
        Ok(Renamed { bundled, version })
    }

    /// Removes a file; how many files of bundles it was.
    pub(crate) fn remove(self, cx: &mut EngineCx<'_>, path: &StorePath) -> Result<u64, Stop> {
        cx.hold_file(path)?;
        if !cx.has_file(path)? {
            return Err(self.missing(cx, path)?);
        }
        cx.remove_file(path)?;
        bundles::moved(cx, &[(path.clone(), None)])
    }

    /// Makes a folder.
    pub(crate) fn add_folder(self, cx: &mut EngineCx<'_>, path: &str) -> Result<StorePath, Stop> {
        let path = self.folder("path", path)?;
        if !is_plain_folder(path.file_name()) {
            return Err(catalogue::plain_name(&quoted(path.file_name(), 80)).into());
        }
        cx.hold_file(&path)?;
        if cx.has_file(&path)? || cx.files.has_folder(cx.tx, &path)? {
            return Err(catalogue::folder_path_exists(&quoted(path.as_str(), 200)).into());
        }
        self.refuse_no_folder(cx, &path)?;
        cx.save_file(&path.folder_mark(), b"")?;
        Ok(path)
    }

    /// A folder that must be there.
    fn known_folder(self, cx: &mut EngineCx<'_>, path: &str) -> Result<StorePath, Stop> {
        let path = self.folder("path", path)?;
        if cx.files.has_folder(cx.tx, &path)? {
            return Ok(path);
        }
        Err(catalogue::no_tree_folder(self.word(), &quoted(path.as_str(), 200)).into())
    }

    /// Gives a folder another name or another place, with all that is in it.
    pub(crate) fn rename_folder(
        self,
        cx: &mut EngineCx<'_>,
        path: &str,
        new_path: &str,
    ) -> Result<Renamed, Stop> {
        let path = self.known_folder(cx, path)?;
        let new_path = StorePath::parse("new_path", new_path)?;
        if new_path == path {
            return Err(catalogue::same_path().into());
        }
        if new_path.as_str().starts_with(&format!("{}/", path.as_str())) {
            return Err(catalogue::inside_itself().into());
        }
        refuse_two_acts(&path, &new_path)?;
        if target_tree(&new_path).is_none() {
            return Err(catalogue::not_a_tree_folder(self.word(), &quoted(new_path.as_str(), 200)).into());
        }
        if !is_plain_folder(new_path.file_name()) {
            return Err(catalogue::new_plain_name(&quoted(new_path.file_name(), 80)).into());
        }
        cx.hold_file(&path)?;
        cx.hold_file(&new_path)?;
        refuse_no_target(cx, &new_path)?;
        if cx.has_file(&new_path)? || cx.files.has_folder(cx.tx, &new_path)? {
            return Err(catalogue::folder_exists(new_path.file_name()).into());
        }
        let moved = move_all(cx, &path, &new_path)?;
        let version = moved.1;
        let moved: Vec<_> = moved.0.into_iter().map(|(from, to)| (from, Some(to))).collect();
        Ok(Renamed { bundled: bundles::moved(cx, &moved)?, version })
    }

    /// Removes a folder with all that is in it; how many files of bundles were among it.
    pub(crate) fn remove_folder(self, cx: &mut EngineCx<'_>, path: &str) -> Result<(StorePath, u64), Stop> {
        let path = self.known_folder(cx, path)?;
        cx.hold_file(&path)?;
        let gone = remove_all(cx, &path)?;
        let gone: Vec<_> = gone.into_iter().map(|path| (path, None)).collect();
        Ok((path, bundles::moved(cx, &gone)?))
    }
}

/// Moves all files of a folder; from where to where, and the newest version.
pub(crate) fn move_all(
    cx: &mut EngineCx<'_>,
    path: &StorePath,
    new_path: &StorePath,
) -> Result<(Vec<(StorePath, StorePath)>, i64), Stop> {
    let (files, folders) = inside(cx, path)?;
    let to = |from: &StorePath| {
        let rest = from.as_str().get(path.as_str().len()..).unwrap_or_default();
        StorePath::made(format!("{}{rest}", new_path.as_str()))
    };
    for folder in &folders {
        cx.save_file(&to(folder).folder_mark(), b"")?;
    }
    let mut version = cx.save_file(&new_path.folder_mark(), b"")?;
    let mut moved = Vec::with_capacity(files.len());
    for from in files {
        let target = to(&from);
        version = cx.move_file(&from, &target)?;
        moved.push((from, target));
    }
    for folder in folders.iter().chain([path]) {
        cx.remove_file(&folder.folder_mark())?;
    }
    Ok((moved, version))
}

/// Removes a folder with all that is in it; the files that were.
pub(crate) fn remove_all(cx: &mut EngineCx<'_>, path: &StorePath) -> Result<Vec<StorePath>, Stop> {
    let (files, folders) = inside(cx, path)?;
    for file in &files {
        cx.remove_file(file)?;
    }
    for folder in folders.iter().chain([path]) {
        cx.remove_file(&folder.folder_mark())?;
    }
    Ok(files)
}

/// Files and folders in a folder, at whatever depth.
fn inside(cx: &mut EngineCx<'_>, path: &StorePath) -> Result<(Vec<StorePath>, Vec<StorePath>), Stop> {
    let entries = cx.files.entries(path.as_str())?;
    let (folders, files): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.is_folder);
    let paths = |entries: Vec<crate::StoreEntry>| {
        entries.into_iter().map(|entry| StorePath::made(entry.path)).collect::<Vec<_>>()
    };
    Ok((paths(files), paths(folders)))
}

/// The tree of a group that a path to be moved to lies in.
fn target_tree(path: &StorePath) -> Option<Tree> {
    match path.parts().as_slice() {
        ["templates", _, "statics", .., _] if !bundles::is_built(path) => Some(Tree::Statics),
        ["templates", _, "images", .., _] => Some(Tree::Images),
        _ => None,
    }
}

fn refuse_two_acts(path: &StorePath, new_path: &StorePath) -> Result<(), Refusal> {
    let is_two = path.parent() != new_path.parent() && path.file_name() != new_path.file_name();
    if is_two { Err(catalogue::one_act()) } else { Ok(()) }
}

fn refuse_no_target(cx: &mut EngineCx<'_>, new_path: &StorePath) -> Result<(), Stop> {
    match new_path.parent() {
        Some(folder) if !cx.files.has_folder(cx.tx, &folder)? => {
            Err(catalogue::no_such_folder(&quoted(folder.as_str(), 200)).into())
        }
        _ => Ok(()),
    }
}

/// Whether a file may be called so: only such names are handed out to visitors.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= NAME
        && name.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"_-.".contains(&letter))
}

/// Whether a folder or a group may be called so.
pub(crate) fn is_plain_folder(name: &str) -> bool {
    is_plain(name) && !name.contains('.')
}

/// Pictures with a name like the one that is not there.
fn similar(cx: &mut EngineCx<'_>, path: &StorePath) -> Result<String, Stop> {
    let stem = path.file_name().split('.').next().unwrap_or_default().to_lowercase();
    let mut found = BTreeSet::new();
    for entry in cx.files.entries("templates")?.into_iter().filter(|entry| !entry.is_folder) {
        let name = entry.path.rsplit('/').next().unwrap_or_default().to_lowercase();
        let is_like = !stem.is_empty()
            && (name.contains(&stem) || stem.contains(name.split('.').next().unwrap_or("?")));
        if is_like && Tree::Images.has(&StorePath::made(entry.path.clone())) {
            found.insert(format!("`{}`", entry.path));
        }
    }
    let found: Vec<String> = found.into_iter().take(SIMILAR).collect();
    Ok(if found.is_empty() { String::new() } else { format!(" Similar: {}.", found.join(", ")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_of_one_tree_or_of_none() {
        let path = |text: &str| StorePath::parse("path", text).unwrap();
        for (text, is_static, is_image) in [
            ("templates/a/statics/main.css", true, false),
            ("templates/a/statics/x/y/main.css", true, false),
            ("templates/a/statics/bundle.main.css", false, false),
            ("templates/a/statics", false, false),
            ("templates/a/units/home/home.css", true, false),
            ("templates/a/units/home/main.htm", false, false),
            ("templates/a/images/x/logo.svg", false, true),
            ("templates/a/bundles.json", false, false),
            ("units/home.js", false, false),
            ("google1.html", true, false),
            ("shop.php", false, false),
            ("files/1.txt", false, false),
        ] {
            let found = (Tree::Statics.has(&path(text)), Tree::Images.has(&path(text)));
            assert_eq!(found, (is_static, is_image), "{text}");
        }
    }
}
