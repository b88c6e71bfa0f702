//! `engine_search`: lines of units, templates, styles and scripts with a word.

use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::{Stop, catalogue, text::quoted};

use crate::{EngineCx, LocalContext, Presented, Right, StorePath};

/// Most characters of a line that is shown.
const LINE: usize = 300;
/// Most lines in an answer.
const LINES: usize = 500;
/// Largest file that is searched.
const LARGEST: u64 = 4 << 20;
/// Largest compiled expression: `\w{1000}{1000}` is none.
const EXPRESSION: usize = 1 << 20;
/// Longest expression.
const LONGEST: usize = 1000;

crate::tool!("engine_search", right: Right::Command("AGENT_ENGINE_DEV_READ"), effect: Reads,
    refuses: [bad_regex], run: run, present: present);

/// Finds lines with a word in units, manifests, templates, styles and scripts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Word to find
    keyword: String,
    /// With regard to case
    sensitive: Option<bool>,
    /// The word is a regular expression
    regex: Option<bool>,
}

/// What was found.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Answer {
    /// The word.
    keyword: String,
    /// Whether case counted.
    sensitive: bool,
    /// Files in which it is.
    files: Vec<Found>,
    /// Whether there is more than is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    cut: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Found {
    /// The file.
    path: String,
    /// Number and text of each line.
    lines: Vec<(usize, String)>,
}

fn run(cx: &mut EngineCx<'_>, args: Args) -> Result<Answer, Stop> {
    if args.keyword.trim().is_empty() {
        return Err(catalogue::missing_parameter("keyword", "A word to find.").into());
    }
    let sensitive = args.sensitive.unwrap_or(false);
    let wanted = expression(&args.keyword, sensitive, args.regex.unwrap_or(false))?;
    let mut answer = Answer { keyword: args.keyword, sensitive, files: Vec::new(), cut: false };
    let mut left = LINES;
    for entry in cx.files.entries("")? {
        if entry.is_folder || entry.size > LARGEST || !is_searched(&entry.path) {
            continue;
        }
        let path = StorePath::made(entry.path);
        let Some(file) = cx.load_file(&path)? else { continue };
        let Ok(text) = String::from_utf8(file.bytes) else { continue };
        let hits = text.lines().enumerate().filter(|(_, line)| wanted.is_match(line));
        let lines: Vec<(usize, String)> =
            hits.take(left + 1).map(|(at, line)| (at + 1, quoted(line.trim(), LINE))).collect();
        answer.cut = lines.len() > left;
        left -= lines.len().min(left);
        let lines: Vec<_> = if answer.cut { lines.into_iter().take(LINES).collect() } else { lines };
        if !lines.is_empty() {
            answer.files.push(Found { path: path.as_str().to_owned(), lines });
        }
        if answer.cut {
            break;
        }
    }
    Ok(answer)
}

/// What is looked for. The expressions of this library take time in proportion to the text, whatever they say.
fn expression(keyword: &str, sensitive: bool, is_regex: bool) -> Result<Regex, Stop> {
    let refused = |why: &str| catalogue::bad_regex(&quoted(why.trim_end_matches('.'), 300));
    if keyword.len() > LONGEST {
        return Err(refused(&format!("it is longer than {LONGEST} bytes")).into());
    }
    let pattern = if is_regex { keyword.to_owned() } else { regex::escape(keyword) };
    let built = RegexBuilder::new(&pattern).case_insensitive(!sensitive).size_limit(EXPRESSION).build();
    built.map_err(|error| {
        let words = error.to_string();
        // The last line says what is wrong, those before show where.
        refused(words.lines().last().unwrap_or_default().trim_start_matches("error: ")).into()
    })
}

/// Units and manifests, what lies beside templates, styles and scripts that are no bundles, public texts of the root.
fn is_searched(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["units", _] => true,
        ["templates", _, "units", _, ..] => true,
        ["templates", _, "statics", file] if file.starts_with("bundle.") => false,
        ["templates", _, "statics", ..] => {
            matches!(ending.as_str(), "css" | "js" | "mjs" | "txt" | "json" | "svg")
        }
        [_] => matches!(ending.as_str(), "txt" | "xml" | "html" | "htm" | "webmanifest"),
        _ => false,
    }
}

fn present(_: &LocalContext, _: Args, answer: Answer) -> Result<Presented, Stop> {
    let text = match (answer.files.is_empty(), answer.cut) {
        (true, _) => Some(format!("Nothing found for \"{}\".", quoted(&answer.keyword, 100))),
        (false, true) => Some(format!("Cut after {LINES} lines: say a longer word.")),
        (false, false) => None,
    };
    Ok(Presented { text, ..Presented::data(serde_json::to_value(answer)?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_as_it_is_and_an_expression_as_it_says() {
        let found =
            |word, sensitive, is_regex, text| expression(word, sensitive, is_regex).unwrap().is_match(text);
        assert!(found("a.b", false, false, "xA.By") && !found("a.b", false, false, "axb"));
        assert!(!found("a.b", true, false, "A.B") && found("a.b", true, true, "axb"));
        for bad in ["(", "a{1000}{1000}{1000}", &"a".repeat(2000)] {
            let Err(Stop::Refused(refusal)) = expression(bad, false, true) else { panic!("{bad}") };
            assert!(refusal.text().starts_with("Bad regular expression: "), "{}", refusal.text());
        }
    }

    #[test]
    fn an_evil_expression_takes_time_in_proportion_to_the_text() {
        assert!(!found_in(&"a".repeat(200_000)));
        fn found_in(text: &str) -> bool {
            expression("(a*)*b|(a|a)*c|(.*)*d", false, true).unwrap().is_match(text)
        }
    }

    #[test]
    fn built_bundles_and_pictures_are_not_searched() {
        for (path, wanted) in [
            ("units/home.js", true),
            ("units/home.json", true),
            ("templates/default/units/home/main.htm", true),
            ("templates/default/statics/css/main.css", true),
            ("templates/default/statics/font.woff2", false),
            ("templates/default/bundles/main.css", false),
            ("templates/default/statics/bundle.main.css", false),
            ("robots.txt", true),
            ("files/2026/a.txt", false),
            ("core/log/engine.log", false),
        ] {
            assert_eq!(is_searched(path), wanted, "{path}");
        }
    }
}
