//! Our section of `AGENTS.md`, between two markers.

use super::launch::{Launch, SERVER};

const BEGIN: &str = "<!-- shopwright: begin -->";
const END: &str = "<!-- shopwright: end -->";

/// The text with our section in it. Markers that do not pair are somebody's edit: left alone.
pub(super) fn section(text: &str, _launch: &Launch) -> Option<String> {
    let line = line_end(text);
    let section = format!("{BEGIN}\n{}\n{END}", body()).replace('\n', line);
    let (begins, ends) = (text.matches(BEGIN).count(), text.matches(END).count());
    match (begins, ends) {
        (0, 0) if text.trim_start_matches('\u{feff}').trim().is_empty() => {
            Some(format!("{text}{section}{line}"))
        }
        (0, 0) if text.ends_with('\n') => Some(format!("{text}{line}{section}{line}")),
        (0, 0) => Some(format!("{text}{line}{line}{section}{line}")),
        (1, 1) => {
            let (before, rest) = text.split_once(BEGIN)?;
            let (_, after) = rest.split_once(END)?;
            Some(format!("{before}{section}{after}"))
        }
        _ => None,
    }
}

/// How lines end: as in our section, where it is there, else as in the rest. A page that ends with half of a line's
/// end must not have another one the next time.
fn line_end(text: &str) -> &'static str {
    let ours = text.split_once(BEGIN).map_or("", |(_, section)| section);
    let is_ours = ours.starts_with('\n') || ours.starts_with("\r\n");
    match if is_ours { ours.starts_with("\r\n") } else { text.contains("\r\n") } {
        true => "\r\n",
        false => "\n",
    }
}

fn body() -> String {
    format!(
        "## The store\n\n\
         This folder belongs to a Shopwright store. The MCP server `{SERVER}` works with it under the login of the \
         person who is signed in to the program; there is no password for you to know or to ask for.\n\n\
         - Begin with `session_init`, then `session_connect` with a topic: one word that names the conversation. \
         Its answer tells who you are in the store, what you may do and the rules of work.\n\
         - What you and the tools write in a conversation lies in `mcp/<application>/<topic>/`. The same topic \
         brings you back to it.\n\
         - `Shop.ini` and `tokens/` are the program's: read them if you need to, change nothing there.\n\n\
         The program writes this section anew at every start; write your own above or below it."
    )
}
