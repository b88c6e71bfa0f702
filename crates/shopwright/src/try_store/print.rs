//! What a person sees when everything answers.

use std::path::Path;

use super::ready::{Launch, Ready};
use crate::output;

/// Prints addresses, people and the lines to paste.
pub(super) fn print(ready: &Ready, signed_in: &str, dir: &Path) {
    output::line(&format!("The sample store is open.\n\n  storefront  {}", ready.storefront));
    output::line(&format!("  console     {}   ({signed_in} is signed in)", ready.console));
    output::line("\nPeople (login, password):\n");
    for one in &ready.people {
        output::line(&format!("  {:<6}  {}   {}, {}", one.login, one.password, one.name, one.group));
    }
    output::line(&format!("\nOpen an agent application on the folder {}", ready.store.display()));
    output::line("(it finds its settings there), or tell it once what to start:\n");
    for (application, line) in lines(&ready.mcp) {
        output::line(&format!("  {application}\n{}\n", indented(&line)));
    }
    output::line(&format!(
        "Without an agent application:\n\n    {} tour {}\n",
        shell(&ready.mcp.command),
        shell(&dir.display().to_string())
    ));
    output::line("Ctrl-C stops.");
}

/// For each agent application, what a person pastes.
fn lines(mcp: &Launch) -> Vec<(&'static str, String)> {
    let words = |words: &mut dyn Iterator<Item = &String>| {
        words.map(|word| shell(word)).collect::<Vec<_>>().join(" ")
    };
    let start = format!("{} {}", shell(&mcp.command), words(&mut mcp.args.iter()));
    let variables = |flag: &str| {
        let pairs =
            mcp.env.iter().map(|(name, value)| format!("{flag}{} ", shell(&format!("{name}={value}"))));
        pairs.collect::<String>()
    };
    let open_code = serde_json::json!({"mcp": {"shopwright": {
        "type": "local", "enabled": true,
        "command": std::iter::once(&mcp.command).chain(&mcp.args).collect::<Vec<_>>(),
        "environment": mcp.env,
    }}});
    vec![
        ("Claude Code", format!("claude mcp add --scope user shopwright {}-- {start}", variables("--env "))),
        ("Codex", format!("codex mcp add shopwright {}-- {start}", variables("--env "))),
        ("OpenCode (opencode.json)", open_code.to_string()),
        ("Goose", format!("goose session --with-extension {}", shell(&format!("{}{start}", variables(""))))),
    ]
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// A word as a shell takes it.
fn shell(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_./=:@,+".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::{Launch, lines, shell};

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(shell("/opt/shopwright"), "/opt/shopwright");
        assert_eq!(shell("/my shop/it's"), r"'/my shop/it'\''s'");
    }

    #[test]
    fn line_for_claude_code_starts_this_server() {
        let mcp = Launch {
            command: "/bin/shopwright".to_owned(),
            args: ["mcp", "--store", "/my shop"].map(str::to_owned).to_vec(),
            env: [("SHOPWRIGHT_HOME".to_owned(), "/h".to_owned())].into(),
        };
        let wanted = "claude mcp add --scope user shopwright --env SHOPWRIGHT_HOME=/h -- /bin/shopwright mcp --store '/my shop'";
        assert_eq!(lines(&mcp)[0], ("Claude Code", wanted.to_owned()));
    }
}
