//! Finds entities over all scopes: lists, search, names, and the scopes that have one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use persona::{AnyEntity, Entity, Kind, Name, Scope, Stored};

use super::{ScopeFile, Scopes};
use builtins::Builtins;
use store::{Filter, Found, FoundPage, Keep};

use crate::Result;

/// The number of definitions per read from the database.
const CHUNK: usize = 500;

const STRONGEST_FIRST: [Scope; 4] = [Scope::Project, Scope::Global, Scope::Shared, Scope::Builtin];

impl Scopes {
    /// One page of the entities of a kind, by name.
    pub async fn list(&self, kind: Kind, filter: &Filter) -> Result<FoundPage> {
        Ok(self.database().list_below(&self.listings(filter.scope), kind, filter).await?)
    }

    /// Entities of the given kinds in which all words occur, best first.
    pub async fn search(
        &self,
        query: &str,
        kinds: &[Kind],
        scope: Option<Scope>,
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<FoundPage> {
        Ok(self.database().search_below(&self.listings(scope), query, kinds, scope, limit, cursor).await?)
    }

    /// Names of a kind that begin with a text, in order.
    pub async fn names_with_prefix(&self, kind: Kind, prefix: &str, limit: usize) -> Result<Vec<Name>> {
        Ok(self.database().names_below(&self.listings(None), kind, prefix, limit).await?)
    }

    /// Suggestions for a misspelt name.
    pub async fn near_names(&self, kind: Kind, name: &str) -> Result<Vec<String>> {
        Ok(self.database().near_below(&self.listings(None), kind, name).await?)
    }

    /// Personas for a menu.
    pub async fn recent_personas(&self, limit: usize) -> Result<Vec<Found>> {
        Ok(self.database().recent_below(&self.listings(None), limit).await?)
    }

    /// Every scope that has a name, strongest first.
    pub async fn scopes_of(&self, kind: Kind, name: &Name) -> Result<Vec<Scope>> {
        let mut scopes = self.stored_scopes_of(kind, name).await?;
        if let Some(proposal) = self.proposal() {
            for scope in STRONGEST_FIRST {
                if let Some(proposed) = proposal.find(scope, kind, name) {
                    scopes.retain(|known| *known != scope);
                    scopes.extend(proposed.map(|_| scope));
                }
            }
            scopes.sort_unstable_by(|one, other| other.cmp(one));
        }
        Ok(scopes)
    }

    async fn stored_scopes_of(&self, kind: Kind, name: &Name) -> Result<Vec<Scope>> {
        let in_files = self.files().filter(|file| file.current().find(kind, name).is_some());
        let mut scopes: Vec<Scope> = in_files.map(|file| file.scope).collect();
        if !self.database().shared_among(kind, &[name]).await?.is_empty() {
            scopes.push(Scope::Shared);
        }
        if Builtins::get().find(kind, name).is_some() {
            scopes.push(Scope::Builtin);
        }
        Ok(scopes)
    }

    /// The strongest definition below a scope for each of these names, with one read per kind.
    pub async fn below(
        &self,
        scope: Scope,
        names: &BTreeSet<(Kind, Name)>,
    ) -> Result<BTreeMap<(Kind, Name), (Scope, AnyEntity)>> {
        let mut below = BTreeMap::new();
        // Weakest first: a stronger definition takes the place of a weaker one.
        for (kind, name) in names {
            if let Some(builtin) = Builtins::get().find(*kind, name) {
                below.insert((*kind, name.clone()), (Scope::Builtin, builtin));
            }
        }
        if scope > Scope::Shared {
            for kind in Kind::ALL {
                let names = names.iter().filter(|(of, _)| of == kind).map(|(_, name)| name);
                let names: Vec<&Name> = names.collect();
                for entity in self.database().shared_definitions(*kind, &names).await? {
                    below.insert((*kind, entity.name().clone()), (Scope::Shared, entity));
                }
            }
        }
        for file in self.files().filter(|file| file.scope < scope) {
            for (kind, name) in names {
                if let Some(entry) = file.current().find(*kind, name) {
                    below.insert((*kind, name.clone()), (file.scope, entry.entity.clone()));
                }
            }
        }
        Ok(below)
    }

    /// The strongest file with an invalid entry of this name, even if an earlier version of the entry is in
    /// force.
    pub fn broken_in(&self, kind: Kind, name: &Name) -> Option<Scope> {
        let is_broken = |file: &&Arc<ScopeFile>| file.current().document.is_broken(kind, name.as_str());
        self.files().find(is_broken).map(|file| file.scope)
    }

    /// The readable fields of a file's invalid entries, unchecked.
    pub fn readable_of_broken(&self, scope: Scope) -> Vec<AnyEntity> {
        self.file(scope).map(|file| file.current().document.readable.clone()).unwrap_or_default()
    }

    /// A definition of any kind from the given scope, or from the strongest one that has it.
    #[boxed]
    pub async fn get_any(
        &self,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
    ) -> Result<Option<Stored<AnyEntity>>> {
        let Some(proposal) = self.proposal() else { return self.stored_any(kind, name, scope).await };
        for at in STRONGEST_FIRST.into_iter().filter(|at| scope.is_none_or(|only| only == *at)) {
            let found = match proposal.find(at, kind, name) {
                Some(proposed) => proposed,
                None => self.stored_any(kind, name, Some(at)).await?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    async fn stored_any(
        &self,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
    ) -> Result<Option<Stored<AnyEntity>>> {
        for file in self.files().filter(|file| scope.is_none_or(|only| only == file.scope)) {
            if let Some(entry) = file.current().find(kind, name) {
                let meta = self.file_meta(file, kind, name).await?;
                return Ok(Some(Stored { entity: entry.entity.clone(), meta }));
            }
        }
        match scope {
            None => Ok(self.database().get_any(kind, name).await?),
            Some(Scope::Shared) => Ok(self.database().get_shared(kind, name).await?),
            Some(Scope::Builtin) => Ok(Builtins::get().stored(kind, name)),
            Some(_) => Ok(None),
        }
    }

    /// A definition of one kind.
    pub async fn get<T: Keep + Entity>(
        &self,
        name: &Name,
        scope: Option<Scope>,
    ) -> Result<Option<Stored<T>>> {
        Ok(self.get_any(T::KIND, name, scope).await?.and_then(Stored::of_kind))
    }

    /// Every entity of a scope, by kind and name.
    pub async fn all(&self, scope: Scope) -> Result<Vec<AnyEntity>> {
        if scope == Scope::Builtin {
            return Ok(Builtins::get().all().collect());
        }
        if let Some(file) = self.file(scope) {
            let snapshot = file.current();
            let entries = snapshot.document.entries.values().flat_map(|entries| entries.values());
            return Ok(entries.map(|entry| entry.entity.clone()).collect());
        }
        let mut all = Vec::new();
        if scope == Scope::Shared {
            for kind in Kind::ALL {
                let mut after: Option<Name> = None;
                loop {
                    let chunk = self.database().definitions(*kind, after.as_ref(), CHUNK).await?;
                    let full = chunk.len() == CHUNK;
                    after = chunk.last().map(|stored| stored.entity.name().clone());
                    all.extend(chunk.into_iter().map(|stored| stored.entity));
                    if !full {
                        break;
                    }
                }
            }
        }
        Ok(all)
    }

    /// Entities of a scope that refer to another one in any field. In the shared scope, only those that do
    /// not follow a rename through a link: see [`Store::naming`](store::Store).
    pub async fn naming(&self, scope: Scope, kind: Kind, name: &Name) -> Result<Vec<AnyEntity>> {
        let names_it = |entity: &AnyEntity| {
            entity.references().iter().any(|found| found.kind == kind && found.name == *name)
        };
        if scope == Scope::Shared {
            return Ok(self.database().naming(kind, name).await?);
        }
        Ok(self.all(scope).await?.into_iter().filter(names_it).collect())
    }

    /// Names that are defined by a file and by another file or the database, by kind.
    pub async fn defined_twice(&self) -> Result<BTreeSet<(Kind, Name)>> {
        let mut twice = BTreeSet::new();
        for kind in Kind::ALL {
            let mut seen: BTreeSet<Name> = BTreeSet::new();
            for file in self.files() {
                let snapshot = file.current();
                let Some(entries) = snapshot.document.entries.get(kind) else { continue };
                for name in entries.keys() {
                    if !seen.insert(name.clone()) {
                        twice.insert((*kind, name.clone()));
                    }
                }
            }
            let names: Vec<&Name> = seen.iter().collect();
            let shared = self.database().shared_among(*kind, &names).await?;
            twice.extend(shared.into_iter().map(|name| (*kind, name)));
        }
        Ok(twice)
    }
}
