//! Exports entities, or a whole library, as one personas.toml.

use async_recursion::async_recursion as boxed;
use std::collections::{BTreeMap, BTreeSet};

use builtins::Builtins;
use persona::{AnyEntity, Kind, Name, Reference, Scope, Stored};

use super::{Cargo, one_of_each};
use crate::diff::{in_order, same};
use crate::documents::toml_of;
use crate::outputs::{EntityRef, Exported, ScopedEntityRef};
use crate::{Library, Result, ScopeError};

/// The scopes of a whole library, strongest first. Every library has the builtins.
const EXPORTED: [Scope; 3] = [Scope::Project, Scope::Global, Scope::Shared];

/// The definitions of an export, each with its scope.
type Bundle = BTreeMap<(Kind, Name), (Scope, AnyEntity)>;

impl Library {
    /// Entities with everything they refer to.
    #[boxed]
    pub async fn export(&self, names: &[(Kind, Name)], scope: Option<Scope>) -> Result<Exported> {
        let mut all: Cargo = Vec::new();
        for (kind, name) in names {
            let found = match scope {
                Some(scope) => scope,
                None => self.resolved(*kind, name).await?,
            };
            let carried = |reference: &Reference, _| !is_of_builtin(reference);
            all.extend(self.closure_along(*kind, name, found, carried).await?);
        }
        one_of_each(&all)?;
        let bundle: Bundle =
            all.into_iter().map(|Stored { entity, meta }| (key(&entity), (meta.scope, entity))).collect();
        let named = bundle.values().flat_map(|(_, entity)| entity.references());
        let named = named.filter(|reference| !is_of_builtin(reference));
        let named: BTreeSet<(Kind, Name)> = named.map(|reference| (reference.kind, reference.name)).collect();
        let missing = named.into_iter().filter(|named| !bundle.contains_key(named)).collect();
        exported(&bundle, missing, Vec::new())
    }

    /// Everything that a scope defines, or all of them do, with everything it refers to. Of a name that
    /// several scopes define, the strongest definition.
    #[boxed]
    pub async fn export_all(&self, scope: Option<Scope>) -> Result<Exported> {
        let (mut bundle, hidden) = self.strongest_definitions(scope).await?;
        let mut missing = BTreeSet::new();
        let mut pending: Vec<(Scope, Reference)> = bundle.values().flat_map(references).collect();
        while let Some((from, reference)) = pending.pop() {
            if is_of_builtin(&reference) {
                continue;
            }
            let named = (reference.kind, reference.name.clone());
            // Of a whole library, the bundle has the strongest definition of every name. Of one scope, another
            // one may define a name that is in the bundle, too.
            let is_meant = |found: Scope| {
                let is_strongest = found == from || scope.is_none() && found < from;
                is_strongest && reference.scope.is_none_or(|named| named == found)
            };
            if bundle.get(&named).is_some_and(|(found, _)| is_meant(*found)) {
                continue;
            }
            let Some(Stored { entity, meta }) = self.meant(&reference, from).await? else {
                if !bundle.contains_key(&named) {
                    missing.insert(named);
                }
                continue;
            };
            match bundle.get(&named) {
                Some((_, other)) if same(other, &entity) => {}
                Some((other, _)) => {
                    let scopes = (meta.scope.min(*other), meta.scope.max(*other));
                    let (kind, name) = named;
                    return Err(ScopeError::BothNeeded { kind, name, scopes }.into());
                }
                None => {
                    let found = (meta.scope, entity);
                    pending.extend(references(&found));
                    bundle.insert(named, found);
                }
            }
        }
        exported(&bundle, missing, hidden)
    }

    /// The strongest definitions, and those that they hide.
    async fn strongest_definitions(&self, scope: Option<Scope>) -> Result<(Bundle, Vec<ScopedEntityRef>)> {
        if let Some(scope) = scope {
            self.check_open(scope)?;
        }
        let (mut bundle, mut hidden) = (Bundle::new(), Vec::new());
        for scope in scope.map_or(EXPORTED.to_vec(), |scope| vec![scope]) {
            for entity in self.scopes.all(scope).await? {
                let (kind, name) = key(&entity);
                match bundle.get(&(kind, name.clone())) {
                    None => drop(bundle.insert((kind, name), (scope, entity))),
                    Some((_, stronger)) if same(stronger, &entity) => {}
                    Some(_) => hidden.push(ScopedEntityRef { scope, kind, name }),
                }
            }
        }
        Ok((bundle, hidden))
    }
}

fn references((scope, entity): &(Scope, AnyEntity)) -> Vec<(Scope, Reference)> {
    entity.references().into_iter().map(|reference| (*scope, reference)).collect()
}

fn key(entity: &AnyEntity) -> (Kind, Name) {
    (entity.kind(), entity.name().clone())
}

fn exported(
    bundle: &Bundle,
    missing: BTreeSet<(Kind, Name)>,
    hidden: Vec<ScopedEntityRef>,
) -> Result<Exported> {
    let entities: Vec<AnyEntity> = bundle.values().map(|(_, entity)| unscoped(in_order(entity))).collect();
    let missing = missing.into_iter().map(|(kind, name)| EntityRef { kind, name }).collect();
    Ok(Exported { toml: toml_of(&entities)?, missing, hidden })
}

/// True for a base that is written as `builtin:NAME`, and exists. It needs no copy: every library has the
/// builtins, and its author wants the builtin, whatever other scopes define.
fn is_of_builtin(reference: &Reference) -> bool {
    reference.scope == Some(Scope::Builtin) && Builtins::get().find(reference.kind, &reference.name).is_some()
}

/// Drops the scope of a base that is in the bundle: its name is enough. A builtin keeps it.
fn unscoped(mut entity: AnyEntity) -> AnyEntity {
    if let AnyEntity::Persona(persona) = &mut entity
        && let Some(base) = &mut persona.extends
        && base.scope != Some(Scope::Builtin)
    {
        base.scope = None;
    }
    entity
}
