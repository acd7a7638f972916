//! Subjects and catalog as one library, in which references are followed.

use std::cell::Cell;
use std::collections::HashMap;

use super::{Catalog, Subject};
use crate::catalog::resolve;
use crate::{AnyEntity, BaseRef, Chain, ChainError, Kind, Name, Persona, Scope, nearest};

/// How many names are compared for suggestions in one run. A large file full of mistakes gets
/// suggestions for the first of them rather than a slow answer.
const COMPARED_NAMES: usize = 100_000;

pub(super) struct Known<'a> {
    subjects: HashMap<(Scope, Kind, &'a str), &'a AnyEntity>,
    catalog: &'a dyn Catalog,
    compared: Cell<usize>,
}

/// A chain of bases that cannot be followed.
pub(super) struct Broken {
    pub(super) error: ChainError,
    /// The persona that is at fault: the one whose `extends` cannot be followed, or that the
    /// circle comes back to.
    pub(super) at: (Scope, Name),
    /// Whether the base may be there and cannot be read.
    pub(super) is_unread: bool,
}

impl<'a> Known<'a> {
    pub(super) fn new(subjects: &[Subject<'a>], catalog: &'a dyn Catalog) -> Self {
        let key = |it: &Subject<'a>| (it.scope, it.entity.kind(), it.entity.name().as_str());
        let subjects = subjects.iter().map(|subject| (key(subject), subject.entity)).collect();
        Self { subjects, catalog, compared: Cell::new(0) }
    }

    pub(super) fn get(&self, scope: Scope, kind: Kind, name: &Name) -> Option<&'a AnyEntity> {
        let subject = self.subjects.get(&(scope, kind, name.as_str())).copied();
        subject.or_else(|| self.catalog.get(scope, kind, name))
    }

    /// What a definition in `from` means by a name.
    pub(super) fn find(&self, from: Scope, kind: Kind, name: &Name) -> Option<(Scope, &'a AnyEntity)> {
        resolve(from, None, |scope| self.get(scope, kind, name))
    }

    pub(super) fn find_persona(&self, scopes: &[Scope], name: &Name) -> Option<(Scope, &'a Persona)> {
        let find = |scope: &Scope| match self.get(*scope, Kind::Persona, name)? {
            AnyEntity::Persona(persona) => Some((*scope, persona)),
            _ => None,
        };
        scopes.iter().find_map(find)
    }

    pub(super) fn is_subject(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.subjects.contains_key(&(scope, kind, name.as_str()))
    }

    /// Whether something that is not among the subjects uses this.
    pub(super) fn is_used_elsewhere(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.catalog.is_used(scope, kind, name)
    }

    /// Whether one of these scopes may have what cannot be read.
    pub(super) fn is_unread(&self, scopes: impl IntoIterator<Item = Scope>, kind: Kind, name: &Name) -> bool {
        scopes.into_iter().any(|scope| self.catalog.is_unread(scope, kind, name))
    }

    /// The names most like one that a definition in `from` gives, best first.
    pub(super) fn near(&self, from: Scope, kind: Kind, name: &Name) -> Vec<String> {
        if self.compared.get() >= COMPARED_NAMES {
            return Vec::new();
        }
        let visible = self.subjects.keys().filter(|(scope, known, _)| *scope <= from && *known == kind);
        let mut known: Vec<Name> = self.catalog.names(from, kind, name);
        known.sort();
        let all: Vec<&str> =
            visible.map(|(_, _, name)| *name).chain(known.iter().map(Name::as_str)).collect();
        self.compared.set(self.compared.get() + all.len());
        nearest(name.as_str(), all).into_iter().map(str::to_owned).collect()
    }

    /// Every scope that has a definition of this name.
    fn scopes_of(&self, kind: Kind, name: &Name) -> Vec<Scope> {
        Scope::ALL.iter().copied().filter(|scope| self.get(*scope, kind, name).is_some()).collect()
    }

    /// What a persona in `from`, the last of a chain, may have meant by a base that is not there.
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
                    // However long the rest of it is, this one is at its end.
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
