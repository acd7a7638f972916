//! Carrying entities with all that they refer to: to another scope, out of the library, into it.

use async_recursion::async_recursion as boxed;
use std::collections::{BTreeMap, BTreeSet};

use persona::catalog::reach;
use persona::{AnyEntity, Kind, Name, Reference, Scope, Stored, with_entity};
use scopes::Write;
use store::{Action, Keep};

use crate::diff::{in_order, same};
use crate::documents::toml_of;
use crate::outputs::{Piece, Promoted};
use crate::templates::theirs;
use crate::{Author, Error, Library, Result, ScopeError};

mod clearing;
mod import;

/// An entity that is to go to another scope.
#[derive(Debug, Clone)]
pub struct Promotion {
    pub kind: Kind,
    pub name: Name,
    /// Where it is; none: where its name resolves.
    pub from: Option<Scope>,
    pub to: Scope,
    /// Whether it stays where it was as well.
    pub copy: bool,
    /// Whether definitions of the same names that are there already give way.
    pub replace: bool,
    pub message: Option<String>,
}

/// Entities by kind and name, what is referred to before what refers to it.
pub(crate) type Cargo = Vec<Stored<AnyEntity>>;

impl Library {
    /// An entity and everything that it refers to, directly or not, as far as it is in one of the
    /// scopes of which `carried` is true.
    pub(crate) async fn closure(
        &self,
        kind: Kind,
        name: &Name,
        scope: Scope,
        carried: impl Fn(Scope) -> bool,
    ) -> Result<Cargo> {
        let Some(stored) = self.scopes.get_any(kind, name, Some(scope)).await? else {
            return Err(self.missing_in(kind, name, Some(scope)).await);
        };
        let mut cargo: Cargo = Vec::new();
        let mut seen: BTreeSet<(Kind, Name, Scope)> = BTreeSet::from([(kind, name.clone(), scope)]);
        let mut pending = vec![stored];
        while let Some(stored) = pending.pop() {
            for reference in stored.entity.references() {
                let Some(found) = self.meant(&reference, stored.meta.scope).await? else { continue };
                let scope = found.meta.scope;
                if carried(scope) && seen.insert((reference.kind, reference.name, scope)) {
                    pending.push(found);
                }
            }
            cargo.push(stored);
        }
        // What was found last is referred to by what was found before; pieces come before arcs,
        // arcs before personas.
        cargo.reverse();
        cargo.sort_by_key(|stored| match stored.entity.kind() {
            Kind::Persona => 2,
            Kind::Arc => 1,
            _ => 0,
        });
        Ok(cargo)
    }

    /// What a reference of a definition in a scope means.
    pub(crate) async fn meant(
        &self,
        reference: &Reference,
        from: Scope,
    ) -> Result<Option<Stored<AnyEntity>>> {
        for scope in reach(from, reference.scope) {
            let found = self.scopes.get_any(reference.kind, &reference.name, Some(scope)).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Refuses to write definitions into another scope, in which a name in one of them means something
    /// else. A builtin that the scope has in place of ours is meant to be it.
    pub(crate) async fn check_same_meaning(
        &self,
        references: impl IntoIterator<Item = &Reference>,
        (from, to): (Scope, Scope),
    ) -> Result<()> {
        for reference in references {
            let there = self.meant(reference, from).await?;
            let here = self.meant(reference, to).await?;
            let (Some(there), Some(here)) = (there, here) else { continue };
            if there.meta.scope == Scope::Builtin || same(&there.entity, &here.entity) {
                continue;
            }
            return Err(ScopeError::OtherMeaning {
                field: reference.field.clone(),
                kind: reference.kind,
                name: reference.name.clone(),
                from: (from, there.meta.scope),
                to: (to, here.meta.scope),
            }
            .into());
        }
        Ok(())
    }

    /// Moves or copies an entity to another scope, with all that it refers to and that scope does
    /// not see. A builtin is always copied.
    #[boxed]
    pub async fn promote(&self, author: &Author, promotion: Promotion) -> Result<Promoted> {
        let Promotion { kind, name, from, to, copy, replace, message } = promotion;
        let from = match from {
            Some(from) => from,
            None => self.resolved(kind, &name).await?,
        };
        // Stronger scopes are not seen from there; weaker ones are, and need not be carried.
        let mut cargo = self.closure(kind, &name, from, |scope| scope > to || scope == from).await?;
        if from == to {
            return Err(ScopeError::AlreadyThere { kind, name, scope: to }.into());
        }
        if from < to {
            cargo.retain(|stored| stored.meta.scope == from);
        }
        one_of_each(&cargo)?;
        for stored in &cargo {
            let mut left = rebased(&stored.entity, from, to).references();
            left.retain(|reference| !cargo.iter().any(|it| is(&it.entity, reference)));
            self.check_same_meaning(&left, (stored.meta.scope, to)).await?;
        }
        let moves = !copy && from != Scope::Builtin;
        if moves {
            // Two scopes cannot change in one step, so nothing is copied that could not go.
            let leaving = cargo.iter().filter(|stored| stored.meta.scope == from);
            let leaving: Vec<&AnyEntity> = leaving.map(|stored| &stored.entity).collect();
            self.check_can_leave(author, from, leaving).await?;
        }
        let message = message.unwrap_or_else(|| format!("from {from}"));
        let (carried, copied) = self.carry(author, &cargo, (from, to), replace, &message).await?;
        let unfilled = unfilled(&cargo, to);
        let (removed, kept) = (Vec::new(), Vec::new());
        let mut outcome = Promoted { kind, name, from, to, carried, copied, removed, kept, unfilled };
        if moves {
            self.clear_out(author, &cargo, &message, &mut outcome).await?;
        }
        Ok(outcome)
    }

    /// Writes what is carried where it goes, all or none; returns what is different there now, and
    /// the builtins that were copied.
    async fn carry(
        &self,
        author: &Author,
        cargo: &Cargo,
        (from, to): (Scope, Scope),
        replace: bool,
        message: &str,
    ) -> Result<(Vec<Piece>, Vec<Piece>)> {
        let mut write = self.scopes.write(to, author.because(Some(message.to_owned()))?).await?;
        let (mut carried, mut copied) = (Vec::new(), Vec::new());
        for Stored { entity, meta } in cargo {
            let mut entity = rebased(entity, from, to);
            if meta.scope == Scope::Builtin {
                entity = theirs(entity);
            }
            if let Some(there) = in_place_of(&mut write, &entity).await?
                && !same(&there, &entity)
                && !replace
            {
                return Err(Error::Occupied { kind: entity.kind(), name: entity.name().clone(), scope: to });
            }
            if self.put_any(&mut write, &entity, Action::Create, None, &mut copied).await?.changed {
                carried.push(piece(&entity));
                if entity.kind() == Kind::Persona {
                    self.carry_stage(&mut write, entity.name(), meta.scope).await?;
                }
            }
        }
        write.commit().await?;
        Ok((carried, copied))
    }

    /// Entities with all that they refer to, as one personas.toml, and what they name that is not
    /// there.
    #[boxed]
    pub async fn export(&self, names: &[(Kind, Name)], scope: Option<Scope>) -> Result<(String, Vec<Piece>)> {
        let mut all: Cargo = Vec::new();
        for (kind, name) in names {
            let found = match scope {
                Some(scope) => scope,
                None => self.resolved(*kind, name).await?,
            };
            all.extend(self.closure(*kind, name, found, |_| true).await?);
        }
        one_of_each(&all)?;
        let bundle: BTreeMap<(Kind, Name), AnyEntity> = all
            .iter()
            .map(|Stored { entity, .. }| ((entity.kind(), entity.name().clone()), unscoped(in_order(entity))))
            .collect();
        let named = bundle.values().flat_map(AnyEntity::references);
        let missing: BTreeSet<(Kind, Name)> = named
            .map(|reference| (reference.kind, reference.name))
            .filter(|named| !bundle.contains_key(named))
            .collect();
        let missing = missing.into_iter().map(|(kind, name)| Piece { kind, name }).collect();
        Ok((toml_of(&bundle.into_values().collect::<Vec<_>>())?, missing))
    }
}

/// What the scope that is written to has under an entity's name; nobody else changes it until the
/// write is done. A file is read for it as it is, edits by hand included.
async fn in_place_of(write: &mut Write, entity: &AnyEntity) -> Result<Option<AnyEntity>> {
    async fn find<T: Keep>(write: &mut Write, like: &T) -> Result<Option<AnyEntity>> {
        Ok(write.find::<T>(like.name()).await?.map(|held| held.stored.entity.into()))
    }
    with_entity!(entity, entity => find(write, entity).await)
}

/// The entities that lose the values of their placeholders: those count in files only.
fn unfilled(cargo: &Cargo, to: Scope) -> Vec<Piece> {
    let loses = |stored: &&Stored<AnyEntity>| {
        stored.meta.scope.is_file() && !to.is_file() && has_placeholders(&stored.entity)
    };
    cargo.iter().filter(loses).map(|stored| piece(&stored.entity)).collect()
}

/// Two scopes' definitions of one name cannot stand side by side in one place, unless they say the
/// same.
fn one_of_each(cargo: &Cargo) -> Result<()> {
    let mut seen: BTreeMap<(Kind, &Name), (Scope, &AnyEntity)> = BTreeMap::new();
    for Stored { entity, meta } in cargo {
        let scope = meta.scope;
        let other = seen.insert((entity.kind(), entity.name()), (scope, entity));
        if let Some((other, _)) = other.filter(|(_, other)| !same(other, entity)) {
            let scopes = (other.min(scope), other.max(scope));
            let (kind, name) = (entity.kind(), entity.name().clone());
            return Err(ScopeError::BothNeeded { kind, name, scopes }.into());
        }
    }
    Ok(())
}

/// A base that comes along is in the new scope from then on.
fn rebased(entity: &AnyEntity, from: Scope, to: Scope) -> AnyEntity {
    let mut entity = entity.clone();
    if let AnyEntity::Persona(persona) = &mut entity
        && let Some(base) = &mut persona.extends
        && base.scope.is_some_and(|scope| scope == from || scope > to)
    {
        base.scope = None;
    }
    entity
}

fn piece(entity: &AnyEntity) -> Piece {
    Piece { kind: entity.kind(), name: entity.name().clone() }
}

fn has_placeholders(entity: &AnyEntity) -> bool {
    persona::env::placeholders(&entity.to_json().to_string()).next().is_some()
}

/// Whether an entity has the kind and the name that a reference says.
fn is(entity: &AnyEntity, reference: &Reference) -> bool {
    entity.kind() == reference.kind && *entity.name() == reference.name
}

/// In a bundle everything is at hand: a base is found by its name.
fn unscoped(mut entity: AnyEntity) -> AnyEntity {
    if let AnyEntity::Persona(persona) = &mut entity
        && let Some(base) = &mut persona.extends
    {
        base.scope = None;
    }
    entity
}
