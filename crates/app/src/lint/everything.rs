//! The definitions that the rules of lint see.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use persona::catalog::{reach, reaches};
use persona::lint::{LintTarget, OtherDefinitions, Outline, PieceOutline};
use persona::{AnyEntity, Kind, Name, Reference, Scope};

use super::unread::Unread;
use crate::{Library, Result};

/// The most unknown names that are looked up in the database for suggestions. A file full of errors
/// gets suggestions for the first ones.
const ASKED_NAMES: usize = 50;

/// Shared personas that are kept as bases of others. More are read again when they are needed.
const KEPT_BASES: usize = 500;

/// All known definitions, by scope. Shared ones are known without their texts, apart from those that files
/// refer to.
pub(super) struct Everything {
    entities: BTreeMap<(Scope, Kind, Name), AnyEntity>,
    /// The shared pieces that were read so far.
    pieces: HashMap<(Kind, Name), Piece>,
    /// Shared personas that those being checked extend.
    bases: HashMap<Name, AnyEntity>,
    /// The scopes to check.
    wanted: Vec<Scope>,
    unread: Unread,
    /// The readable fields of unreadable entries.
    readable: Vec<(Scope, AnyEntity)>,
    /// Definitions that unchecked definitions use.
    used: BTreeSet<(Scope, Kind, Name)>,
    /// Names in the database that are near unknown names.
    near: BTreeMap<(Kind, Name), Vec<Name>>,
}

/// A shared piece.
struct Piece {
    outline: PieceOutline,
    is_used: bool,
}

impl OtherDefinitions for Everything {
    fn get(&self, scope: Scope, kind: Kind, name: &Name) -> Option<Outline<'_>> {
        let key = (scope, kind, name.clone());
        let whole = self.entities.get(&key);
        if scope != Scope::Shared || whole.is_some() {
            return whole.map(Outline::Whole);
        }
        match kind {
            Kind::Persona => self.bases.get(name).map(Outline::Whole),
            _ => self.pieces.get(&(kind, key.2)).map(|piece| Outline::Piece(piece.outline)),
        }
    }

    fn is_checked(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.is_target(&(scope, kind, name.clone()))
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
        let mut everything = Self {
            entities: BTreeMap::new(),
            pieces: HashMap::new(),
            bases: HashMap::new(),
            wanted,
            unread,
            readable: Vec::new(),
            used: BTreeSet::new(),
            near: BTreeMap::new(),
        };
        // Shared may be huge: the references of files are read here, the rest in pages.
        for scope in Scope::ALL.iter().filter(|scope| **scope != Scope::Shared) {
            everything.extend(*scope, library.scopes.all(*scope).await?);
        }
        for scope in everything.wanted.iter().filter(|scope| !everything.unread.has_file(**scope)) {
            let readable = library.scopes.readable_of_broken(*scope).into_iter();
            everything.readable.extend(readable.map(|entity| (*scope, entity)));
        }
        let files = everything.entities.iter().filter(|((scope, _, _), _)| scope.is_file());
        let files =
            files.map(|(_, entity)| entity).chain(everything.readable.iter().map(|(_, entity)| entity));
        let known = shared_behind(library, files).await?;
        everything.extend(Scope::Shared, known);
        let targets = [everything.targets(), everything.readable_targets()].concat();
        let missing = everything.missing(&targets);
        everything.ask_near(library, missing).await?;
        everything.note_uses();
        Ok(everything)
    }

    pub(super) fn wants_shared(&self) -> bool {
        self.wanted.contains(&Scope::Shared)
    }

    /// The definitions to check, apart from shared ones. A definition whose text cannot be read is not
    /// checked.
    pub(super) fn targets(&self) -> Vec<LintTarget<'_>> {
        let targets = self.entities.iter().filter(|(key, _)| key.0 != Scope::Shared && self.is_target(key));
        targets.map(|((scope, _, _), entity)| LintTarget { scope: *scope, entity }).collect()
    }

    /// Entries with mistakes, of which the references are checked.
    pub(super) fn readable_targets(&self) -> Vec<LintTarget<'_>> {
        self.readable.iter().map(|(scope, entity)| LintTarget { scope: *scope, entity }).collect()
    }

    /// Gets to know a page of shared definitions, and what they refer to.
    pub(super) async fn turn_to(&mut self, library: &Library, page: &[AnyEntity]) -> Result<()> {
        for entity in page.iter().filter(|entity| entity.kind() != Kind::Persona) {
            let piece = Piece { outline: PieceOutline::of(entity), is_used: false };
            self.pieces.insert((entity.kind(), entity.name().clone()), piece);
        }
        if self.bases.len() > KEPT_BASES {
            self.bases.clear();
        }
        let mut pending: Vec<Reference> = bases_of(page).collect();
        while let Some(Reference { kind, name, .. }) = pending.pop() {
            let is_known = self.get(Scope::Shared, kind, &name).is_some();
            if !is_known && let Some(found) = library.scopes.get_any(kind, &name, Some(Scope::Shared)).await?
            {
                pending.extend(bases_of(std::slice::from_ref(&found.entity)));
                self.bases.insert(name, found.entity);
            }
        }
        let targets: Vec<LintTarget<'_>> = page.iter().map(shared_target).collect();
        let missing = self.missing(&targets);
        self.ask_near(library, missing).await
    }

    /// Notes that targets use shared pieces.
    pub(super) fn mark_used<'k>(&mut self, used: impl IntoIterator<Item = &'k (Scope, Kind, Name)>) {
        for (scope, kind, name) in used {
            if *scope == Scope::Shared
                && let Some(piece) = self.pieces.get_mut(&(*kind, name.clone()))
            {
                piece.is_used = true;
            }
        }
    }

    /// The shared pieces that no target uses, by kind and name.
    pub(super) fn spare_pieces(&self) -> Vec<(Kind, &Name)> {
        let spare = self.pieces.iter().filter(|(_, piece)| !piece.is_used);
        let mut spare: Vec<(Kind, &Name)> = spare.map(|((kind, name), _)| (*kind, name)).collect();
        spare.sort_unstable();
        spare
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

    /// The names that targets refer to and that lead nowhere.
    fn missing(&self, targets: &[LintTarget<'_>]) -> BTreeSet<(Kind, Name)> {
        let mut nowhere = BTreeSet::new();
        for LintTarget { scope, entity } in targets {
            let missing = entity.references().into_iter().filter(|it| self.meant(*scope, it).is_none());
            nowhere.extend(missing.map(|it| (it.kind, it.name)));
        }
        nowhere
    }

    /// The definition that a reference means, seen from a scope.
    fn meant(&self, from: Scope, reference: &Reference) -> Option<(Scope, Kind, Name)> {
        let key = |scope| (scope, reference.kind, reference.name.clone());
        let mut scopes = reach(from, reference.scope);
        scopes.find(|scope| self.get(*scope, reference.kind, &reference.name).is_some()).map(key)
    }

    /// Asks the database for names near the unknown ones, and for entities of other kinds with those
    /// names.
    async fn ask_near(&mut self, library: &Library, missing: BTreeSet<(Kind, Name)>) -> Result<()> {
        let room = ASKED_NAMES.saturating_sub(self.near.len());
        let nowhere = missing.into_iter().filter(|key| !self.near.contains_key(key));
        let nowhere: Vec<(Kind, Name)> = nowhere.take(room).collect();
        if nowhere.is_empty() {
            return Ok(());
        }
        let names: Vec<&Name> = nowhere.iter().map(|(_, name)| name).collect();
        for kind in Kind::ALL {
            let mut there = library.scopes.database().shared_among(*kind, &names).await?;
            there.retain(|name| self.get(Scope::Shared, *kind, name).is_none());
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

pub(super) fn shared_target(entity: &AnyEntity) -> LintTarget<'_> {
    LintTarget { scope: Scope::Shared, entity }
}

/// The personas that others extend.
fn bases_of(entities: &[AnyEntity]) -> impl Iterator<Item = Reference> {
    let references = entities.iter().flat_map(AnyEntity::references);
    references.filter(|reference| reference.kind == Kind::Persona)
}

/// The definitions that one names: its references, and the pieces that a test input is about.
fn named_by(entity: &AnyEntity) -> Vec<(Kind, Name)> {
    let mut named: Vec<(Kind, Name)> = entity.references().into_iter().map(|it| (it.kind, it.name)).collect();
    if let AnyEntity::TestInput(input) = entity {
        named.extend(input.tested_pieces());
    }
    named
}

/// The shared definitions that files refer to, directly or not.
async fn shared_behind(
    library: &Library,
    files: impl Iterator<Item = &AnyEntity> + Send,
) -> Result<Vec<AnyEntity>> {
    let mut known = Vec::new();
    let mut asked: BTreeSet<(Kind, Name)> = BTreeSet::new();
    let mut pending: Vec<(Kind, Name)> = files.flat_map(named_by).collect();
    while let Some((kind, name)) = pending.pop() {
        if asked.insert((kind, name.clone()))
            && let Some(found) = library.scopes.get_any(kind, &name, Some(Scope::Shared)).await?
        {
            pending.extend(named_by(&found.entity));
            known.push(found.entity);
        }
    }
    Ok(known)
}
