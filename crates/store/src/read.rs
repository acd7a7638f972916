//! Reading single entities and lists, over all scopes that this store holds.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use persona::{Kind, Name, PartType, Scope, Severity, Stored, Tags, TraitType, first_sentence, limits};
use serde::Deserialize;

use crate::dialect::Dialect;
use crate::documents::{definition, listed, meta, search_number, table};
use crate::engine::Value;
use crate::words;
use crate::write::Keep;
use crate::{Error, Result, Store};

mod builtin_list;
mod names;
mod search;
use builtin_list::builtin_list;

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
}
