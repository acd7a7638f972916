//! Text search over all kinds and scopes.

use persona::{Kind, Scope};

use super::listing::{self, Listed, Listings};
use super::{Found, FoundPage, bad_cursor, page_size, query_words};
use crate::documents::{ENTITY_OF_ROW, KIND_OF_ROW, listed, search_number, table};
use crate::words;
use crate::{FilterError, Result, Store};
use database::{Dialect, Parameter};

/// Matches that a search ranks; a word that matches more is too common to rank them all.
const RANKED: usize = 10_000;

/// The sections of a search, in order. A cursor names the section where it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Files,
    Shared,
    Builtins,
}

impl Section {
    const ALL: [Self; 3] = [Self::Files, Self::Shared, Self::Builtins];

    const fn prefix(self) -> &'static str {
        match self {
            Self::Files => "file:",
            Self::Shared => "at:",
            Self::Builtins => "builtin:",
        }
    }

    fn parse(cursor: &str) -> Option<(Self, usize)> {
        let at = |section: Self| {
            let at = cursor.strip_prefix(section.prefix())?.parse().ok()?;
            (at <= RANKED).then_some((section, at))
        };
        Self::ALL.into_iter().find_map(at)
    }

    /// True if this section may have entities of a scope.
    fn has(self, only: Option<Scope>) -> bool {
        only.is_none_or(|scope| match self {
            Self::Files => scope.is_file(),
            Self::Shared => scope == Scope::Shared,
            Self::Builtins => scope == Scope::Builtin,
        })
    }

    fn next(self) -> Option<Self> {
        match self {
            Self::Files => Some(Self::Shared),
            Self::Shared => Some(Self::Builtins),
            Self::Builtins => None,
        }
    }
}

fn cut(listed: Vec<&Listed>, from: usize, most: usize) -> Vec<Found> {
    listed.into_iter().skip(from).take(most).map(|listed| listed.found.clone()).collect()
}

impl Store {
    /// Entities of the given kinds (all where none is given) in which all words occur, best first.
    pub async fn search(
        &self,
        query: &str,
        kinds: &[Kind],
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<FoundPage> {
        self.search_below(&Listings::default(), query, kinds, None, limit, cursor).await
    }

    /// The same over this store and the entities above it: files, then shared entities, then builtins.
    pub async fn search_below(
        &self,
        above: &Listings,
        query: &str,
        kinds: &[Kind],
        only: Option<Scope>,
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<FoundPage> {
        let size = page_size(limit);
        let Some(words) = query_words(Some(query))? else {
            return Err(FilterError::EmptyQuery.into());
        };
        let wanted = |kind: &Kind| kinds.is_empty() || kinds.contains(kind);
        let kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(wanted).collect();
        let (mut section, mut from) = match cursor {
            None => (Section::Files, 0),
            Some(cursor) => Section::parse(cursor).ok_or_else(|| bad_cursor(cursor))?,
        };
        let mut items: Vec<Found> = Vec::new();
        let mut ranked = None;
        loop {
            let room = size - items.len();
            let mut hits = match section {
                _ if !section.has(only) => Vec::new(),
                Section::Files => cut(above.search(&words, &kinds), from, room + 1),
                Section::Shared => self.search_shared(&words, &kinds, room + 1, from).await?,
                Section::Builtins => {
                    cut(self.search_builtins(&words, &kinds, above, only).await?, from, room + 1)
                }
            };
            let more = hits.len() > room;
            if section == Section::Shared && more && self.is_common(&words, &kinds).await? {
                ranked = Some(RANKED);
            }
            hits.truncate(room);
            items.extend(hits.into_iter().filter(|found| {
                only.is_some() || section != Section::Shared || !above.has(found.kind, &found.name)
            }));
            if more {
                let next = Some(format!("{}{}", section.prefix(), from + room));
                return Ok(FoundPage {
                    items: items.into_iter().map(Found::complete).collect(),
                    next,
                    ranked,
                });
            }
            let Some(following) = section.next() else { break };
            (section, from) = (following, 0);
        }
        Ok(FoundPage { items: items.into_iter().map(Found::complete).collect(), next: None, ranked })
    }

    /// Builtins that match and are not hidden.
    async fn search_builtins(
        &self,
        words: &[String],
        kinds: &[Kind],
        above: &Listings,
        only: Option<Scope>,
    ) -> Result<Vec<&'static Listed>> {
        let mut found = listing::builtins().search(words, kinds);
        if only.is_some() {
            return Ok(found);
        }
        found.retain(|listed| !above.has(listed.found.kind, &listed.found.name));
        for kind in kinds {
            let of_kind = found.iter().filter(|listed| listed.found.kind == *kind);
            let candidates: Vec<Found> = of_kind.map(|listed| listed.found.clone()).collect();
            let hidden = self.shadowed(*kind, &candidates).await?;
            found.retain(|listed| listed.found.kind != *kind || !hidden.contains(&listed.found.name));
        }
        Ok(found)
    }

    async fn search_shared(
        &self,
        words: &[String],
        kinds: &[Kind],
        size: usize,
        offset: usize,
    ) -> Result<Vec<Found>> {
        let dialect = self.engine().dialect();
        let numbers = numbers(kinds);
        // A name weighs so much more than a text that no number of hits in texts outweighs it.
        let (hits, values) = match dialect {
            Dialect::Sqlite => (
                format!(
                    "SELECT {KIND_OF_ROW} AS kind, {ENTITY_OF_ROW} AS entity_id, bm25(library_search, 1000.0, 1.0) AS rank \
                     FROM library_search WHERE library_search MATCH $1 AND {KIND_OF_ROW} IN ({numbers}) LIMIT {RANKED}"
                ),
                vec![Parameter::Text(words::fts5(words))],
            ),
            Dialect::Postgres => (
                format!(
                    "SELECT kind, entity_id, -ts_rank('{{0.0001, 0.0001, 0.0001, 1}}', words, $2::tsquery) AS rank \
                     FROM library_search WHERE words @@ $1::tsquery AND kind IN ({numbers}) \
                     ORDER BY kind, entity_id LIMIT {RANKED}"
                ),
                vec![Parameter::Text(words::tsquery(words)), Parameter::Text(words::tsquery_any(words))],
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
        // SQLite would build the documents of all matches before it sorts them.
        let best = format!(
            "SELECT kind, entity_id, rank FROM ({hits}) h ORDER BY rank, kind, entity_id LIMIT {size} OFFSET {offset}"
        );
        let sql = format!(
            "SELECT CASE h.kind {} END FROM ({best}) h ORDER BY h.rank, h.kind, h.entity_id",
            documents.join(" ")
        );
        let rows = self.engine().texts(sql, &values).await?;
        rows.iter().map(|row| Ok(serde_json::from_str(row)?)).collect()
    }

    /// True if more shared entities match than are ranked.
    async fn is_common(&self, words: &[String], kinds: &[Kind]) -> Result<bool> {
        let numbers = numbers(kinds);
        let (matching, query) = match self.engine().dialect() {
            Dialect::Sqlite => (
                format!("library_search MATCH $1 AND {KIND_OF_ROW} IN ({numbers})"),
                Parameter::Text(words::fts5(words)),
            ),
            Dialect::Postgres => (
                format!("words @@ $1::tsquery AND kind IN ({numbers})"),
                Parameter::Text(words::tsquery(words)),
            ),
        };
        let first = format!("SELECT 1 FROM library_search WHERE {matching} LIMIT {}", RANKED + 1);
        let count = self.engine().number(format!("SELECT count(*) FROM ({first}) f"), &[query]).await?;
        Ok(count.and_then(|count| usize::try_from(count).ok()).is_some_and(|count| count > RANKED))
    }
}

/// The numbers of kinds, as a list in SQL.
fn numbers(kinds: &[Kind]) -> String {
    let numbers: Vec<String> = kinds.iter().map(|kind| search_number(*kind).to_string()).collect();
    numbers.join(", ")
}
