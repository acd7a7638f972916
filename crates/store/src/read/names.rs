//! Names: completions, suggestions for misspelt ones, and recently used personas.

use std::collections::{BTreeMap, BTreeSet};

use persona::{Kind, Name, nearest};

use super::{Found, Listings, listing};
use crate::documents::{ENTITY_OF_ROW, KIND_OF_ROW, listed, search_number, table};
use crate::words;
use crate::{Result, Store};
use database::{Dialect, Parameter};

/// The number of neighbouring names that are considered as suggestions.
const NEIGHBOURS: usize = 200;
/// The minimum length of a word for names that share it to count as near.
const SHARED_WORD_BYTES: usize = 3;

impl Store {
    /// Names of a kind that begin with a text, in order.
    pub async fn names_with_prefix(&self, kind: Kind, prefix: &str, limit: usize) -> Result<Vec<Name>> {
        self.names_below(&Listings::default(), kind, prefix, limit).await
    }

    pub async fn names_below(
        &self,
        above: &Listings,
        kind: Kind,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<Name>> {
        if prefix.chars().any(|c| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')) {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT a.name FROM {} a WHERE a.name >= $1 AND a.name < $2 ORDER BY a.name LIMIT {limit}",
            table(kind)
        );
        // "~" is greater than every character of a name.
        let values = [Parameter::from(prefix), Parameter::Text(format!("{prefix}~"))];
        let rows = self.engine().texts(sql, &values).await?;
        let mut names: BTreeSet<Name> = rows.iter().filter_map(|name| Name::parse(name).ok()).collect();
        for listings in [above, listing::builtins()] {
            let held = listings.of(kind).map(|listed| &listed.found.name);
            names.extend(held.filter(|name| name.as_str().starts_with(prefix)).cloned());
        }
        Ok(names.into_iter().take(limit).collect())
    }

    /// Suggestions for a misspelt name: its alphabetical neighbours, names that share a word with it, and the
    /// builtins.
    pub async fn near_names(&self, kind: Kind, name: &str) -> Result<Vec<String>> {
        self.near_below(&Listings::default(), kind, name).await
    }

    pub async fn near_below(&self, above: &Listings, kind: Kind, name: &str) -> Result<Vec<String>> {
        let table = table(kind);
        let start: String = name.chars().take(1).collect();
        let held = above.of(kind).chain(listing::builtins().of(kind));
        let mut known: BTreeSet<String> = held.map(|listed| listed.found.name.to_string()).collect();
        let before = format!(
            "SELECT a.name FROM {table} a WHERE a.name <= $1 AND a.name >= $2 ORDER BY a.name DESC LIMIT {NEIGHBOURS}"
        );
        known.extend(
            self.engine().texts(before, &[Parameter::from(name), Parameter::Text(start.clone())]).await?,
        );
        let after = format!(
            "SELECT a.name FROM {table} a WHERE a.name > $1 AND a.name < $2 ORDER BY a.name LIMIT {NEIGHBOURS}"
        );
        known.extend(
            self.engine()
                .texts(after, &[Parameter::from(name), Parameter::Text(format!("{start}~"))])
                .await?,
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
                    "SELECT {ENTITY_OF_ROW} FROM library_search WHERE library_search MATCH $1 AND {KIND_OF_ROW} = {number}"
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
        Ok(self.engine().texts(sql, &[Parameter::Text(query)]).await?)
    }

    /// Personas, most recently used first, then most recently changed, then the builtins.
    pub async fn recent_personas(&self, limit: usize) -> Result<Vec<Found>> {
        self.recent_below(&Listings::default(), limit).await
    }

    pub async fn recent_below(&self, above: &Listings, limit: usize) -> Result<Vec<Found>> {
        let mut names = self.usage().recent();
        for sql in [
            format!("SELECT name FROM agent_persona_usage ORDER BY last_used_at DESC LIMIT {limit}"),
            format!("SELECT name FROM agent_personas ORDER BY updated_at DESC LIMIT {limit}"),
        ] {
            let rows = self.engine().texts(sql, &[]).await?;
            names.extend(rows.iter().filter_map(|name| Name::parse(name).ok()));
        }
        let held = above.of(Kind::Persona).chain(listing::builtins().of(Kind::Persona));
        names.extend(held.map(|listed| listed.found.name.clone()));
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        let dialect = self.engine().dialect();
        let sql = format!(
            "SELECT {} FROM agent_personas a WHERE {}",
            dialect.text(&listed(dialect, Kind::Persona, "a")),
            dialect.in_list("a.name", "$1")
        );
        let rows = self.engine().texts(sql, &[Parameter::Json(serde_json::to_string(&names)?)]).await?;
        let mut found: Vec<Found> =
            rows.iter().map(|row| serde_json::from_str(row)).collect::<std::result::Result<_, _>>()?;
        found.retain(|found| !above.has(Kind::Persona, &found.name));
        let mut known: BTreeSet<Name> = found.iter().map(|found| found.name.clone()).collect();
        for listed in above.of(Kind::Persona).chain(listing::builtins().of(Kind::Persona)) {
            if known.insert(listed.found.name.clone()) {
                found.push(listed.found.clone());
            }
        }
        let places: BTreeMap<&Name, usize> = names.iter().enumerate().map(|(at, name)| (name, at)).collect();
        found.sort_by_key(|found| places.get(&found.name).copied().unwrap_or(usize::MAX));
        found.truncate(limit);
        Ok(found.into_iter().map(Found::complete).collect())
    }
}
