//! Targets and other definitions as one library, in which references are followed.

use std::cell::Cell;
use std::collections::HashMap;

use super::{LintTarget, OtherDefinitions, Outline};
use crate::catalog::{reaches, resolve};
use crate::{AnyEntity, BaseRef, Chain, ChainError, Kind, Name, Persona, Scope, nearest};

/// The most names that are compared for suggestions in one run. A large file full of errors gets
/// suggestions for the first ones.
const COMPARED_NAMES: usize = 100_000;

pub(super) struct Known<'a> {
    targets: HashMap<(Scope, Kind, &'a str), &'a AnyEntity>,
    others: &'a dyn OtherDefinitions,
    compared: Cell<usize>,
}

/// A chain of bases that cannot be followed.
pub(super) struct Broken {
    pub(super) error: ChainError,
    /// The persona at fault: its `extends` cannot be followed, or the circle comes back to it.
    pub(super) at: (Scope, Name),
    /// True if the base may exist and cannot be read.
    pub(super) is_unread: bool,
}

impl<'a> Known<'a> {
    pub(super) fn new(targets: &[LintTarget<'a>], others: &'a dyn OtherDefinitions) -> Self {
        let key = |it: &LintTarget<'a>| (it.scope, it.entity.kind(), it.entity.name().as_str());
        let targets = targets.iter().map(|target| (key(target), target.entity)).collect();
        Self { targets, others, compared: Cell::new(0) }
    }

    pub(super) fn get(&self, scope: Scope, kind: Kind, name: &Name) -> Option<Outline<'a>> {
        let target = self.targets.get(&(scope, kind, name.as_str())).copied().map(Outline::Whole);
        target.or_else(|| self.others.get(scope, kind, name))
    }

    /// The entity that a definition in `from` means by a name.
    pub(super) fn find(&self, from: Scope, kind: Kind, name: &Name) -> Option<(Scope, Outline<'a>)> {
        resolve(from, None, |scope| self.get(scope, kind, name))
    }

    pub(super) fn find_persona(&self, scopes: &[Scope], name: &Name) -> Option<(Scope, &'a Persona)> {
        let find = |scope: &Scope| Some((*scope, self.get(*scope, Kind::Persona, name)?.persona()?));
        scopes.iter().find_map(find)
    }

    pub(super) fn is_target(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.targets.contains_key(&(scope, kind, name.as_str())) || self.others.is_checked(scope, kind, name)
    }

    /// True if a definition that is not a target uses this one.
    pub(super) fn is_used_elsewhere(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.others.is_used(scope, kind, name)
    }

    /// True if one of these scopes may have an unreadable definition of this name.
    pub(super) fn is_unread(&self, scopes: impl IntoIterator<Item = Scope>, kind: Kind, name: &Name) -> bool {
        scopes.into_iter().any(|scope| self.others.is_unread(scope, kind, name))
    }

    /// The nearest names that a definition in `from` sees, best first.
    pub(super) fn near(&self, from: Scope, kind: Kind, name: &Name) -> Vec<String> {
        if self.compared.get() >= COMPARED_NAMES {
            return Vec::new();
        }
        let visible = self.targets.keys().filter(|(scope, known, _)| reaches(from, *scope) && *known == kind);
        let mut known: Vec<Name> = self.others.names(from, kind, name);
        known.sort();
        let all: Vec<&str> =
            visible.map(|(_, _, name)| *name).chain(known.iter().map(Name::as_str)).collect();
        self.compared.set(self.compared.get() + all.len());
        nearest(name.as_str(), all).into_iter().map(str::to_owned).collect()
    }

    /// The scopes that define this name.
    fn scopes_of(&self, kind: Kind, name: &Name) -> Vec<Scope> {
        Scope::ALL.iter().copied().filter(|scope| self.get(*scope, kind, name).is_some()).collect()
    }

    /// The base that the last persona of a chain, in `from`, may have meant by a missing one.
    fn meant_base(&self, from: Scope, chain: &Chain, name: &Name) -> Option<BaseRef> {
        let near = self.near(from, Kind::Persona, name);
        let near = near.iter().filter_map(|name| Name::parse(name).ok());
        near.into_iter().find_map(|name| chain.reference(&name, &self.scopes_of(Kind::Persona, &name)))
    }

    /// A persona and its bases, root last.
    pub(super) fn chain(
        &self,
        scope: Scope,
        persona: &'a Persona,
    ) -> Result<Vec<(Scope, &'a Persona)>, Broken> {
        let mut chain = Chain::start(scope, persona.name.clone());
        let mut personas = vec![(scope, persona)];
        let mut last = (scope, persona);
        while let Some(base) = &last.1.extends {
            let at = || (last.0, last.1.name.clone());
            let scopes = chain.scopes_of(base);
            let scopes = scopes.map_err(|error| Broken { error, at: at(), is_unread: false })?;
            let Some((scope, persona)) = self.find_persona(&scopes, &base.name) else {
                let meant = self.meant_base(last.0, &chain, &base.name);
                let is_unread = self.is_unread(scopes, Kind::Persona, &base.name);
                return Err(Broken { error: chain.missing(base, meant), at: at(), is_unread });
            };
            chain.push(scope, persona.name.clone()).map_err(|error| {
                let at = match &error {
                    ChainError::Cycle { back_to, .. } => (back_to.0, back_to.1.clone()),
                    // A chain that is too long is reported for its first persona.
                    _ => (personas[0].0, personas[0].1.name.clone()),
                };
                let namesakes = self.scopes_of(Kind::Persona, &base.name);
                Broken { error: error.or_namesake(&namesakes), at, is_unread: false }
            })?;
            last = (scope, persona);
            personas.push(last);
        }
        Ok(personas)
    }
}
