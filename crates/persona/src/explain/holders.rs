//! The scopes that have the entities a persona names. The caller looks them up.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::reach;
use crate::{Bundle, Kind, Name, Scope};

/// The scopes that have the entities which the layers of a persona name. A bundle contains the parts,
/// traits, skills and guardrails of its layers, but only the names of presets, arcs and test inputs,
/// and no namesakes in other scopes.
#[derive(Debug, Clone, Default)]
pub struct Holders(BTreeMap<Kind, BTreeMap<Name, Vec<Scope>>>);

/// Everything the layers of a persona name, except bases.
pub fn named(bundle: &Bundle) -> BTreeSet<(Kind, Name)> {
    let personas = bundle.bases.iter().map(|base| &base.persona).chain([&bundle.persona]);
    let references = personas.flat_map(super::super::entity::Entity::references);
    let pieces = references.filter(|reference| reference.kind != Kind::Persona);
    pieces.map(|reference| (reference.kind, reference.name)).collect()
}

impl Holders {
    /// Sets the scopes of an entity.
    pub fn insert(&mut self, kind: Kind, name: Name, scopes: Vec<Scope>) {
        self.0.entry(kind).or_default().insert(name, scopes);
    }

    /// The scope of the entity that a definition in `from` means by a name.
    pub(super) fn meant(&self, kind: Kind, name: &str, from: Scope) -> Option<Scope> {
        let scopes = self.0.get(&kind)?.get(name)?;
        reach(from, None).find(|scope| scopes.contains(scope))
    }
}
