//! Search over our own tables of words, the same on both databases.
//!
//! Article numbers and GTINs first, then products that hold all words, each the
//! beginning of one of theirs, the heavier the higher. Where nothing does,
//! [`find_or_guess`] looks for what was meant.

mod guess;

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use shop::text::folded;

use crate::id_list::Ids;
use crate::{DbError, Tx, rows};

pub use guess::{Found, find_or_guess};

/// Words that are looked at of one row.
const MOST_WORDS: usize = 400;
/// Words of a query that count.
const MOST_ASKED: usize = 8;
/// Terms that one word of a query may stand for.
const MOST_TERMS: i64 = 64;

/// How much a word counts, by where it stands.
const IN_CODE: i64 = 40;
const IN_NAME: i64 = 20;
const IN_VALUE: i64 = 5;
const IN_TEXT: i64 = 1;

/// The words of a text, folded.
pub fn words(text: &str) -> Vec<String> {
    let folded = folded(text);
    let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(MOST_WORDS).map(|word| word.chars().take(40).collect()).collect()
}

/// Makes the words of rows anew. Of products that lists show and that are not removed.
pub fn reindex(tx: &mut Tx, entity: &str, ids: &[i64], _now: Timestamp) -> Result<(), DbError> {
    for some in ids.chunks(256) {
        let list = Ids::new("id", some);
        let sql =
            format!("delete from search_postings where entity = :entity and elem_id in {}", list.places());
        tx.run(&sql, &list.with(&[("entity", entity.into())]))?;
        let weights = if entity == "products" { of_products(tx, some)? } else { BTreeMap::new() };
        let terms = terms(tx, weights.keys().map(|(_, word)| word.as_str()))?;
        let values: Vec<_> = weights
            .iter()
            .filter_map(|((id, word), weight)| {
                let term = terms.get(word)?;
                Some(vec![(*term).into(), entity.into(), (*id).into(), (*weight).into()])
            })
            .collect();
        rows::insert_many(tx, "search_postings", &["term_id", "entity", "elem_id", "weight"], &values)?;
    }
    Ok(())
}

type Weights = BTreeMap<(i64, String), i64>;

fn of_products(tx: &mut Tx, ids: &[i64]) -> Result<Weights, DbError> {
    let list = Ids::new("id", ids);
    let live = format!(
        "(select id from products where deleted is null and state = 'kShown' and id in {})",
        list.places()
    );
    let sql = format!(
        "select p.id, p.name as text, {IN_NAME} as weight from products p where p.id in {live}
         union all select p.id, p.text, {IN_TEXT} from products p where p.id in {live}
         union all select p.id, b.name, {IN_NAME} from products p join brands b on b.id = p.brand_id
           where p.id in {live}
         union all select t.elem_id, t.value, case when t.field = 'name' then {IN_NAME} else {IN_TEXT} end
           from texts t where t.entity = 'products' and t.elem_id in {live}
         union all select v.product_id, v.sku, {IN_CODE} from variants v
           where v.product_id in {live} and v.deleted is null and v.sku is not null
         union all select v.product_id, v.mpn, {IN_CODE} from variants v
           where v.product_id in {live} and v.deleted is null and v.mpn is not null
         union all select v.product_id, c.name, {IN_VALUE} from attribute_values v
           join attributes a on a.id = v.attribute_id and a.search
           join attribute_choices c on c.id = v.choice_id where v.product_id in {live}
         union all select v.product_id, v.text_value, {IN_VALUE} from attribute_values v
           join attributes a on a.id = v.attribute_id and a.search
           where v.product_id in {live} and v.text_value is not null"
    );
    let mut weights = Weights::new();
    for row in tx.rows(&sql, &list.with(&[]))? {
        let (id, weight): (i64, i64) = (row.get("id")?, row.get("weight")?);
        for word in words(&without_markup(&row.get::<String>("text")?)) {
            let sum = weights.entry((id, word)).or_default();
            *sum = (*sum + weight).min(1000);
        }
    }
    Ok(weights)
}

/// The words between the tags.
fn without_markup(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut is_tag = false;
    for letter in text.chars() {
        match letter {
            '<' => is_tag = true,
            '>' if is_tag => {
                is_tag = false;
                plain.push(' ');
            }
            _ if !is_tag => plain.push(letter),
            _ => {}
        }
    }
    plain
}

/// Words of one statement.
const AT_ONCE: usize = 64;

/// Numbers of words, new ones added with their groups of letters.
fn terms<'a>(tx: &mut Tx, words: impl Iterator<Item = &'a str>) -> Result<HashMap<String, i64>, DbError> {
    let mut words: Vec<_> = words.collect();
    words.sort_unstable();
    words.dedup();
    let mut terms = HashMap::new();
    for some in words.chunks(AT_ONCE) {
        known(tx, some, &mut terms)?;
        let new: Vec<&str> = some.iter().copied().filter(|word| !terms.contains_key(*word)).collect();
        if new.is_empty() {
            continue;
        }
        let names = names('w', new.len());
        let values: Vec<_> =
            names.iter().zip(&new).map(|(name, word)| (name.as_str(), (*word).into())).collect();
        let places = names.iter().map(|name| format!("(:{name})")).collect::<Vec<_>>().join(", ");
        let sql = format!("insert into search_terms (term) values {places} on conflict (term) do nothing");
        tx.run(&sql, &values)?;
        known(tx, &new, &mut terms)?;
        add_grams(tx, &new, &terms)?;
    }
    Ok(terms)
}

fn names(first: char, count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{first}{at}")).collect()
}

/// Adds the numbers of words that there are.
fn known(tx: &mut Tx, words: &[&str], terms: &mut HashMap<String, i64>) -> Result<(), DbError> {
    let names = names('w', words.len());
    let values: Vec<_> =
        names.iter().zip(words).map(|(name, word)| (name.as_str(), (*word).into())).collect();
    let places = names.iter().map(|name| format!(":{name}")).collect::<Vec<_>>().join(", ");
    let sql = format!("select id, term from search_terms where term in ({places})");
    for row in tx.rows(&sql, &values)? {
        terms.insert(row.get("term")?, row.get("id")?);
    }
    Ok(())
}

/// The groups of letters that new words are found by when they are misspelt.
fn add_grams(tx: &mut Tx, words: &[&str], terms: &HashMap<String, i64>) -> Result<(), DbError> {
    let of = |word: &&str| terms.get(*word).map(|id| guess::grams(word).into_iter().map(|gram| (gram, *id)));
    let rows: Vec<(String, i64)> = words.iter().filter_map(of).flatten().collect();
    for some in rows.chunks(AT_ONCE) {
        let (grams, ids) = (names('g', some.len()), names('t', some.len()));
        let pairs = grams.iter().zip(&ids);
        let places = pairs.clone().map(|(gram, id)| format!("(:{gram}, :{id})")).collect::<Vec<_>>();
        let values: Vec<_> = pairs
            .zip(some)
            .flat_map(|((gram, id), (text, term))| {
                [(gram.as_str(), text.as_str().into()), (id.as_str(), (*term).into())]
            })
            .collect();
        let sql = format!(
            "insert into search_grams (gram, term_id) values {} on conflict (gram, term_id) do nothing",
            places.join(", ")
        );
        tx.run(&sql, &values)?;
    }
    Ok(())
}

/// Products for what somebody typed, the best first, at most `most`.
pub fn find(tx: &mut Tx, typed: &str, most: u32) -> Result<Vec<i64>, DbError> {
    let mut found: Vec<i64> = Vec::new();
    found.extend(of_code(tx, typed)?);
    let mut scores: Option<HashMap<i64, i64>> = None;
    for word in words(typed).into_iter().take(MOST_ASKED) {
        let hits = of_word(tx, &word)?;
        scores = Some(match scores {
            None => hits,
            Some(before) => {
                let both = before.into_iter();
                both.filter_map(|(id, score)| hits.get(&id).map(|more| (id, score + more))).collect()
            }
        });
    }
    let mut scores: Vec<_> = scores.unwrap_or_default().into_iter().collect();
    scores.sort_unstable_by_key(|(id, score)| (std::cmp::Reverse(*score), *id));
    found.extend(scores.into_iter().map(|(id, _)| id).filter(|id| !found.contains(id)).collect::<Vec<_>>());
    found.truncate(most as usize);
    Ok(found)
}

/// The product with this article number or GTIN.
fn of_code(tx: &mut Tx, code: &str) -> Result<Option<i64>, DbError> {
    let row = tx.row(
        "select v.product_id from variants v join products p on p.id = v.product_id and p.state = 'kShown'
         where v.deleted is null and v.sku_folded = :folded
         union all
         select v.product_id from variants v join products p on p.id = v.product_id and p.state = 'kShown'
         where v.deleted is null and v.gtin = :code limit 1",
        &[("folded", folded(code).into()), ("code", code.trim().into())],
    )?;
    row.map(|row| row.get("product_id")).transpose()
}

/// Makes the words of all products anew, and forgets words that nothing holds.
pub fn reindex_all(tx: &mut Tx, now: Timestamp) -> Result<(), DbError> {
    for table in ["search_grams", "search_postings", "search_terms"] {
        tx.run(&format!("delete from {table}"), &[])?;
    }
    let mut last = 0;
    loop {
        let sql = "select id from products where id > :last and deleted is null and state = 'kShown'
                   order by id limit 256";
        let rows = tx.rows(sql, &[("last", last.into())])?;
        let ids = rows.iter().map(|row| row.get("id")).collect::<Result<Vec<i64>, _>>()?;
        let Some(next) = ids.last() else { return Ok(()) };
        last = *next;
        reindex(tx, "products", &ids, now)?;
    }
}

/// Products that hold a word that begins so, words before products: SQLite, which does not know how many rows a table
/// has, would read all words of all products instead. It takes the tables of a cross join as they come.
const OF_WORD: &str =
    "select p.elem_id, cast(max(case when t.term = :word then 2 * p.weight else p.weight end) as bigint) as score
     from (select id, term from search_terms where term >= :word and term < :end order by term limit :most) t
     cross join search_postings p where p.term_id = t.id and p.entity = 'products' group by p.elem_id";

/// Products that hold a word that begins so. The whole word counts twice.
fn of_word(tx: &mut Tx, word: &str) -> Result<HashMap<i64, i64>, DbError> {
    let rows = tx.rows(
        OF_WORD,
        &[("word", word.into()), ("end", format!("{word}\u{10ffff}").into()), ("most", MOST_TERMS.into())],
    )?;
    rows.iter().map(|row| Ok((row.get("elem_id")?, row.get("score")?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Db;

    #[test]
    fn products_are_looked_up_by_words_and_never_all_read() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open("sqlite:store.db", folder.path()).unwrap();
        db.migrate().unwrap();
        let values = [("word", "tea".into()), ("end", "teb".into()), ("most", MOST_TERMS.into())];
        let plan = db.read(|tx| tx.rows(&format!("explain query plan {OF_WORD}"), &values)).unwrap();
        let steps: Vec<String> = plan.iter().map(|row| row.get("detail").unwrap()).collect();
        let by_word = "search_postings_one (term_id=? AND entity=?)";
        assert!(steps.iter().any(|step| step.contains(by_word)), "{steps:?}");
    }
}
