//! Text search over all kinds and scopes.

use persona::Kind;

use super::builtin_list::{BuiltinEntry, builtin_list};
use super::{Found, Page, bad_cursor, page_size, query_words};
use crate::dialect::Dialect;
use crate::documents::{listed, search_number, table};
use crate::engine::Value;
use crate::words;
use crate::{Error, Result, Store};

/// Matches that a search ranks; a word that matches more is too common to rank them all.
const RANKED: usize = 10_000;

impl Store {
    /// Entities of the given kinds (all where none is given) in which all words occur, best first.
    pub async fn search(
        &self,
        query: &str,
        kinds: &[Kind],
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<Page> {
        let size = page_size(limit);
        let Some(words) = query_words(Some(query))? else {
            return Err(Error::Invalid("the query is empty; give a few words to look for".to_owned()));
        };
        let wanted = |kind: &Kind| kinds.is_empty() || kinds.contains(kind);
        let kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(wanted).collect();
        // What people keep themselves comes first; the builtins follow where that ends.
        let number = |cursor: &str, prefix: &str| {
            let at = cursor.strip_prefix(prefix).and_then(|at| at.parse().ok());
            at.filter(|at| *at <= RANKED)
        };
        let (from, builtin_from): (Option<usize>, usize) = match cursor {
            None => (Some(0), 0),
            Some(cursor) => match (number(cursor, "at:"), number(cursor, "builtin:")) {
                (Some(at), _) => (Some(at), 0),
                (None, Some(at)) => (None, at),
                (None, None) => return Err(bad_cursor()),
            },
        };
        let mut items = match from {
            Some(from) => self.search_shared(&words, &kinds, size + 1, from).await?,
            None => Vec::new(),
        };
        let shared = items.len();
        if shared <= size {
            let builtins = self.search_builtins(&words, &kinds).await?;
            items.extend(builtins.into_iter().skip(builtin_from).take(size + 1 - shared));
        }
        let next = (items.len() > size).then(|| match from {
            Some(from) if shared > size => format!("at:{}", from + size),
            _ => format!("builtin:{}", builtin_from + size - shared),
        });
        items.truncate(size);
        Ok(Page { items: items.into_iter().map(Found::complete).collect(), next })
    }

    /// Builtins that match and are not hidden, those that are named so first.
    async fn search_builtins(&self, words: &[String], kinds: &[Kind]) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        for kind in kinds {
            let matching: Vec<&BuiltinEntry> =
                builtin_list(*kind).iter().filter(|entry| entry.words.matches(words)).collect();
            let candidates: Vec<Found> = matching.iter().map(|entry| entry.found.clone()).collect();
            let hidden = self.shadowed(*kind, &candidates).await?;
            found.extend(matching.into_iter().filter(|entry| !hidden.contains(&entry.found.name)));
        }
        found.sort_by_key(|entry| !words.iter().any(|word| entry.words.name.contains(word)));
        Ok(found.into_iter().map(|entry| entry.found.clone()).collect())
    }

    async fn search_shared(
        &self,
        words: &[String],
        kinds: &[Kind],
        size: usize,
        offset: usize,
    ) -> Result<Vec<Found>> {
        let dialect = self.engine().dialect();
        let numbers: Vec<String> = kinds.iter().map(|kind| search_number(*kind).to_string()).collect();
        let numbers = numbers.join(", ");
        // A name weighs so much more than a text that no number of hits in texts outweighs it.
        let (hits, values) = match dialect {
            Dialect::Sqlite => (
                format!(
                    "SELECT rowid % 16 AS kind, rowid / 16 AS entity_id, bm25(library_search, 1000.0, 1.0) AS rank \
                     FROM library_search WHERE library_search MATCH $1 AND rowid % 16 IN ({numbers}) LIMIT {RANKED}"
                ),
                vec![Value::Text(words::fts5(words))],
            ),
            Dialect::Postgres => (
                format!(
                    "SELECT kind, entity_id, -ts_rank('{{0.0001, 0.0001, 0.0001, 1}}', words, $2::tsquery) AS rank \
                     FROM library_search WHERE words @@ $1::tsquery AND kind IN ({numbers}) LIMIT {RANKED}"
                ),
                vec![Value::Text(words::tsquery(words)), Value::Text(words::tsquery_any(words))],
            ),
        };
        let documents: Vec<String> = kinds
            .iter()
            .map(|kind| {
                let (number, table) = (search_number(*kind), table(*kind));
                format!(
                    "WHEN {number} THEN (SELECT {} FROM {table} a WHERE a.id = h.entity_id)",
                    dialect.text(&listed(dialect, *kind, "a"))
                )
            })
            .collect();
        let sql = format!(
            "SELECT CASE h.kind {} END FROM ({hits}) h ORDER BY h.rank, h.kind, h.entity_id LIMIT {size} OFFSET {offset}",
            documents.join(" ")
        );
        let rows = self.engine().texts(sql, &values).await?;
        rows.iter().map(|row| Ok(serde_json::from_str(row)?)).collect()
    }
}
