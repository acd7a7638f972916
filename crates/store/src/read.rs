//! Reading single entities, lists and search results, over all scopes that this store holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use persona::{
    Entity, Kind, Name, PartType, Scope, Severity, Stored, Tags, TraitType, first_sentence, limits, nearest,
};
use serde::Deserialize;

use crate::builtin::{self, Builtin};
use crate::dialect::Dialect;
use crate::documents::{self, definition, listed, meta, search_number, table};
use crate::engine::Value;
use crate::words;
use crate::write::Keep;
use crate::{Error, Result, Store};

/// Matches that a search ranks; a word that matches more is too common to rank them all.
const RANKED: usize = 10_000;
/// Names on either side of a misspelt one that are looked at for suggestions.
const NEIGHBOURS: usize = 200;
/// How long a word must be for names that share it to be near.
const SHARED_WORD_BYTES: usize = 3;

/// What a list keeps.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub part_type: Option<PartType>,
    pub trait_type: Option<TraitType>,
    /// Entities that have all of these.
    pub tags: Tags,
    /// Entities in which all of these words occur.
    pub query: Option<String>,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Found {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    #[serde(default)]
    pub display_name: Option<String>,
    #[serde(default)]
    pub part_type: Option<PartType>,
    #[serde(default)]
    pub trait_type: Option<TraitType>,
    #[serde(default)]
    pub severity: Option<Severity>,
    pub description: Option<String>,
    #[serde(default)]
    pub summary: Option<String>,
    pub tags: Tags,
    #[serde(default)]
    pub updated_at: Option<DateTime<Utc>>,
    /// The beginning of the text that a missing summary is derived from.
    #[serde(default)]
    pub(crate) lead: Option<String>,
}

impl Found {
    /// What stands for the entity in one line: its summary, or what it is derived from.
    fn complete(mut self) -> Self {
        if self.summary.is_none() && self.description.is_none() {
            self.summary = self
                .lead
                .as_deref()
                .map(|lead| first_sentence(lead).to_owned())
                .filter(|text| !text.is_empty());
        }
        self.lead = None;
        self
    }
}

/// A page of a list and the cursor of the next one.
#[derive(Debug, Clone, Default)]
pub struct Page {
    pub items: Vec<Found>,
    pub next: Option<String>,
}

fn page_size(limit: Option<usize>) -> usize {
    limit.unwrap_or(limits::DEFAULT_PAGE).clamp(1, limits::PAGE)
}

fn bad_cursor() -> Error {
    Error::Invalid("the cursor is not one that a list gave; ask again without it".to_owned())
}

fn check_tags(tags: &[String]) -> Result<()> {
    if tags.len() > limits::TAGS || tags.iter().any(|tag| tag.contains('\0')) {
        let most = limits::TAGS;
        return Err(Error::Invalid(format!("tags: at most {most} of them, without NUL characters")));
    }
    Ok(())
}

fn query_words(query: Option<&str>) -> Result<Option<Vec<String>>> {
    let Some(query) = query.filter(|query| !query.trim().is_empty()) else {
        return Ok(None);
    };
    if query.len() > limits::QUERY_BYTES {
        let most = limits::QUERY_BYTES;
        return Err(Error::Invalid(format!("the query is longer than {most} bytes; a few words are enough")));
    }
    let words = words::query(query);
    if words.is_empty() {
        return Err(Error::Invalid("the query has no letters or digits to look for".to_owned()));
    }
    Ok(Some(words))
}

impl Store {
    /// A definition from the strongest scope that has it.
    pub async fn get<T: Keep>(&self, name: &Name) -> Result<Option<Stored<T>>> {
        let dialect = self.engine().dialect();
        let row =
            dialect.object(&[("entity", definition(dialect, T::KIND, "a")), ("meta", meta(dialect, "a"))]);
        let sql = format!("SELECT {} FROM {} a WHERE a.name = $1", dialect.text(&row), table(T::KIND));
        let rows = self.engine().texts(sql, &[Value::from(name)]).await?;
        match rows.first() {
            Some(row) => Ok(Some(serde_json::from_str(row)?)),
            None => Ok(T::builtin(name)),
        }
    }

    /// One page of a kind, by name.
    pub async fn list(&self, kind: Kind, filter: &Filter) -> Result<Page> {
        let size = page_size(filter.limit);
        let after = match &filter.cursor {
            None => None,
            Some(cursor) => {
                let name = cursor.strip_prefix("after:").and_then(|name| Name::parse(name).ok());
                Some(name.ok_or_else(bad_cursor)?)
            }
        };
        let words = query_words(filter.query.as_deref())?;
        check_tags(&filter.tags)?;
        let mut shared = self.list_shared(kind, filter, words.as_deref(), after.as_ref(), size + 1).await?;
        let exhausted = shared.len() <= size;
        // A builtin stands in this page if its name lies in the range that the page covers.
        let last = shared.last().map(|found| found.name.clone()).filter(|_| !exhausted);
        let in_range = |name: &Name| {
            after.as_ref().is_none_or(|after| name > after) && last.as_ref().is_none_or(|last| name <= last)
        };
        let candidates: Vec<Found> = builtin_list(kind)
            .iter()
            .filter(|entry| in_range(&entry.found.name) && entry.passes(filter, words.as_deref()))
            .map(|entry| entry.found.clone())
            .collect();
        let hidden = self.shadowed(kind, &candidates).await?;
        shared.extend(candidates.into_iter().filter(|found| !hidden.contains(&found.name)));
        shared.sort_by(|a, b| a.name.cmp(&b.name));
        let more = shared.len() > size;
        shared.truncate(size);
        let next = shared.last().filter(|_| more).map(|found| format!("after:{}", found.name));
        Ok(Page { items: shared.into_iter().map(Found::complete).collect(), next })
    }

    async fn list_shared(
        &self,
        kind: Kind,
        filter: &Filter,
        words: Option<&[String]>,
        after: Option<&Name>,
        size: usize,
    ) -> Result<Vec<Found>> {
        let dialect = self.engine().dialect();
        let mut values = Vec::new();
        let mut conditions = vec!["TRUE".to_owned()];
        let mut bind = |value: Value| {
            values.push(value);
            format!("${}", values.len())
        };
        if let Some(after) = after {
            conditions.push(format!("a.name > {}", bind(Value::from(after))));
        }
        if let Some(part_type) = filter.part_type {
            conditions.push(format!("a.part_type = {}", bind(Value::from(part_type.as_str()))));
        }
        if let Some(trait_type) = filter.trait_type {
            conditions.push(format!("a.trait_type = {}", bind(Value::from(trait_type.as_str()))));
        }
        for tag in &filter.tags {
            conditions.push(match dialect {
                Dialect::Sqlite => format!(
                    "a.id IN (SELECT entity_id FROM agent_tags WHERE kind = '{}' AND tag = {})",
                    table(kind),
                    bind(Value::from(tag.as_str()))
                ),
                Dialect::Postgres => format!("a.tags @> {}", bind(Value::Tags(vec![tag.clone()]))),
            });
        }
        if let Some(words) = words {
            let number = search_number(kind);
            conditions.push(match dialect {
                Dialect::Sqlite => format!(
                    "a.id IN (SELECT rowid / 16 FROM library_search WHERE library_search MATCH {} AND rowid % 16 = {number})",
                    bind(Value::Text(words::fts5(words)))
                ),
                Dialect::Postgres => format!(
                    "a.id IN (SELECT entity_id FROM library_search WHERE kind = {number} AND words @@ {}::tsquery)",
                    bind(Value::Text(words::tsquery(words)))
                ),
            });
        }
        let sql = format!(
            "SELECT {} FROM {} a WHERE {} ORDER BY a.name LIMIT {size}",
            dialect.text(&listed(dialect, kind, "a")),
            table(kind),
            conditions.join(" AND "),
        );
        let rows = self.engine().texts(sql, &values).await?;
        rows.iter().map(|row| Ok(serde_json::from_str(row)?)).collect()
    }

    /// Which of these builtins the shared scope has too, and so hides.
    async fn shadowed(&self, kind: Kind, candidates: &[Found]) -> Result<BTreeSet<Name>> {
        if candidates.is_empty() {
            return Ok(BTreeSet::new());
        }
        let names: Vec<&Name> = candidates.iter().map(|found| &found.name).collect();
        let dialect = self.engine().dialect();
        let sql = format!("SELECT a.name FROM {} a WHERE {}", table(kind), dialect.in_list("a.name", "$1"));
        let rows = self.engine().texts(sql, &[Value::Json(serde_json::to_string(&names)?)]).await?;
        Ok(rows.iter().filter_map(|name| Name::parse(name).ok()).collect())
    }

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

    /// Names of a kind that begin with a text, in order.
    pub async fn names_with_prefix(&self, kind: Kind, prefix: &str, limit: usize) -> Result<Vec<Name>> {
        if prefix.chars().any(|c| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')) {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT a.name FROM {} a WHERE a.name >= $1 AND a.name < $2 ORDER BY a.name LIMIT {limit}",
            table(kind)
        );
        // "~" is greater than every character of a name.
        let values = [Value::from(prefix), Value::Text(format!("{prefix}~"))];
        let rows = self.engine().texts(sql, &values).await?;
        let mut names: BTreeSet<Name> = rows.iter().filter_map(|name| Name::parse(name).ok()).collect();
        let builtins = builtin::Builtins::get().names(kind);
        names.extend(builtins.into_iter().filter(|name| name.as_str().starts_with(prefix)).cloned());
        Ok(names.into_iter().take(limit).collect())
    }

    /// Names that a misspelt one may have meant: its neighbours in the alphabet, whatever shares
    /// a word with it, and the builtins.
    pub async fn near_names(&self, kind: Kind, name: &str) -> Result<Vec<String>> {
        let table = table(kind);
        let start: String = name.chars().take(1).collect();
        let mut known: BTreeSet<String> =
            builtin::Builtins::get().names(kind).iter().map(ToString::to_string).collect();
        let before = format!(
            "SELECT a.name FROM {table} a WHERE a.name <= $1 AND a.name >= $2 ORDER BY a.name DESC LIMIT {NEIGHBOURS}"
        );
        known.extend(self.engine().texts(before, &[Value::from(name), Value::Text(start.clone())]).await?);
        let after = format!(
            "SELECT a.name FROM {table} a WHERE a.name > $1 AND a.name < $2 ORDER BY a.name LIMIT {NEIGHBOURS}"
        );
        known.extend(
            self.engine().texts(after, &[Value::from(name), Value::Text(format!("{start}~"))]).await?,
        );
        for word in words::query(name).into_iter().filter(|word| word.len() >= SHARED_WORD_BYTES) {
            known.extend(self.names_with_word(kind, &word).await?);
        }
        Ok(nearest(name, known.iter().map(String::as_str)).into_iter().map(str::to_owned).collect())
    }

    /// Some names of a kind that have a word in them.
    async fn names_with_word(&self, kind: Kind, word: &str) -> Result<Vec<String>> {
        let (number, words) = (search_number(kind), [word.to_owned()]);
        let (hits, query) = match self.engine().dialect() {
            Dialect::Sqlite => (
                format!(
                    "SELECT rowid / 16 FROM library_search WHERE library_search MATCH $1 AND rowid % 16 = {number}"
                ),
                format!("name : {}", words::fts5(&words)),
            ),
            Dialect::Postgres => (
                format!(
                    "SELECT entity_id FROM library_search WHERE kind = {number} AND words @@ $1::tsquery"
                ),
                format!("{}A", words::tsquery(&words)),
            ),
        };
        let sql = format!("SELECT a.name FROM {} a WHERE a.id IN ({hits} LIMIT {NEIGHBOURS})", table(kind));
        self.engine().texts(sql, &[Value::Text(query)]).await
    }

    /// Personas, most recently used first, then most recently changed, then the builtins.
    pub async fn recent_personas(&self, limit: usize) -> Result<Vec<Found>> {
        let mut names = self.usage().recent();
        for sql in [
            format!("SELECT name FROM agent_persona_usage ORDER BY last_used_at DESC LIMIT {limit}"),
            format!("SELECT name FROM agent_personas ORDER BY updated_at DESC LIMIT {limit}"),
        ] {
            let rows = self.engine().texts(sql, &[]).await?;
            names.extend(rows.iter().filter_map(|name| Name::parse(name).ok()));
        }
        names.extend(builtin::Builtins::get().personas.keys().cloned());
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        let dialect = self.engine().dialect();
        let sql = format!(
            "SELECT {} FROM agent_personas a WHERE {}",
            dialect.text(&listed(dialect, Kind::Persona, "a")),
            dialect.in_list("a.name", "$1")
        );
        let rows = self.engine().texts(sql, &[Value::Json(serde_json::to_string(&names)?)]).await?;
        let mut found: Vec<Found> =
            rows.iter().map(|row| serde_json::from_str(row)).collect::<std::result::Result<_, _>>()?;
        for entry in builtin_list(Kind::Persona) {
            if !found.iter().any(|known| known.name == entry.found.name) {
                found.push(entry.found.clone());
            }
        }
        let place = |found: &Found| names.iter().position(|name| *name == found.name).unwrap_or(usize::MAX);
        found.sort_by_key(place);
        found.truncate(limit);
        Ok(found.into_iter().map(Found::complete).collect())
    }
}

/// A builtin as a list shows it, and the words that it is found by.
#[derive(Debug)]
struct BuiltinEntry {
    found: Found,
    words: words::Words,
}

impl BuiltinEntry {
    fn passes(&self, filter: &Filter, words: Option<&[String]>) -> bool {
        let Found { part_type, trait_type, tags, .. } = &self.found;
        filter.part_type.is_none_or(|wanted| *part_type == Some(wanted))
            && filter.trait_type.is_none_or(|wanted| *trait_type == Some(wanted))
            && filter.tags.iter().all(|tag| tags.contains(tag))
            && words.is_none_or(|words| self.words.matches(words))
    }
}

/// The builtins of a kind, by name; their words are split once.
fn builtin_list(kind: Kind) -> &'static [BuiltinEntry] {
    static LISTS: LazyLock<BTreeMap<Kind, Vec<BuiltinEntry>>> =
        LazyLock::new(|| Kind::ALL.iter().map(|kind| (*kind, builtin_entries(*kind))).collect());
    LISTS.get(&kind).map_or(&[], Vec::as_slice)
}

fn builtin_entries(kind: Kind) -> Vec<BuiltinEntry> {
    fn entries<T: Builtin + Entity + words::Searchable>(fill: impl Fn(&T, &mut Found)) -> Vec<BuiltinEntry> {
        let entries = T::builtins().values().map(|entity| {
            let mut found = Found {
                kind: T::KIND,
                name: entity.name().clone(),
                scope: Scope::Builtin,
                display_name: None,
                part_type: None,
                trait_type: None,
                severity: None,
                description: None,
                summary: None,
                tags: entity.tags().clone(),
                updated_at: None,
                lead: None,
            };
            fill(entity, &mut found);
            BuiltinEntry { found, words: entity.words() }
        });
        entries.collect()
    }
    match kind {
        Kind::Persona => entries(|entity: &persona::Persona, found| {
            found.display_name.clone_from(&entity.display_name);
            found.description.clone_from(&entity.description);
            found.summary.clone_from(&entity.summary);
            found.lead.clone_from(&entity.system_prompt);
        }),
        Kind::Part => entries(|entity: &persona::Part, found| {
            found.part_type = Some(entity.part_type);
            found.description.clone_from(&entity.description);
            found.summary.clone_from(&entity.summary);
            found.lead.clone_from(&entity.content);
        }),
        Kind::Trait => entries(|entity: &persona::Trait, found| {
            found.trait_type = Some(entity.trait_type);
            found.description.clone_from(&entity.description);
        }),
        Kind::Skill => {
            entries(|entity: &persona::Skill, found| found.description.clone_from(&entity.description))
        }
        Kind::Guardrail => entries(|entity: &persona::Guardrail, found| {
            found.severity = Some(entity.severity);
            found.description.clone_from(&entity.description);
        }),
        Kind::Arc => entries(|entity: &persona::CharacterArc, found| {
            found.description.clone_from(&entity.description);
            found.summary.clone_from(&entity.summary);
        }),
    }
}

/// The tables that link personas or stages to a piece, as `users of` reads them.
pub(crate) fn user_queries(dialect: Dialect, kind: Kind) -> Vec<String> {
    let (links, column) = documents::link_table(kind);
    let user = |kind: Kind, name: &str| {
        dialect.text(&dialect.object(&[("kind", format!("'{kind}'")), ("name", name.to_owned())]))
    };
    let mut queries = vec![format!(
        "SELECT {} FROM {links} l JOIN agent_personas p ON p.id = l.persona_id WHERE l.{column} = $1 ORDER BY p.name",
        user(Kind::Persona, "p.name")
    )];
    if kind == Kind::Part {
        queries.push(format!(
            "SELECT DISTINCT {} AS used_by FROM arc_stage_parts k JOIN arc_stages s ON s.id = k.stage_id \
             JOIN character_arcs c ON c.id = s.arc_id WHERE k.part_id = $1 ORDER BY used_by",
            user(Kind::Arc, "c.name")
        ));
    }
    queries
}
