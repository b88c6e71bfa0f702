//! Reading a store's files below its root: links that lead out of it are not followed, and no file is endless.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Largest file that is read whole.
const LARGEST: u64 = 8 * 1024 * 1024;

/// The folders below a store's root from which a page is made.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// The tree of this root.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Where a path from the root lies.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The content of a file; `None` where there is none, or where a link leads out of `folder`.
    pub(crate) fn read(&self, folder: &str, relative: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(path) = self.inside(folder, relative)? else { return Ok(None) };
        let mut file = std::fs::File::open(path)?;
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Ok(None);
        }
        if meta.len() > LARGEST {
            return Err(io::Error::other(format!("larger than {LARGEST} bytes")));
        }
        let mut content = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
        file.by_ref().take(LARGEST).read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// The text of a file, as [`Tree::read`]; a byte-order mark is let through.
    pub(crate) fn text(&self, folder: &str, relative: &str) -> io::Result<Option<String>> {
        let Some(content) = self.read(folder, relative)? else { return Ok(None) };
        let text = String::from_utf8(content).map_err(|_| io::Error::other("not UTF-8 text"))?;
        Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
    }

    /// Where a file really lies; `None` where there is none, or where a link leads out of `folder`.
    pub(crate) fn inside(&self, folder: &str, relative: &str) -> io::Result<Option<PathBuf>> {
        let real = |path: PathBuf| match path.canonicalize() {
            Ok(path) => Ok(Some(path)),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        };
        let Some(folder) = real(self.path(folder))? else { return Ok(None) };
        Ok(real(self.path(relative))?.filter(|path| path.starts_with(&folder)))
    }
}

/// A part of the path that is a file, or too long a name, is no path to a file either.
fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename | InvalidInput)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_elsewhere_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("units")).unwrap();
        std::fs::write(root.join("config.json"), "{}").unwrap();
        std::fs::write(root.join("units/a.js"), "\u{feff}1").unwrap();
        let tree = Tree::new(&root);
        assert_eq!(tree.text("units", "units/a.js").unwrap().as_deref(), Some("1"));
        for path in ["units/b.js", "units", "units/a.js/b.js", "units/../config.json", "config.json"] {
            assert_eq!(tree.read("units", path).unwrap(), None, "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("config.json"), root.join("units/c.js")).unwrap();
            assert_eq!(tree.read("units", "units/c.js").unwrap(), None);
        }
    }
}
