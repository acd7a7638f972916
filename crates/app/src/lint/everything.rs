//! The definitions that the rules of lint see.

use std::collections::{BTreeMap, BTreeSet};

use persona::catalog::{reach, reaches};
use persona::lint::{LintTarget, OtherDefinitions};
use persona::{AnyEntity, Kind, Name, Reference, Scope};

use super::unread::Unread;
use crate::{Library, Result};

/// The most unknown names that are looked up in the database for suggestions. A file full of errors
/// gets suggestions for the first ones.
const ASKED_NAMES: usize = 50;

/// All known definitions, by scope.
pub(super) struct Everything {
    entities: BTreeMap<(Scope, Kind, Name), AnyEntity>,
    /// The scopes to check.
    wanted: Vec<Scope>,
    unread: Unread,
    /// Definitions that unchecked definitions use.
    used: BTreeSet<(Scope, Kind, Name)>,
    /// Names in the database that are near unknown names.
    near: BTreeMap<(Kind, Name), Vec<Name>>,
}

impl OtherDefinitions for Everything {
    fn get(&self, scope: Scope, kind: Kind, name: &Name) -> Option<&AnyEntity> {
        self.entities.get(&(scope, kind, name.clone()))
    }

    fn names(&self, scope: Scope, kind: Kind, wanted: &Name) -> Vec<Name> {
        let reachable = self.entities.keys().filter(|(of, known, _)| reaches(scope, *of) && *known == kind);
        let near = self.near.get(&(kind, wanted.clone())).into_iter().flatten();
        let near = near.filter(|_| scope >= Scope::Shared);
        reachable.map(|(_, _, name)| name).chain(near).cloned().collect()
    }

    fn is_used(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.unread.may_use(scope) || self.used.contains(&(scope, kind, name.clone()))
    }

    fn is_unread(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.unread.has(scope, kind, name)
    }
}

impl Everything {
    pub(super) async fn read(library: &Library, wanted: Vec<Scope>, unread: Unread) -> Result<Self> {
        let (entities, used, near) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        let mut everything = Self { entities, wanted, unread, used, near };
        let has_shared = everything.wanted.contains(&Scope::Shared);
        for scope in Scope::ALL {
            // Shared may be huge. Unless it is checked itself, only the references of files are read.
            if *scope != Scope::Shared || has_shared {
                everything.extend(*scope, library.scopes.all(*scope).await?);
            }
        }
        if !has_shared {
            let files = everything.entities.iter().filter(|((scope, _, _), _)| scope.is_file());
            let known = shared_behind(library, files.map(|(_, entity)| entity)).await?;
            everything.extend(Scope::Shared, known);
            everything.ask_near(library).await?;
        }
        everything.note_uses();
        Ok(everything)
    }

    /// The definitions to check. A definition whose text cannot be read is not checked.
    pub(super) fn targets(&self) -> Vec<LintTarget<'_>> {
        let targets = self.entities.iter().filter(|(key, _)| self.is_target(key));
        targets.map(|((scope, _, _), entity)| LintTarget { scope: *scope, entity }).collect()
    }

    fn is_target(&self, (scope, kind, name): &(Scope, Kind, Name)) -> bool {
        self.wanted.contains(scope) && !self.unread.has(*scope, *kind, name)
    }

    fn extend(&mut self, scope: Scope, entities: Vec<AnyEntity>) {
        let keyed =
            entities.into_iter().map(|entity| ((scope, entity.kind(), entity.name().clone()), entity));
        self.entities.extend(keyed);
    }

    fn note_uses(&mut self) {
        let others = self.entities.iter().filter(|(key, _)| !self.is_target(key));
        let meant = others.flat_map(|((from, _, _), entity)| {
            let references = entity.references().into_iter();
            references.filter_map(|reference| self.meant(*from, &reference))
        });
        self.used = meant.collect();
    }

    /// The definition that a reference means, seen from a scope.
    fn meant(&self, from: Scope, reference: &Reference) -> Option<(Scope, Kind, Name)> {
        let key = |scope| (scope, reference.kind, reference.name.clone());
        let mut scopes = reach(from, reference.scope);
        scopes.find(|scope| self.entities.contains_key(&key(*scope))).map(key)
    }

    /// Asks the database for names near the unknown ones, and for entities of other kinds with those
    /// names.
    async fn ask_near(&mut self, library: &Library) -> Result<()> {
        let mut nowhere: BTreeSet<(Kind, Name)> = BTreeSet::new();
        for (key, entity) in self.entities.iter().filter(|(key, _)| self.is_target(key)) {
            let missing = entity.references().into_iter().filter(|it| self.meant(key.0, it).is_none());
            nowhere.extend(missing.map(|reference| (reference.kind, reference.name)));
        }
        let nowhere: Vec<(Kind, Name)> = nowhere.into_iter().take(ASKED_NAMES).collect();
        let names: Vec<&Name> = nowhere.iter().map(|(_, name)| name).collect();
        for kind in Kind::ALL {
            let mut there = library.scopes.database().shared_among(*kind, &names).await?;
            there.retain(|name| !self.entities.contains_key(&(Scope::Shared, *kind, name.clone())));
            for name in there {
                self.know(library, *kind, &name).await?;
            }
        }
        for (kind, name) in nowhere {
            let near = library.scopes.database().near_names(kind, name.as_str()).await?;
            let near: Vec<Name> = near.iter().filter_map(|near| Name::parse(near).ok()).collect();
            // For a base, the scope of the suggestion counts.
            if kind == Kind::Persona {
                for name in &near {
                    self.know(library, kind, name).await?;
                }
            }
            self.near.insert((kind, name), near);
        }
        Ok(())
    }

    async fn know(&mut self, library: &Library, kind: Kind, name: &Name) -> Result<()> {
        let found = library.scopes.get_any(kind, name, Some(Scope::Shared)).await?;
        self.extend(Scope::Shared, found.map(|found| found.entity).into_iter().collect());
        Ok(())
    }
}

/// The shared definitions that files refer to, directly or not.
async fn shared_behind(
    library: &Library,
    files: impl Iterator<Item = &AnyEntity> + Send,
) -> Result<Vec<AnyEntity>> {
    let mut known = Vec::new();
    let mut asked: BTreeSet<(Kind, Name)> = BTreeSet::new();
    let mut pending: Vec<Reference> = files.flat_map(AnyEntity::references).collect();
    while let Some(Reference { kind, name, .. }) = pending.pop() {
        if asked.insert((kind, name.clone()))
            && let Some(found) = library.scopes.get_any(kind, &name, Some(Scope::Shared)).await?
        {
            pending.extend(found.entity.references());
            known.push(found.entity);
        }
    }
    Ok(known)
}
