//! The settings in force: `config.json` is read anew soon after it changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use crate::settings::{Config, ConfigError, Settings};

/// How often the file is looked at.
pub(crate) const EVERY: Duration = Duration::from_millis(250);
/// A file younger than this is compared by its content: the clock of a file system has coarse ticks.
const YOUNG: Duration = Duration::from_secs(2);

/// The settings in force. Readers never wait for the disk.
pub(crate) struct LiveSettings {
    file: PathBuf,
    current: RwLock<Arc<Settings>>,
}

/// What the watcher knows of the file: enough to see that it changed.
#[derive(Default)]
pub(crate) struct Seen {
    mark: Option<(SystemTime, u64)>,
    text: String,
}

impl LiveSettings {
    /// Settings that were read at the start.
    pub(crate) fn new(root: &Path, settings: Settings) -> Self {
        Self { file: root.join(wire::paths::CONFIG), current: RwLock::new(Arc::new(settings)) }
    }

    /// The settings of this moment; they do not change under the holder.
    pub(crate) fn current(&self) -> Arc<Settings> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks at the file and takes what changed. A broken file leaves the old settings in force.
    pub(crate) fn look(&self, seen: &mut Seen) {
        let Ok(meta) = std::fs::metadata(&self.file) else { return };
        let Ok(changed) = meta.modified() else { return };
        let mark = Some((changed, meta.len()));
        let is_young = changed.elapsed().map_or(true, |age| age < YOUNG);
        if mark == seen.mark && !is_young {
            return;
        }
        seen.mark = mark;
        match std::fs::read_to_string(&self.file) {
            Ok(text) if text == seen.text => {}
            Ok(text) => {
                self.take(&text);
                seen.text = text;
            }
            Err(error) => {
                tracing::warn!(%error, "config.json cannot be read; the old settings stay in force")
            }
        }
    }

    fn take(&self, text: &str) {
        match understand(text) {
            Ok(settings) => {
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                // Kept pages were made under the settings that are held: only others make them old.
                if is_same(&current.config, &settings.config) {
                    return;
                }
                tell_what_waits(&current.config, &settings.config);
                *current = Arc::new(settings);
            }
            Err(error) => tracing::warn!(%error, "config.json is broken; the old settings stay in force"),
        }
    }
}

fn understand(text: &str) -> Result<Settings, ConfigError> {
    let settings = Settings::of(Config::parse(text)?)?;
    for key in settings.config.unknown.keys() {
        tracing::warn!(key = %wire::text::quoted(key, 40), "config.json has a key that this build does not know");
    }
    Ok(settings)
}

fn is_same(one: &Config, other: &Config) -> bool {
    let values = [one, other].map(|config| serde_json::to_value(config).ok());
    values[0].is_some() && values[0] == values[1]
}

fn tell_what_waits(old: &Config, new: &Config) {
    if old.listen != new.listen || old.database != new.database {
        tracing::warn!("config.json has another `listen` or `database`; it takes effect at the next start");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, text: &str) {
        std::fs::write(root.join(wire::paths::CONFIG), text).unwrap();
    }

    #[test]
    fn a_changed_file_is_taken_and_a_broken_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), r#"{"language": "en"}"#);
        let settings = LiveSettings::new(folder.path(), Settings::read(folder.path()).unwrap());
        let mut seen = Seen::default();
        settings.look(&mut seen);
        for (text, language) in [
            (r#"{"language": "ru"}"#, "ru"),
            (r#"{"language": "#, "ru"),
            (r#"{"language": "en", "ip_list": ["x"]}"#, "ru"),
            (r#"{"language": "en"}"#, "en"),
        ] {
            write(folder.path(), text);
            settings.look(&mut seen);
            assert_eq!(settings.current().config.language, language, "{text}");
        }
        std::fs::remove_file(folder.path().join(wire::paths::CONFIG)).unwrap();
        settings.look(&mut seen);
        assert_eq!(settings.current().config.language, "en");
    }
}
