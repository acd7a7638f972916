//! Only the user grants: a program that writes the user's own file cannot widen what it approves.
//!
//! The whole file is compared before and after a write. A deletion, a new name or another base grants as
//! much as a new entry: a persona may then mean another preset by the same name.

use std::collections::{BTreeMap, BTreeSet};

use builtins::Builtins;
use files::Document;
use persona::catalog::Catalog;
use persona::{AnyEntity, Approvals, Kind, Name, Scope, ToolPreset};

use super::FileWrite;
use crate::{Error, Result};

/// The front by which the user writes. The others serve programs.
const USERS_FRONT: &str = "cli";

/// The kinds that decide which tools run unasked.
const DECIDING: [Kind; 3] = [Kind::Persona, Kind::ToolPreset, Kind::Guardrail];

/// The definitions that the user's own file sees.
struct Visible<'a> {
    own: &'a Document,
    shared: &'a BTreeMap<(Kind, Name), AnyEntity>,
}

impl Catalog for Visible<'_> {
    fn find(&self, scope: Scope, kind: Kind, name: &Name) -> Option<AnyEntity> {
        match scope {
            Scope::Builtin => Builtins::get().find(kind, name),
            Scope::Shared => self.shared.get(&(kind, name.clone())).cloned(),
            Scope::Global => entry(self.own, kind, name),
            Scope::Project => None,
        }
    }
}

impl FileWrite {
    /// Fails if a program lets the user's own file approve more than before.
    pub(super) async fn check_grants(&self) -> Result<()> {
        let decides = self.changed.keys().any(|(kind, _)| DECIDING.contains(kind));
        if self.scope() != Scope::Global || self.attribution.front == USERS_FRONT || !decides {
            return Ok(());
        }
        let (before, after) = (&self.snapshot.document, self.after());
        for name in names(&after, Kind::ToolPreset) {
            let known = preset(entry(before, Kind::ToolPreset, name))
                .or_else(|| preset(Builtins::get().find(Kind::ToolPreset, name)));
            let new = preset(entry(&after, Kind::ToolPreset, name));
            if new.is_some_and(|new| !new.approves_within(known.as_ref())) {
                return Err(self.needs_user(Kind::ToolPreset, name));
            }
        }
        let shared = self.shared_below([before, &after]).await?;
        let (then, now) =
            (Visible { own: before, shared: &shared }, Visible { own: &after, shared: &shared });
        for name in names(&after, Kind::Persona) {
            let [before, after] = [&then, &now].map(|visible| Approvals::of(visible, Scope::Global, name));
            if !after.are_within(&before) {
                return Err(self.needs_user(Kind::Persona, name));
            }
        }
        Ok(())
    }

    fn needs_user(&self, kind: Kind, name: &Name) -> Error {
        Error::NeedsUser { kind, name: name.clone(), path: self.file.path.display().to_string() }
    }

    /// The shared definitions that the personas of these documents mean, or whose place they take.
    async fn shared_below(&self, documents: [&Document; 2]) -> Result<BTreeMap<(Kind, Name), AnyEntity>> {
        let mut wanted: BTreeSet<(Kind, Name)> = BTreeSet::new();
        for document in documents {
            for (name, entry) in document.entries.get(&Kind::Persona).into_iter().flatten() {
                wanted.insert((Kind::Persona, name.clone()));
                wanted.extend(referred(&entry.entity));
            }
        }
        let (mut seen, mut shared) = (BTreeSet::new(), BTreeMap::new());
        while !wanted.is_empty() {
            let found = self.scopes.below(Scope::Global, &wanted).await?;
            seen.append(&mut wanted);
            for (key, (scope, entity)) in found {
                if scope == Scope::Shared {
                    wanted.extend(referred(&entity).filter(|key| !seen.contains(key)));
                    shared.insert(key, entity);
                }
            }
        }
        Ok(shared)
    }
}

fn entry(document: &Document, kind: Kind, name: &Name) -> Option<AnyEntity> {
    document.entries.get(&kind)?.get(name).map(|entry| entry.entity.clone())
}

fn names(document: &Document, kind: Kind) -> impl Iterator<Item = &Name> {
    document.entries.get(&kind).into_iter().flat_map(BTreeMap::keys)
}

fn preset(entity: Option<AnyEntity>) -> Option<ToolPreset> {
    entity?.try_into().ok()
}

/// The bases, presets and guardrails that an entity names.
fn referred(entity: &AnyEntity) -> impl Iterator<Item = (Kind, Name)> {
    let references = entity.references().into_iter().map(|reference| (reference.kind, reference.name));
    references.filter(|(kind, _)| DECIDING.contains(kind))
}
