//! What somebody meant who typed a word that nothing holds: the other keyboard layout, the nearest word.

use std::cmp::Reverse;

use shop::text::folded;

use super::{MOST_ASKED, find, of_word, words};
use crate::{DbError, Tx};

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Products, the best first.
    pub ids: Vec<i64>,
    /// What was searched instead of what was typed, where nothing holds that.
    pub meant: Option<String>,
}

/// Shortest word that is taken for another by one slip, and by two.
const ONE_SLIP: usize = 4;
const TWO_SLIPS: usize = 8;
/// Words that are looked at closely.
const MOST_LIKE: i64 = 200;

/// Keys of both layouts, as they lie on the keyboard.
const LATIN: &str = "`qwertyuiop[]asdfghjkl;'zxcvbnm,.";
const RUSSIAN: &str = "ёйцукенгшщзхъфывапролджэячсмитьбю";

/// Products for what somebody typed, and where there are none, for what was most likely meant.
pub fn find_or_guess(tx: &mut Tx, typed: &str, most: u32) -> Result<Found, DbError> {
    let ids = find(tx, typed, most)?;
    if !ids.is_empty() {
        return Ok(Found { ids, meant: None });
    }
    let switched = other_layout(typed);
    if let Some(switched) = &switched {
        let ids = find(tx, switched, most)?;
        if !ids.is_empty() {
            return Ok(Found { ids, meant: Some(switched.clone()) });
        }
    }
    for text in [Some(typed), switched.as_deref()].into_iter().flatten() {
        if let Some(meant) = corrected(tx, text)? {
            let ids = find(tx, &meant, most)?;
            if !ids.is_empty() {
                return Ok(Found { ids, meant: Some(meant) });
            }
        }
    }
    Ok(Found::default())
}

/// A text as it would be with the keyboard in its other layout; `None` where it has letters of both or of neither.
fn other_layout(typed: &str) -> Option<String> {
    let typed = typed.to_lowercase();
    let is_latin = typed.chars().any(|letter| letter.is_ascii_alphabetic());
    let is_russian = typed.chars().any(|letter| matches!(letter, 'а'..='я' | 'ё'));
    let (from, to) = match (is_latin, is_russian) {
        (true, false) => (LATIN, RUSSIAN),
        (false, true) => (RUSSIAN, LATIN),
        _ => return None,
    };
    let other = |letter: char| {
        let at = from.chars().position(|known| known == letter);
        at.and_then(|at| to.chars().nth(at)).unwrap_or(letter)
    };
    Some(folded(&typed.chars().map(other).collect::<String>()))
}

/// The text with the nearest known word for each that nothing holds; `None` where one has none, or none needs any.
fn corrected(tx: &mut Tx, text: &str) -> Result<Option<String>, DbError> {
    let mut meant = Vec::new();
    let mut is_other = false;
    for word in words(text).into_iter().take(MOST_ASKED) {
        if !of_word(tx, &word)?.is_empty() {
            meant.push(word);
            continue;
        }
        let Some(near) = nearest(tx, &word)? else { return Ok(None) };
        meant.push(near);
        is_other = true;
    }
    Ok(is_other.then(|| meant.join(" ")))
}

/// The word that most likely was meant: the fewest slips away, then the one that most products hold.
fn nearest(tx: &mut Tx, word: &str) -> Result<Option<String>, DbError> {
    let letters: Vec<char> = word.chars().collect();
    let slips = match letters.len() {
        ..ONE_SLIP => return Ok(None),
        ONE_SLIP..TWO_SLIPS => 1,
        _ => 2,
    };
    let grams = grams(word);
    let names: Vec<String> = (0..grams.len()).map(|at| format!("g{at}")).collect();
    let places = names.iter().map(|name| format!(":{name}")).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "select l.term, l.shared, (select count(*) from search_postings p where p.term_id = l.id) as held
         from (select t.id, t.term, count(*) as shared from search_grams g
               join search_terms t on t.id = g.term_id where g.gram in ({places})
               group by t.id, t.term order by shared desc, t.id limit :most) l"
    );
    let mut values: Vec<_> =
        names.iter().zip(&grams).map(|(name, gram)| (name.as_str(), gram.as_str().into())).collect();
    values.push(("most", MOST_LIKE.into()));
    let mut best: Option<((usize, Reverse<i64>), String)> = None;
    for row in tx.rows(&sql, &values)? {
        let (term, held): (String, i64) = (row.get("term")?, row.get("held")?);
        let other: Vec<char> = term.chars().collect();
        if held == 0 || other.len().abs_diff(letters.len()) > slips {
            continue;
        }
        let rank = (distance(&letters, &other), Reverse(held));
        if rank.0 <= slips && best.as_ref().is_none_or(|(known, _)| rank < *known) {
            best = Some((rank, term));
        }
    }
    Ok(best.map(|(_, term)| term))
}

/// The groups of three letters of a word, with its beginning and its end.
pub(super) fn grams(word: &str) -> Vec<String> {
    let letters: Vec<char> = format!("  {word} ").chars().collect();
    let mut grams: Vec<String> = letters.windows(3).map(|three| three.iter().collect()).collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

/// How many slips lie between two words: a letter too many, missing, wrong, or two the wrong way round.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (at, same) in other.iter().enumerate() {
            let get = |line: &[usize], at: usize| line.get(at).copied().unwrap_or(usize::MAX - 1);
            let mut cost = (get(&last, at) + usize::from(letter != same))
                .min(get(&last, at + 1) + 1)
                .min(get(&next, at) + 1);
            let is_swapped =
                row > 0 && at > 0 && one.get(row - 1) == Some(same) && other.get(at - 1) == Some(letter);
            if is_swapped {
                cost = cost.min(get(&before, at - 1) + 1);
            }
            next.push(cost);
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().unwrap_or(one.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        let slips = |one: &str, other: &str| {
            distance(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>())
        };
        for (one, other, count) in [
            ("sencha", "sencha", 0),
            ("senhca", "sencha", 1),
            ("senca", "sencha", 1),
            ("senchaa", "sencha", 1),
            ("zencha", "sencha", 1),
            ("teapto", "teapots", 2),
            ("", "tea", 3),
            ("tea", "", 3),
        ] {
            assert_eq!(slips(one, other), count, "{one} {other}");
        }
    }

    #[test]
    fn a_text_is_read_in_the_other_layout() {
        assert_eq!(other_layout("xfq").as_deref(), Some("чай"));
        assert_eq!(other_layout("Еуф").as_deref(), Some("tea"));
        assert_eq!(other_layout("чай tea"), None);
        assert_eq!(other_layout("123"), None);
    }
}
