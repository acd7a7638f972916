//! Word splitting for text search: done here, so that both engines find the same things.

use std::collections::BTreeSet;

use persona::AnyEntity;
use persona::field::{Search, ValueView};

/// The number of indexed words of one entity.
const WORDS: usize = 4_096;
/// Characters of a word that count; the rest is cut off, in the index and in queries alike.
const WORD_CHARS: usize = 64;
/// Words of a query that count.
const QUERY_WORDS: usize = 16;

/// Lower-case runs of letters and digits.
pub(crate) fn split(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word.chars().take(WORD_CHARS).flat_map(char::to_lowercase).collect())
}

/// The search words of an entity. Its names weigh more than its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) name: Vec<String>,
    pub(crate) text: Vec<String>,
}

impl Words {
    fn of(names: &[Option<&str>], texts: &[Option<&str>], tags: &[String]) -> Self {
        let collect = |texts: &[Option<&str>]| -> BTreeSet<String> {
            texts.iter().flatten().flat_map(|text| split(text)).take(WORDS).collect()
        };
        let name = collect(names);
        let mut text = collect(texts);
        text.extend(tags.iter().flat_map(|tag| split(tag)));
        Self { text: text.difference(&name).cloned().collect(), name: name.into_iter().collect() }
    }

    /// True if every word of a query occurs. The last one may be a prefix.
    pub(crate) fn matches(&self, query: &[String]) -> bool {
        let has = |test: &dyn Fn(&String) -> bool| self.name.iter().chain(&self.text).any(test);
        query.split_last().is_some_and(|(last, rest)| {
            rest.iter().all(|word| has(&|known| known == word))
                && has(&|known| known.starts_with(last.as_str()))
        })
    }

    /// The words as a PostgreSQL vector; names carry the weight A.
    pub(crate) fn vector(&self) -> String {
        let name = self.name.iter().map(|word| format!("'{word}':1A"));
        let text = self.text.iter().map(|word| format!("'{word}':2D"));
        name.chain(text).collect::<Vec<_>>().join(" ")
    }
}

/// The words of a query. Empty if there is nothing to search for.
pub(crate) fn query(text: &str) -> Vec<String> {
    split(text).take(QUERY_WORDS).collect()
}

/// A query for FTS5. Words hold letters and digits only, so quoting is all that they need.
pub(crate) fn fts5(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    quoted.join(" ") + "*"
}

/// A query for a tsvector.
pub(crate) fn tsquery(words: &[String]) -> String {
    joined(words, " & ")
}

/// The ranking query: PostgreSQL adds up the words of an "or", but ranks an "and" by the distance of its
/// words, which means nothing here.
pub(crate) fn tsquery_any(words: &[String]) -> String {
    joined(words, " | ")
}

fn joined(words: &[String], operator: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    quoted.join(operator) + ":*"
}

impl Words {
    /// The search words of an entity.
    pub(crate) fn of_entity(entity: &AnyEntity) -> Self {
        let mut names = vec![Some(entity.name().as_str())];
        let mut texts = Vec::new();
        entity.walk_values(&mut |_, field, value| {
            // Tags count however long the texts are.
            let found = match field.search {
                Search::AsName => &mut names,
                Search::AsText if field.name != "tags" => &mut texts,
                _ => return,
            };
            match value {
                ValueView::Text(text) => found.push(Some(*text)),
                ValueView::Word(word) => found.push(Some(*word)),
                ValueView::Name(name) => found.push(Some(name.as_str())),
                ValueView::Map(entries) => found.extend(entries.iter().map(|(key, _)| Some(*key))),
                _ => {}
            }
        });
        Self::of(&names, &texts, entity.tags())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let words: Vec<String> = split("Code_Reviewer: it's 2-fold, ÉTÉ!").collect();
        assert_eq!(words, ["code", "reviewer", "it", "s", "2", "fold", "été"]);
        assert!(query(" '\";-- ").is_empty());
        assert_eq!(fts5(&query("calm rev")), "\"calm\" \"rev\"*");
        assert_eq!(tsquery(&query("calm rev")), "'calm' & 'rev':*");
    }

    #[test]
    fn the_last_word_may_be_a_beginning() {
        let words = Words { name: vec!["calm".into()], text: vec!["reviewer".into()] };
        for (text, found) in
            [("calm rev", true), ("cal rev", false), ("reviewer calm", true), ("x", false), ("", false)]
        {
            assert_eq!(words.matches(&query(text)), found, "{text}");
        }
    }
}
