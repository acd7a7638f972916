//! Promotes, exports and imports entities with everything they refer to.

use async_recursion::async_recursion as boxed;
use std::collections::{BTreeMap, BTreeSet};

use persona::catalog::reach;
use persona::{AnyEntity, Kind, Name, Reference, Scope, Stored};
use scopes::Write;
use store::Action;

use crate::change::check_revision;
use crate::diff::same;
use crate::inputs::PromoteEntity;
use crate::outputs::{EntityRef, Promoted};
use crate::templates::untagged_copy;
use crate::{Author, Error, Library, Result, ScopeError};

mod clearing;
mod export;
mod import;
pub use import::Follow;
mod order;

/// Entities to carry; pieces come before the entities that use them.
pub(crate) type Cargo = Vec<Stored<AnyEntity>>;

impl Library {
    /// An entity and everything it refers to, directly or not, in the scopes for which `carried` is
    /// true.
    pub(crate) async fn closure(
        &self,
        kind: Kind,
        name: &Name,
        scope: Scope,
        carried: impl Fn(Scope) -> bool,
    ) -> Result<Cargo> {
        self.closure_along(kind, name, scope, |_, scope| carried(scope)).await
    }

    /// The same, along the references for which `carried` is true.
    async fn closure_along(
        &self,
        kind: Kind,
        name: &Name,
        scope: Scope,
        carried: impl Fn(&Reference, Scope) -> bool,
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
                if carried(&reference, scope) && seen.insert((reference.kind, reference.name, scope)) {
                    pending.push(found);
                }
            }
            cargo.push(stored);
        }
        // Later finds are pieces of earlier ones. Pieces come before arcs, arcs before personas.
        cargo.reverse();
        cargo.sort_by_key(|stored| match stored.entity.kind() {
            Kind::Persona => 2,
            Kind::Arc => 1,
            _ => 0,
        });
        Ok(cargo)
    }

    /// The entity that a reference means, seen from a scope.
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

    /// Fails if a reference means another entity in the scope that it is written to. A definition that
    /// replaces a builtin counts as the builtin.
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

    /// Copies an entity to another scope, with the entities it refers to and that scope does not see. `moves`
    /// removes the originals, unless they are builtins.
    #[boxed]
    pub async fn promote(&self, author: &Author, input: PromoteEntity) -> Result<Promoted> {
        let PromoteEntity { kind, name, to, moves, replace, message, if_revision, scope } = input;
        let from = match scope {
            Some(from) => from,
            None => self.resolved(kind, &name).await?,
        };
        // The new scope does not see stronger ones. It sees weaker ones, which stay where they are.
        let mut cargo = self.closure(kind, &name, from, |scope| scope > to || scope == from).await?;
        if from == to {
            return Err(ScopeError::AlreadyThere { kind, name, scope: to }.into());
        }
        let read = cargo.iter().find(|it| is(&it.entity, kind, &name) && it.meta.scope == from);
        check_revision(kind, &name, if_revision, read.map_or(0, |read| read.meta.revision))?;
        if from < to {
            cargo.retain(|stored| stored.meta.scope == from);
        }
        one_of_each(&cargo)?;
        for stored in &cargo {
            let mut left = rebased(&stored.entity, from, to).references();
            left.retain(|reference| !cargo.iter().any(|it| is(&it.entity, reference.kind, &reference.name)));
            self.check_same_meaning(&left, (stored.meta.scope, to)).await?;
        }
        self.check_valid(author, from, &cargo).await?;
        let moves = moves && from != Scope::Builtin;
        if moves {
            // Scopes do not change in one step, so check first that everything can go.
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

    /// Writes the cargo into its new scope, all or none. Returns the changed entities, and the builtins
    /// that were copied.
    async fn carry(
        &self,
        author: &Author,
        cargo: &Cargo,
        (from, to): (Scope, Scope),
        replace: bool,
        message: &str,
    ) -> Result<(Vec<EntityRef>, Vec<EntityRef>)> {
        let mut write = self.scopes.write(to, author.because(Some(message.to_owned()))?).await?;
        let (mut carried, mut copied) = (Vec::new(), Vec::new());
        for Stored { entity, meta } in cargo {
            let mut entity = rebased(entity, from, to);
            if meta.scope == Scope::Builtin {
                entity = untagged_copy(entity);
            }
            if let Some(there) = in_place_of(&mut write, &entity).await?
                && !same(&there, &entity)
                && !replace
            {
                return Err(Error::Occupied { kind: entity.kind(), name: entity.name().clone(), scope: to });
            }
            if self.put_any(&mut write, &entity, Action::Create, None, &mut copied).await?.changed {
                carried.push(entity_ref(&entity));
                if entity.kind() == Kind::Persona {
                    self.carry_stage(&mut write, entity.name(), meta.scope).await?;
                }
            }
        }
        write.commit().await?;
        Ok((carried, copied))
    }
}

/// The entity of the same name in the scope of a write, which holds it until the commit. A file is
/// read anew, with edits by hand.
async fn in_place_of(write: &mut Write, entity: &AnyEntity) -> Result<Option<AnyEntity>> {
    Ok(write.find_any(entity.kind(), entity.name()).await?.map(|held| held.stored.entity))
}

/// The entities whose placeholders lose their values, because only files fill them in.
fn unfilled(cargo: &Cargo, to: Scope) -> Vec<EntityRef> {
    let loses = |stored: &&Stored<AnyEntity>| {
        stored.meta.scope.is_file() && !to.is_file() && has_placeholders(&stored.entity)
    };
    cargo.iter().filter(loses).map(|stored| entity_ref(&stored.entity)).collect()
}

/// Fails if two scopes define a name differently, since one place has room for one definition.
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

/// Drops the scope of a base that is carried along.
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

fn entity_ref(entity: &AnyEntity) -> EntityRef {
    EntityRef { kind: entity.kind(), name: entity.name().clone() }
}

fn has_placeholders(entity: &AnyEntity) -> bool {
    persona::env::placeholders(&entity.to_json().to_string()).next().is_some()
}

fn is(entity: &AnyEntity, kind: Kind, name: &Name) -> bool {
    entity.kind() == kind && entity.name() == name
}
