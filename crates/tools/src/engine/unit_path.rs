//! Paths of units and templates, as the tools that make them take them.

use wire::text::quoted;
use wire::{Refusal, catalogue};

use crate::StorePath;

/// Most characters of a unit's name.
const NAME_MOST: usize = 64;

/// A unit by its name and the language of its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnitPath {
    /// Name.
    pub(crate) name: String,
    /// Ending of its code: `js` or `php`.
    pub(crate) ending: String,
}

impl UnitPath {
    /// Reads a parameter that names a unit's code.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, Refusal> {
        let path = StorePath::parse(name, text)?;
        let shown = quoted(path.as_str(), 200);
        match path.parts().as_slice() {
            ["templates", ..] => Err(catalogue::templates_tree(&shown)),
            ["units", _, _, ..] => Err(catalogue::units_are_flat(&shown)),
            ["units", file] => Self::of_file(file).ok_or_else(|| catalogue::not_a_module_path(&shown)),
            _ => Err(catalogue::not_a_module_path(&shown)),
        }
    }

    /// The unit of a file in `units/`.
    pub(crate) fn of_file(file: &str) -> Option<Self> {
        let (name, ending) = file.rsplit_once('.')?;
        let fits = matches!(ending, "js" | "php") && is_unit_name(name);
        fits.then(|| Self { name: name.to_owned(), ending: ending.to_owned() })
    }

    /// The unit of a path from the root.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        path.strip_prefix("units/").and_then(Self::of_file)
    }

    /// Its code.
    pub(crate) fn code(&self) -> StorePath {
        StorePath::made(format!("units/{}.{}", self.name, self.ending))
    }

    /// Its manifest.
    pub(crate) fn manifest(&self) -> StorePath {
        StorePath::made(format!("units/{}.json", self.name))
    }

    /// Its folder in a group of templates.
    pub(crate) fn folder(&self, group: &str) -> String {
        format!("templates/{group}/units/{}", self.name)
    }

    /// Whether it is made for other units only and has no templates.
    pub(crate) fn is_library(&self) -> bool {
        let mut words = self.name.split('_');
        let is_include = |word: &str| matches!(word, "inc" | "include");
        match (words.next(), words.next()) {
            (Some(_), None) => true,
            (Some(first), Some(second)) => is_include(first) || is_include(second),
            (None, _) => false,
        }
    }
}

/// Whether a unit may be called so.
pub fn is_unit_name(name: &str) -> bool {
    let mut letters = name.bytes();
    name.len() <= NAME_MOST
        && letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_')
}

/// A template by its group, unit and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TemplatePath {
    /// Group of templates.
    pub(crate) group: String,
    /// Unit.
    pub(crate) unit: String,
    /// Name without its ending.
    pub(crate) name: String,
}

impl TemplatePath {
    /// The template of a path; `None` where it is none.
    pub(crate) fn of(path: &StorePath) -> Option<Self> {
        let parts = path.parts();
        let ["templates", group, "units", unit, file] = parts.as_slice() else { return None };
        let name = file.strip_suffix(".htm")?;
        let is_word = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        };
        let fits = is_word(group) && is_unit_name(unit) && is_word(name);
        fits.then(|| Self { group: (*group).to_owned(), unit: (*unit).to_owned(), name: name.to_owned() })
    }

    /// Reads the parameter `path`.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let path = StorePath::parse("path", text)?;
        Self::of(&path).ok_or_else(|| catalogue::template_path(&quoted(path.as_str(), 200)))
    }

    /// Reads the parameter `new_path`.
    pub(crate) fn parse_new(text: &str) -> Result<Self, Refusal> {
        let path = StorePath::parse("new_path", text)?;
        Self::of(&path).ok_or_else(|| catalogue::template_new_path(&quoted(path.as_str(), 200)))
    }

    /// Its file.
    pub(crate) fn path(&self) -> StorePath {
        StorePath::made(format!("templates/{}/units/{}/{}.htm", self.group, self.unit, self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_flat_plain_names() {
        let name = |text| UnitPath::parse("path", text).map_err(|refusal| refusal.name().to_owned());
        assert_eq!(name("units/home.js").unwrap().code().as_str(), "units/home.js");
        assert_eq!(name("./../units/a_b2.php").unwrap().manifest().as_str(), "units/a_b2.json");
        for (text, refusal) in [
            ("units/Home.js", "not_a_module_path"),
            ("units/2a.js", "not_a_module_path"),
            ("units/a-b.js", "not_a_module_path"),
            ("units/a.b.js", "not_a_module_path"),
            ("units/a.json", "not_a_module_path"),
            ("units/.js", "outside_store"),
            ("home.js", "not_a_module_path"),
            ("units", "not_a_module_path"),
            ("units/a/b.js", "units_are_flat"),
            ("templates/default/units/home/main.htm", "templates_tree"),
            ("units/../a.js", "outside_store"),
        ] {
            assert_eq!(name(text).unwrap_err(), refusal, "{text}");
        }
        assert!(name(&format!("units/{}.js", "a".repeat(65))).is_err());
    }

    #[test]
    fn libraries_are_known_by_their_name() {
        let is_library = |file| UnitPath::of_file(file).unwrap().is_library();
        assert!(is_library("format.js") && is_library("inc_format.js") && is_library("catalog_include_x.js"));
        assert!(!is_library("catalog_menu.js") && !is_library("catalog_increase.js"));
    }

    #[test]
    fn templates_lie_in_their_unit_s_folder() {
        let path = TemplatePath::parse("templates/default/units/home/main.htm").unwrap();
        assert_eq!(path.path().as_str(), "templates/default/units/home/main.htm");
        for text in [
            "templates/default/units/home/main.html",
            "templates/default/units/home/a/main.htm",
            "templates/default/statics/main.htm",
            "templates/default/units/Home/main.htm",
            "templates/default/units/home/a.b.htm",
            "units/home.js",
        ] {
            assert_eq!(TemplatePath::parse(text).unwrap_err().name(), "template_path", "{text}");
            assert_eq!(TemplatePath::parse_new(text).unwrap_err().name(), "template_new_path", "{text}");
        }
    }
}
