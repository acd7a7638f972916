//! Lists and resolves conflicts: names that several scopes define.

use async_recursion::async_recursion as boxed;
use std::collections::{BTreeMap, BTreeSet};

use persona::{AnyEntity, Kind, Name, Scope};
use serde_json::Value;

use crate::diff::fields;
use crate::entities::parse;
use crate::inputs::Delete;
use crate::outputs::{Conflict, FieldConflict, Resolved, ScopedEntityRef};
use crate::pieces::Used;
use crate::rename::User;
use crate::scope::is_linked;
use crate::{Author, Done, Error, Library, Result, ScopeError};

/// The resolution of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Keep one scope's definition, delete the others.
    Use(Scope),
    /// Take each differing field from a scope. The strongest scope gets the result; the others are
    /// deleted.
    Merge(BTreeMap<String, Scope>),
}

impl Library {
    /// The names that several scopes define, or those of one name. Builtins do not count: they are
    /// meant to be replaced.
    #[boxed]
    pub async fn conflicts(&self, kind: Option<Kind>, name: Option<&Name>) -> Result<Vec<Conflict>> {
        let mut conflicts = Vec::new();
        for (of, known) in self.scopes.defined_twice().await? {
            if kind.is_none_or(|kind| kind == of) && name.is_none_or(|name| *name == known) {
                conflicts.push(self.conflict(of, &known).await?);
            }
        }
        Ok(conflicts)
    }

    /// The definitions of a name that replace a builtin, strongest first within each kind. They are no
    /// conflict.
    #[boxed]
    pub async fn overrides(&self, kind: Option<Kind>, name: &Name) -> Result<Vec<ScopedEntityRef>> {
        let mut overrides = Vec::new();
        for of in Kind::ALL.iter().copied().filter(|of| kind.is_none_or(|kind| kind == *of)) {
            let scopes = self.scopes.scopes_of(of, name).await?;
            if scopes.contains(&Scope::Builtin) {
                let over = scopes.into_iter().filter(|scope| *scope != Scope::Builtin);
                overrides.extend(over.map(|scope| ScopedEntityRef { scope, kind: of, name: name.clone() }));
            }
        }
        Ok(overrides)
    }

    async fn definitions(&self, kind: Kind, name: &Name) -> Result<BTreeMap<Scope, AnyEntity>> {
        let mut definitions = BTreeMap::new();
        for scope in self.scopes.scopes_of(kind, name).await? {
            if scope != Scope::Builtin
                && let Some(stored) = self.scopes.get_any(kind, name, Some(scope)).await?
            {
                definitions.insert(scope, stored.entity);
            }
        }
        Ok(definitions)
    }

    async fn conflict(&self, kind: Kind, name: &Name) -> Result<Conflict> {
        let definitions = self.definitions(kind, name).await?;
        let fields = differing(&definitions);
        let scopes: Vec<Scope> = definitions.keys().rev().copied().collect();
        Ok(Conflict {
            kind,
            name: name.clone(),
            in_force: scopes.first().copied().unwrap_or(Scope::Shared),
            scopes,
            identical: fields.is_empty(),
            fields,
        })
    }

    /// Resolves a conflict; afterwards one scope has the name.
    #[boxed]
    pub async fn resolve_conflict(
        &self,
        author: &Author,
        kind: Kind,
        name: &Name,
        resolution: Resolution,
        message: Option<String>,
    ) -> Result<Resolved> {
        let definitions = self.definitions(kind, name).await?;
        let strongest = match definitions.keys().next_back() {
            None => return Err(self.missing(kind, name).await),
            Some(scope) if definitions.len() == 1 => {
                return Err(ScopeError::NoConflict { kind, name: name.clone(), scope: *scope }.into());
            }
            Some(strongest) => *strongest,
        };
        let (kept, merged) = match resolution {
            Resolution::Use(scope) if definitions.contains_key(&scope) => (scope, None),
            Resolution::Use(scope) => {
                return Err(not_defined(kind, name, scope, None, &definitions));
            }
            Resolution::Merge(take) => {
                let merged = merge(kind, name, &definitions, &take)?;
                for (scope, entity) in definitions.iter().filter(|(scope, _)| **scope != strongest) {
                    let mut taken = entity.references();
                    taken.retain(|reference| take.get(reference.key()) == Some(scope));
                    self.check_same_meaning(&taken, (*scope, strongest)).await?;
                }
                (strongest, Some(merged))
            }
        };
        // Strongest first: each may extend a weaker one.
        let gone: Vec<Scope> = definitions.keys().rev().copied().filter(|scope| *scope != kept).collect();
        if let Some(left) = merged.as_ref().or_else(|| definitions.get(&kept)) {
            for scope in &gone {
                self.check_needed(left, kept, *scope, &gone).await?;
            }
        }
        // The kept definition must be readable, not only its last valid version.
        self.scopes.write(kept, author.because(None)?).await?.refuse_broken(kind, name)?;
        // Scopes do not change in one step, so check first that each of them can.
        for scope in &gone {
            self.check_can_leave(author, *scope, definitions.get(scope)).await?;
        }
        let message = message.unwrap_or_else(|| "settles a conflict between scopes".to_owned());
        let written = match merged {
            Some(entity) => Some(self.save(author, kept, entity, None, Some(message.clone())).await?),
            None => None,
        };
        let mut deleted = Vec::new();
        for scope in gone {
            let delete = Delete {
                name: name.clone(),
                force: false,
                if_revision: None,
                message: Some(message.clone()),
                scope: Some(scope),
            };
            // `check_needed` has looked at the users: they use the kept definition from now on.
            if let Err(rest) = self.delete_used(author, kind, delete, Used::MayFallBack).await {
                return Err(unfinished(rest, written.is_some().then_some(kept), &deleted));
            }
            deleted.push(scope);
        }
        Ok(Resolved { kind, name: name.clone(), kept, written, deleted })
    }

    /// Fails if a definition has users that the kept one cannot serve: they do not see it, or they name
    /// the scope.
    async fn check_needed(&self, left: &AnyEntity, kept: Scope, scope: Scope, gone: &[Scope]) -> Result<()> {
        let (kind, name) = (left.kind(), left.name());
        let loses = |user: &User| {
            if user.place.kind == kind && user.place.name == *name {
                if gone.contains(&user.place.scope) {
                    return false;
                }
                // The kept definition may have changed.
                if user.place.scope == kept {
                    return left.references().iter().any(|reference| {
                        reference.kind == kind && reference.name == *name && reference.scope == Some(scope)
                    });
                }
            }
            user.by_scope || user.place.scope < kept
        };
        let mut users = self.users_of(kind, name, scope).await?;
        if scope == Scope::Shared && is_linked(kind) {
            let linked = self.linked_users(kind, name).await?;
            users.splice(0..0, linked);
        }
        let left: Vec<String> = users
            .iter()
            .filter(|user| loses(user))
            .map(|user| format!("{}:{}", user.place.scope, user.place.name))
            .collect();
        match left.is_empty() {
            true => Ok(()),
            false => Err(Error::Needed { kind, name: name.clone(), scope, users: left.into() }),
        }
    }

    /// The entities that link a shared one.
    async fn linked_users(&self, kind: Kind, name: &Name) -> Result<Vec<User>> {
        let look = Author::new("masque", "look").because(None)?;
        let mut write = self.scopes.write(Scope::Shared, look).await?;
        let Some(held) = write.find_any(kind, name).await? else { return Ok(Vec::new()) };
        let users = write.users(&held).await?.into_iter();
        let place = |(kind, name)| ScopedEntityRef { scope: Scope::Shared, kind, name };
        Ok(users.map(|user| User { place: place(user), by_scope: false }).collect())
    }
}

/// Adds the finished steps of a resolution to an error.
fn unfinished(rest: Error, merged: Option<Scope>, deleted: &[Scope]) -> Error {
    if merged.is_none() && deleted.is_empty() {
        return rest;
    }
    let done = Done::Resolved { merged, deleted: deleted.to_vec() };
    Error::Unfinished { done, rest: Box::new(rest) }
}

/// The fields in which the scopes differ, with each one's value.
fn differing(definitions: &BTreeMap<Scope, AnyEntity>) -> Vec<FieldConflict> {
    let all: BTreeMap<Scope, serde_json::Map<String, Value>> =
        definitions.iter().map(|(scope, entity)| (*scope, fields(entity))).collect();
    let names: BTreeSet<&String> = all.values().flat_map(serde_json::Map::keys).collect();
    let conflict = |field: &String| {
        let given: BTreeSet<String> = all
            .values()
            .map(|fields| fields.get(field).map(ToString::to_string).unwrap_or_default())
            .collect();
        let values =
            all.iter().filter_map(|(scope, fields)| Some((*scope, fields.get(field)?.clone()))).collect();
        (given.len() > 1).then(|| FieldConflict { field: field.clone(), values })
    };
    names.into_iter().filter_map(conflict).collect()
}

/// The error for a scope that does not define the entity; `field` names it as its source.
fn not_defined(
    kind: Kind,
    name: &Name,
    scope: Scope,
    field: Option<&String>,
    definitions: &BTreeMap<Scope, AnyEntity>,
) -> Error {
    let (name, field, known) = (name.clone(), field.cloned(), definitions.keys().copied().collect());
    ScopeError::NotDefined { kind, name, scope, field, known }.into()
}

fn merge(
    kind: Kind,
    name: &Name,
    definitions: &BTreeMap<Scope, AnyEntity>,
    take: &BTreeMap<String, Scope>,
) -> Result<AnyEntity> {
    let conflicts = differing(definitions);
    let unknown = take.keys().find(|field| !conflicts.iter().any(|conflict| conflict.field == **field));
    if let Some(field) = unknown {
        let known = conflicts.iter().map(|conflict| conflict.field.clone()).collect();
        return Err(ScopeError::SameField { field: field.clone(), known }.into());
    }
    let open = conflicts.iter().map(|conflict| &conflict.field).filter(|field| !take.contains_key(*field));
    let open: Vec<String> = open.cloned().collect();
    if !open.is_empty() {
        return Err(ScopeError::Undecided { fields: open }.into());
    }
    let mut merged = definitions.last_key_value().map(|(_, strongest)| fields(strongest)).unwrap_or_default();
    for (field, scope) in take {
        let Some(from) = definitions.get(scope) else {
            return Err(not_defined(kind, name, *scope, Some(field), definitions));
        };
        match fields(from).remove(field) {
            Some(value) => drop(merged.insert(field.clone(), value)),
            None => drop(merged.remove(field)),
        }
    }
    parse(kind, name.as_str(), merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_lists_the_steps_that_are_done() {
        let failed = |merged, deleted: &[Scope]| {
            let error = unfinished(crate::SessionError::NoProject.into(), merged, deleted);
            assert_eq!(error.code(), crate::Code::NoProject);
            match error {
                Error::Unfinished { done, .. } => Some(done),
                _ => None,
            }
        };
        assert_eq!(failed(None, &[]), None);
        for (merged, deleted) in
            [(None, vec![Scope::Shared]), (Some(Scope::Project), vec![Scope::Shared, Scope::Global])]
        {
            assert_eq!(failed(merged, &deleted), Some(Done::Resolved { merged, deleted }));
        }
    }
}
