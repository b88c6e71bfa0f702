//! Which table a statement changes, as its text says.

/// The verb in small letters, and the table that a statement with one of these verbs changes.
///
/// Only for words to the agent and to know whose lease counts: what a statement may change is enforced by the
/// database, so a name read wrongly makes a statement fail and nothing more.
pub fn target(sql: &str) -> Option<(String, String)> {
    let mut words = Words { rest: sql };
    let verb = words.next()?.to_ascii_lowercase();
    let mut word = words.next()?;
    let skipped: &[&str] = match verb.as_str() {
        "insert" => &["or", "replace", "ignore", "abort", "fail", "rollback", "into"],
        "update" => &["or", "replace", "ignore", "abort", "fail", "rollback", "only"],
        "delete" => &["from", "only"],
        _ => return None,
    };
    while skipped.iter().any(|known| word.eq_ignore_ascii_case(known)) {
        word = words.next()?;
    }
    // `schema.table`
    while let Some(rest) = words.rest.trim_start().strip_prefix('.') {
        words.rest = rest;
        word = words.next()?;
    }
    Some((verb, word.to_lowercase()))
}

/// Words and quoted names of a statement, comments left out.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            self.rest = self.rest.trim_start();
            self.rest = if let Some(comment) = self.rest.strip_prefix("--") {
                comment.split_once('\n')?.1
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                comment.split_once("*/")?.1
            } else {
                break;
            };
        }
        let end = match self.rest.chars().next()? {
            '"' => Some('"'),
            '`' => Some('`'),
            '[' => Some(']'),
            _ => None,
        };
        if let Some(end) = end {
            let (name, rest) = self.rest.get(1..)?.split_once(end)?;
            self.rest = rest;
            return Some(name);
        }
        let is_end = |letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '$';
        let length = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn the_table_is_found_behind_comments_and_quotes() {
        for (sql, expected) in [
            ("insert into products (name) values ('a')", Some(("insert", "products"))),
            ("INSERT OR IGNORE INTO \"Products\" default values", Some(("insert", "products"))),
            ("/* delete from users */ -- x\n update only products set id = 1", Some(("update", "products"))),
            ("delete from main . products where 1 = 1", Some(("delete", "products"))),
            ("delete from[products]", Some(("delete", "products"))),
            ("delete", None),
            ("select 1", None),
            ("with x as (select 1) delete from users", None),
            ("", None),
            ("-- nothing", None),
            ("insert into (", None),
            ("update \"products", None),
        ] {
            let found = target(sql);
            let found = found.as_ref().map(|(verb, table)| (verb.as_str(), table.as_str()));
            assert_eq!(found, expected, "{sql}");
        }
    }
}
