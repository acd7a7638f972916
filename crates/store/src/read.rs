//! Reads single entities and lists: those of the database, the builtins below, and the entities of files
//! above.

use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use builtins::Builtins;
use chrono::{DateTime, Utc};
use persona::{
    AnyEntity, BaseRef, Entity, Kind, Name, PartType, Persona, Scope, Severity, Stored, Tags, TraitType,
    limits, shortened,
};
use serde::Deserialize;

use crate::documents::{
    self, ENTITY_OF_ROW, KIND_OF_ROW, definition, listed, naming_condition, search_number, table,
};
use crate::words;
use crate::write::Keep;
use crate::{FilterError, Result, Store};
use database::{Dialect, Parameter};

mod listing;
pub use listing::{Listed, Listings};
mod names;
mod search;
mod users;
pub(crate) use users::User;

/// The filter of a list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only entities of this scope, even if a stronger one hides them.
    pub scope: Option<Scope>,
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
    /// The persona that provides the fields that this one does not set.
    #[serde(default)]
    pub extends: Option<BaseRef>,
    /// True if the summary is derived from the text.
    #[serde(skip)]
    pub is_derived: bool,
    /// The beginning of the text that a missing summary is derived from.
    #[serde(default)]
    pub(crate) lead: Option<String>,
}

impl Found {
    /// Fills in a missing summary from the text.
    fn complete(mut self) -> Self {
        if self.summary.is_none() && self.description.is_none() {
            self.summary = self.lead.as_deref().map(shortened).filter(|text| !text.is_empty());
            self.is_derived = self.summary.is_some();
        }
        self.lead = None;
        self
    }
}

/// A page of a list and the cursor of the next one.
#[derive(Debug, Clone, Default)]
pub struct FoundPage {
    pub items: Vec<Found>,
    pub next: Option<String>,
    /// The number of matches that were ranked, if a search has more.
    pub ranked: Option<usize>,
}

fn page_size(limit: Option<usize>) -> usize {
    limit.unwrap_or(limits::DEFAULT_PAGE).clamp(1, limits::PAGE)
}

pub(crate) fn bad_cursor(cursor: &str) -> FilterError {
    FilterError::Cursor { cursor: cursor.to_owned() }
}

fn check_tags(tags: &[String]) -> Result<()> {
    if tags.len() > limits::TAGS {
        return Err(FilterError::TooManyTags { most: limits::TAGS, count: tags.len() }.into());
    }
    if tags.iter().any(|tag| tag.contains('\0')) {
        return Err(FilterError::NulInTag.into());
    }
    Ok(())
}

fn query_words(query: Option<&str>) -> Result<Option<Vec<String>>> {
    let Some(query) = query.filter(|query| !query.trim().is_empty()) else {
        return Ok(None);
    };
    if query.len() > limits::QUERY_BYTES {
        return Err(FilterError::LongQuery { most: limits::QUERY_BYTES, length: query.len() }.into());
    }
    let words = words::query(query);
    if words.is_empty() {
        return Err(FilterError::NoWords.into());
    }
    Ok(Some(words))
}

impl Store {
    /// A definition from the strongest scope that has it.
    pub async fn get<T: Keep + Entity>(&self, name: &Name) -> Result<Option<Stored<T>>> {
        Ok(self.get_any(T::KIND, name).await?.and_then(Stored::of_kind))
    }

    /// A definition of any kind from the strongest scope that has it.
    pub async fn get_any(&self, kind: Kind, name: &Name) -> Result<Option<Stored<AnyEntity>>> {
        match self.get_shared(kind, name).await? {
            Some(stored) => Ok(Some(stored)),
            None => Ok(Builtins::get().stored(kind, name)),
        }
    }

    /// A definition from the database.
    #[boxed]
    pub async fn get_shared(&self, kind: Kind, name: &Name) -> Result<Option<Stored<AnyEntity>>> {
        let sql = documents::select_by_name(self.engine().dialect(), kind);
        let rows = self.engine().texts(sql, &[Parameter::from(name)]).await?;
        rows.first().map(|row| Ok(documents::parse(kind, row)?.stored)).transpose()
    }

    /// All shared definitions of a kind, by name, after a given one; at most `limit`.
    #[boxed]
    pub async fn definitions(
        &self,
        kind: Kind,
        after: Option<&Name>,
        limit: usize,
    ) -> Result<Vec<Stored<AnyEntity>>> {
        let select = documents::select(self.engine().dialect(), kind);
        let sql = format!("{select} WHERE a.name > $1 ORDER BY a.name LIMIT {limit}");
        let after = after.map(Name::as_str).unwrap_or_default();
        let rows = self.engine().texts(sql, &[Parameter::from(after)]).await?;
        rows.iter().map(|row| Ok(documents::parse(kind, row)?.stored)).collect()
    }

    /// Shared personas that name a base or a preset, or take a piece away from their base: no link
    /// lets these follow a rename.
    pub async fn naming(&self, kind: Kind, name: &Name) -> Result<Vec<AnyEntity>> {
        let dialect = self.engine().dialect();
        let Some(condition) = naming_condition(dialect, kind, "$1") else { return Ok(Vec::new()) };
        let definition = dialect.text(&definition(dialect, Kind::Persona, "p"));
        let sql = format!("SELECT {definition} FROM agent_personas p WHERE {condition} ORDER BY p.name");
        let rows = self.engine().texts(sql, &[Parameter::from(name)]).await?;
        rows.iter().map(|row| Ok(serde_json::from_str::<Persona>(row)?.into())).collect()
    }

    /// The names of a kind that shared has, out of these.
    pub async fn shared_among(&self, kind: Kind, names: &[&Name]) -> Result<BTreeSet<Name>> {
        if names.is_empty() {
            return Ok(BTreeSet::new());
        }
        let dialect = self.engine().dialect();
        let sql = format!("SELECT a.name FROM {} a WHERE {}", table(kind), dialect.in_list("a.name", "$1"));
        let rows = self.engine().texts(sql, &[Parameter::Json(serde_json::to_string(&names)?)]).await?;
        Ok(rows.iter().filter_map(|name| Name::parse(name).ok()).collect())
    }

    /// The shared definitions of a kind that have one of these names.
    #[boxed]
    pub async fn shared_definitions(&self, kind: Kind, names: &[&Name]) -> Result<Vec<AnyEntity>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let dialect = self.engine().dialect();
        let sql = format!("{} WHERE {}", documents::select(dialect, kind), dialect.in_list("a.name", "$1"));
        let rows = self.engine().texts(sql, &[Parameter::Json(serde_json::to_string(names)?)]).await?;
        rows.iter().map(|row| Ok(documents::parse(kind, row)?.stored.entity)).collect()
    }

    /// One page of a kind, by name.
    pub async fn list(&self, kind: Kind, filter: &Filter) -> Result<FoundPage> {
        self.list_below(&Listings::default(), kind, filter).await
    }

    /// One page of the entities of a kind, by name, over this store and the entities above it.
    pub async fn list_below(&self, above: &Listings, kind: Kind, filter: &Filter) -> Result<FoundPage> {
        let size = page_size(filter.limit);
        let mut after = match &filter.cursor {
            None => None,
            Some(cursor) => {
                let name = cursor.strip_prefix("after:").and_then(|name| Name::parse(name).ok());
                Some(name.ok_or_else(|| bad_cursor(cursor))?)
            }
        };
        let words = query_words(filter.query.as_deref())?;
        let words = words.as_deref();
        check_tags(&filter.tags)?;
        let wanted = |scope: Scope| filter.scope.is_none_or(|only| only == scope);
        let mut items: Vec<Found> = Vec::new();
        loop {
            let shared = if wanted(Scope::Shared) {
                self.list_shared(kind, filter, words, after.as_ref(), size + 1).await?
            } else {
                Vec::new()
            };
            let exhausted = shared.len() <= size;
            // An entity in memory belongs to this page if its name lies in the range of the page.
            let last = shared.last().map(|found| found.name.clone()).filter(|_| !exhausted);
            let in_range = |name: &Name| {
                after.as_ref().is_none_or(|after| name > after)
                    && last.as_ref().is_none_or(|last| name <= last)
            };
            let held = |listings: &Listings| -> Vec<Found> {
                let listed = listings.of(kind).filter(|listed| {
                    in_range(&listed.found.name) && wanted(listed.found.scope) && listed.passes(filter, words)
                });
                listed.map(|listed| listed.found.clone()).collect()
            };
            let hidden = |found: &Found| filter.scope.is_none() && above.has(kind, &found.name);
            items.extend(held(above));
            items.extend(shared.into_iter().filter(|found| !hidden(found)));
            let mut builtins = held(listing::builtins());
            builtins.retain(|found| !hidden(found));
            let shadowed =
                if filter.scope.is_none() { self.shadowed(kind, &builtins).await? } else { BTreeSet::new() };
            items.extend(builtins.into_iter().filter(|found| !shadowed.contains(&found.name)));
            if exhausted || items.len() > size {
                break;
            }
            after = last;
        }
        items.sort_by(|a, b| a.name.cmp(&b.name));
        let more = items.len() > size;
        items.truncate(size);
        let next = items.last().filter(|_| more).map(|found| format!("after:{}", found.name));
        Ok(FoundPage { items: items.into_iter().map(Found::complete).collect(), next, ranked: None })
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
        let mut bind = |value: Parameter| {
            values.push(value);
            format!("${}", values.len())
        };
        if let Some(after) = after {
            conditions.push(format!("a.name > {}", bind(Parameter::from(after))));
        }
        if let Some(part_type) = filter.part_type {
            conditions.push(format!("a.part_type = {}", bind(Parameter::from(part_type.as_str()))));
        }
        if let Some(trait_type) = filter.trait_type {
            conditions.push(format!("a.trait_type = {}", bind(Parameter::from(trait_type.as_str()))));
        }
        for tag in &filter.tags {
            conditions.push(match dialect {
                Dialect::Sqlite => format!(
                    "a.id IN (SELECT entity_id FROM agent_tags WHERE kind = '{}' AND tag = {})",
                    table(kind),
                    bind(Parameter::from(tag.as_str()))
                ),
                Dialect::Postgres => format!("a.tags @> {}", bind(Parameter::Tags(vec![tag.clone()]))),
            });
        }
        if let Some(words) = words {
            let number = search_number(kind);
            conditions.push(match dialect {
                Dialect::Sqlite => format!(
                    "a.id IN (SELECT {ENTITY_OF_ROW} FROM library_search WHERE library_search MATCH {} AND {KIND_OF_ROW} = {number})",
                    bind(Parameter::Text(words::fts5(words)))
                ),
                Dialect::Postgres => format!(
                    "a.id IN (SELECT entity_id FROM library_search WHERE kind = {number} AND words @@ {}::tsquery)",
                    bind(Parameter::Text(words::tsquery(words)))
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

    /// The builtins that shared hides, out of these.
    async fn shadowed(&self, kind: Kind, candidates: &[Found]) -> Result<BTreeSet<Name>> {
        let names: Vec<&Name> = candidates.iter().map(|found| &found.name).collect();
        self.shared_among(kind, &names).await
    }
}
