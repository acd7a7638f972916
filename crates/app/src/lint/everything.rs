//! What the rules of lint are told of the library.

use std::collections::{BTreeMap, BTreeSet};

use persona::catalog::reach;
use persona::lint::{Catalog, Subject};
use persona::{AnyEntity, Kind, Name, Reference, Scope};

use super::unread::Unread;
use crate::{Library, Result};

/// Names that lead nowhere for which the database is asked what was meant; a file full of mistakes
/// gets suggestions for the first of them.
const ASKED_NAMES: usize = 50;

/// Everything that is known, by scope.
pub(super) struct Everything {
    entities: BTreeMap<(Scope, Kind, Name), AnyEntity>,
    /// The scopes that are looked at.
    wanted: Vec<Scope>,
    unread: Unread,
    /// What definitions that are not looked at mean by the names that they have.
    used: BTreeSet<(Scope, Kind, Name)>,
    /// What the database has that names which lead nowhere may have meant.
    near: BTreeMap<(Kind, Name), Vec<Name>>,
}

impl Catalog for Everything {
    fn get(&self, scope: Scope, kind: Kind, name: &Name) -> Option<&AnyEntity> {
        self.entities.get(&(scope, kind, name.clone()))
    }

    fn names(&self, scope: Scope, kind: Kind, wanted: &Name) -> Vec<Name> {
        let reachable = self.entities.keys().filter(|(of, known, _)| *of <= scope && *known == kind);
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
            // Shared may be huge; unless it is looked at itself, only what files refer to is read.
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

    /// What is looked at: what is in force because its text cannot be read is not.
    pub(super) fn subjects(&self) -> Vec<Subject<'_>> {
        let subjects = self.entities.iter().filter(|(key, _)| self.is_subject(key));
        subjects.map(|((scope, _, _), entity)| Subject { scope: *scope, entity }).collect()
    }

    fn is_subject(&self, (scope, kind, name): &(Scope, Kind, Name)) -> bool {
        self.wanted.contains(scope) && !self.unread.has(*scope, *kind, name)
    }

    fn extend(&mut self, scope: Scope, entities: Vec<AnyEntity>) {
        let keyed =
            entities.into_iter().map(|entity| ((scope, entity.kind(), entity.name().clone()), entity));
        self.entities.extend(keyed);
    }

    fn note_uses(&mut self) {
        let others = self.entities.iter().filter(|(key, _)| !self.is_subject(key));
        let meant = others.flat_map(|((from, _, _), entity)| {
            let references = entity.references().into_iter();
            references.filter_map(|reference| self.meant(*from, &reference))
        });
        self.used = meant.collect();
    }

    /// What a definition of a scope means by a reference.
    fn meant(&self, from: Scope, reference: &Reference) -> Option<(Scope, Kind, Name)> {
        let key = |scope| (scope, reference.kind, reference.name.clone());
        let mut scopes = reach(from, reference.scope);
        scopes.find(|scope| self.entities.contains_key(&key(*scope))).map(key)
    }

    /// Asks the database for names like those that lead nowhere, and for what has them and is of
    /// another kind.
    async fn ask_near(&mut self, library: &Library) -> Result<()> {
        let mut nowhere: BTreeSet<(Kind, Name)> = BTreeSet::new();
        for (key, entity) in self.entities.iter().filter(|(key, _)| self.is_subject(key)) {
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
            // Of a base that was meant it counts where it is.
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

/// What definitions refer to in shared, directly or not.
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
