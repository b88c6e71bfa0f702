//! Names of units, templates and groups: what may be part of a path below the store's root.

pub(crate) use tools::is_unit_name as is_unit;

/// Longest name.
const LONGEST: usize = 64;

/// Whether this is a unit of the agent, which no visitor is shown.
pub(crate) fn is_agents(name: &str) -> bool {
    name.starts_with("agent_")
}

/// Whether this can be a group's name: it is a folder below `templates/`.
pub(crate) fn is_group(name: &str) -> bool {
    is_plain(name) && !name.contains('.')
}

/// The unit that an import names: `units/<name>.js`.
pub(crate) fn imported(path: &str) -> Option<&str> {
    let name = path.strip_prefix("units/")?.strip_suffix(".js")?;
    is_unit(name).then_some(name)
}

/// A template's name as the rest of the engine writes it, `<unit>/<file>.htm`; `from` is the unit that names it.
pub(crate) fn template(from: &str, name: &str) -> Option<String> {
    let (unit, file) = name.split_once('/').unwrap_or((from, name));
    let stem = file.strip_suffix(".htm")?;
    (is_unit(unit) && is_plain(stem)).then(|| format!("{unit}/{file}"))
}

/// Letters of the mark of a file's content.
const MARK: usize = 12;

/// The mark of a content, which stands in addresses.
pub(crate) fn mark(content: &[u8]) -> String {
    blake3::hash(content).to_hex().chars().take(MARK).collect()
}

/// A file's name with a mark in front of its ending: `main.0123456789ab.css`.
pub(crate) fn marked(file: &str, mark: &str) -> String {
    match file.rsplit_once('.') {
        Some((stem, ending)) => format!("{stem}.{mark}.{ending}"),
        None => format!("{file}.{mark}"),
    }
}

/// A name as it was before a mark was put into it, and the mark; `None` where there is none in it.
pub(crate) fn unmarked(file: &str) -> Option<(String, &str)> {
    let (rest, ending) = file.rsplit_once('.')?;
    let (stem, mark) = rest.rsplit_once('.')?;
    let is_mark =
        mark.len() == MARK && mark.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    is_mark.then(|| (format!("{stem}.{ending}"), mark))
}

/// Whether this is one plain part of a path: no separator, no dot in front, nothing that hides.
pub(crate) fn is_plain(part: &str) -> bool {
    !part.is_empty()
        && part.len() <= LONGEST
        && !part.starts_with('.')
        && part.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_flat_names_lead_into_units() {
        for name in ["home", "catalog_menu", "inc_format", "a1"] {
            assert!(is_unit(name), "{name}");
        }
        let long = "a".repeat(65);
        for name in ["", "Home", "1a", "_a", "a-b", "a/b", "..", "a.b", "a b", "a\0", "дом", &long] {
            assert!(!is_unit(name), "{name}");
        }
    }

    #[test]
    fn imports_stay_below_units() {
        assert_eq!(imported("units/inc_format.js"), Some("inc_format"));
        for path in [
            "inc_format.js",
            "units/../core/x.js",
            "units/a/b.js",
            "./units/a.js",
            "/units/a.js",
            "units/a.php",
        ] {
            assert_eq!(imported(path), None, "{path}");
        }
    }

    #[test]
    fn templates_stay_in_folders_of_units() {
        assert_eq!(template("home", "main.htm").as_deref(), Some("home/main.htm"));
        assert_eq!(template("home", "layout/page.htm").as_deref(), Some("layout/page.htm"));
        for name in
            ["main.html", "../x.htm", "a/../b.htm", "/etc/x.htm", "a/b/c.htm", ".htm", "a\\b.htm", "a/.x.htm"]
        {
            assert_eq!(template("home", name), None, "{name}");
        }
    }

    #[test]
    fn a_mark_goes_into_a_name_and_out_again() {
        let mark = mark(b"a{}");
        assert_eq!(unmarked(&marked("a/main.css", &mark)), Some(("a/main.css".to_owned(), mark.as_str())));
        for name in ["main.css", "main.min.css", "jquery.0123456789AB.js", "0123456789ab"] {
            assert_eq!(unmarked(name), None, "{name}");
        }
    }

    #[test]
    fn the_agents_units_are_known_by_name() {
        assert!(is_agents("agent_report") && !is_agents("agents"));
    }
}
