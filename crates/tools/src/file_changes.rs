//! Changes of the store's files within a call: versions, the journal, and what `base` asks.

use db::file_versions;
use similar::TextDiff;
use wire::{Stop, catalogue, text::quoted};

use crate::{EngineCx, FileChange, Mistake, StorePath, StoredFile};

/// Most characters of a difference that a refusal shows.
const DIFFERENCE: usize = 1200;

impl EngineCx<'_> {
    /// A file as it is now.
    pub(crate) fn load_file(&mut self, path: &StorePath) -> Result<Option<StoredFile>, Stop> {
        self.files.load(self.tx, path)
    }

    /// Nobody else changes the file until the end of the call, so that what is read of it stays true.
    pub(crate) fn hold_file(&mut self, path: &StorePath) -> Result<(), Stop> {
        Ok(file_versions::hold(self.tx, path.as_str())?)
    }

    /// A file that must be there to be loaded.
    pub(crate) fn loaded_file(&mut self, path: &StorePath) -> Result<StoredFile, Stop> {
        Ok(self.load_file(path)?.ok_or_else(|| catalogue::file_not_found(&quoted(path.as_str(), 200)))?)
    }

    /// Whether there is a file.
    pub(crate) fn has_file(&mut self, path: &StorePath) -> Result<bool, Stop> {
        Ok(self.load_file(path)?.is_some())
    }

    /// Saves a file; answers the number of its version.
    pub(crate) fn save_file(&mut self, path: &StorePath, content: &[u8]) -> Result<i64, Stop> {
        self.change_file(path, Some(content), None)
    }

    /// Removes a file.
    pub(crate) fn remove_file(&mut self, path: &StorePath) -> Result<(), Stop> {
        self.change_file(path, None, None).map(|_| ())
    }

    /// Gives a file another path, where its versions start anew with one that names the old path.
    pub(crate) fn move_file(&mut self, path: &StorePath, new_path: &StorePath) -> Result<i64, Stop> {
        let file = self.loaded_file(path)?;
        let version = self.change_file(new_path, Some(&file.bytes), Some(path.as_str()))?;
        self.remove_file(path)?;
        Ok(version)
    }

    fn change_file(
        &mut self,
        path: &StorePath,
        content: Option<&[u8]>,
        moved_from: Option<&str>,
    ) -> Result<i64, Stop> {
        let change = FileChange {
            path,
            content,
            user_id: self.caller.id,
            time: self.now,
            application: &self.entry.application,
            tool: &self.entry.tool,
            moved_from,
        };
        let version = self.files.change(self.tx, change)?;
        Ok(version.id)
    }

    /// Refuses where a file's version is another than the one a save was made from.
    ///
    /// `now` is what the save's tool calls the version; `path` is the file whose difference is shown.
    pub(crate) fn refuse_changed(
        &mut self,
        path: &StorePath,
        base: Option<i64>,
        now: i64,
        content: &[u8],
    ) -> Result<(), Stop> {
        match base {
            Some(base) if base != now => {
                let what = self.since(path, base, content)?;
                Err(catalogue::changed_since(path.as_str(), &what).into())
            }
            _ => Ok(()),
        }
    }

    /// Who changed a file since a version, when, and how.
    fn since(&mut self, path: &StorePath, base: i64, content: &[u8]) -> Result<String, Stop> {
        let newest = file_versions::newest(self.tx, path.as_str())?;
        let who = match newest.filter(|newest| newest.id > base) {
            Some(version) => {
                let who = if version.user.is_empty() { "somebody on the server" } else { &version.user };
                let with = match version.application.as_str() {
                    "" => String::new(),
                    application => format!(" with {}", quoted(application, 60)),
                };
                format!("{who}{with} saved version {} at {}.", version.id, db::seconds(version.time))
            }
            None => "it is not of that version any more, if it ever was.".to_owned(),
        };
        let old = match file_versions::find(self.tx, base)? {
            Some(version) if version.path == path.as_str() => version.hash,
            // A unit's version may be its manifest's: the code was then of the version before.
            _ => file_versions::list(self.tx, path.as_str(), 100)?
                .into_iter()
                .find(|version| version.id < base)
                .and_then(|version| version.hash),
        };
        let Some(old) = old else { return Ok(who) };
        let old = self.files.content(&old)?;
        Ok(match difference(&String::from_utf8_lossy(&old), &String::from_utf8_lossy(content)) {
            Some(difference) => format!("{who}\n{difference}"),
            None => who,
        })
    }
}

/// The difference of two texts as `diff -u` shows it, cut to what a refusal carries.
fn difference(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let diff = TextDiff::from_lines(old, new);
    let text = diff.unified_diff().context_radius(2).header("base", "now").to_string().replace('\t', "    ");
    let mut shown: String = text.chars().take(DIFFERENCE).collect();
    if shown.len() < text.len() {
        shown.push_str("…\n");
    }
    Some(shown.trim_end().to_owned())
}

/// The refusal for a mistake in what is to be saved.
pub(crate) fn syntax_error(path: &str, mistake: &Mistake) -> Stop {
    let text = quoted(mistake.text.trim().trim_end_matches('.'), 500);
    catalogue::syntax_error(path, mistake.line, mistake.column, &text).into()
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_difference_is_shown_line_by_line_and_cut() {
        assert_eq!(difference("a\n", "a\n"), None);
        let shown = difference("a\nb\nc\n", "a\nB\nc\n").unwrap();
        assert!(shown.contains("-b\n+B"), "{shown}");
        let long = difference("", &"line\n".repeat(1000)).unwrap();
        assert!(long.ends_with('…') && long.chars().count() <= 1202);
    }
}
