//! Which scopes have what a persona names: looked up by whoever can, and handed in.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::reach;
use crate::{Bundle, Kind, Name, Scope};

/// Which scopes have what the layers of a persona name. A bundle has the parts, traits, skills and
/// guardrails that its layers mean; of presets, arcs and test inputs it has the names alone, and of
/// nothing does it know what another scope calls so.
#[derive(Debug, Clone, Default)]
pub struct Holders(BTreeMap<Kind, BTreeMap<Name, Vec<Scope>>>);

/// Everything that the layers of a persona name, besides their bases.
pub fn named(bundle: &Bundle) -> BTreeSet<(Kind, Name)> {
    let personas = bundle.bases.iter().map(|base| &base.persona).chain([&bundle.persona]);
    let references = personas.flat_map(super::super::entity::Entity::references);
    let pieces = references.filter(|reference| reference.kind != Kind::Persona);
    pieces.map(|reference| (reference.kind, reference.name)).collect()
}

impl Holders {
    /// Says which scopes have something.
    pub fn insert(&mut self, kind: Kind, name: Name, scopes: Vec<Scope>) {
        self.0.entry(kind).or_default().insert(name, scopes);
    }

    /// Where that is what a definition in `from` means by a name.
    pub(super) fn meant(&self, kind: Kind, name: &str, from: Scope) -> Option<Scope> {
        let scopes = self.0.get(&kind)?.get(name)?;
        reach(from, None).find(|scope| scopes.contains(scope))
    }
}
