//! The references of an entity of a file, so that its revision freezes all of them.

use std::collections::{BTreeMap, BTreeSet};

use persona::catalog::resolve;
use persona::{AnyEntity, Kind, Name, Scope};

use super::{ScopeFile, Scopes};
use files::{Document, FileEntry};
use store::Ref;

/// Receives kind, scope and name of a found entity, and its entry if it is in a file.
type Visit<'a> = dyn FnMut(Kind, Scope, &Name, Option<&FileEntry>) + 'a;

/// Visits every entity that an entity of a file refers to, through the files. Passes on those in files
/// and, once each, those to look up in the shared scope.
pub(super) fn closure(
    scopes: &Scopes,
    file: &ScopeFile,
    document: &Document,
    entity: &AnyEntity,
    visit: &mut Visit<'_>,
) {
    let entry = |scope: Scope, kind: Kind, name: &Name| match scope == file.scope {
        true => document.entries.get(&kind).and_then(|entries| entries.get(name)).cloned(),
        false => scopes.file(scope).and_then(|file| file.current().find(kind, name)),
    };
    let mut seen: BTreeSet<(Kind, Scope, Name)> = BTreeSet::new();
    let mut pending = vec![(file.scope, entity.clone())];
    while let Some((from, entity)) = pending.pop() {
        for reference in entity.references() {
            // The database is asked for entities that no file has, so they count as found there.
            let meant = resolve(from, reference.scope, |scope| match scope.is_file() {
                true => entry(scope, reference.kind, &reference.name).map(Some),
                false => Some(None),
            });
            let Some((scope, entry)) = meant else { continue };
            if seen.insert((reference.kind, scope, reference.name.clone())) {
                visit(reference.kind, scope, &reference.name, entry.as_deref());
                pending.extend(entry.map(|entry| (scope, entry.entity.clone())));
            }
        }
    }
}

pub(super) fn refs(
    scopes: &Scopes,
    file: &ScopeFile,
    document: &Document,
    entity: &AnyEntity,
    shared: &BTreeMap<(Kind, Name), Vec<Ref>>,
) -> Vec<Ref> {
    let mut refs: Vec<Ref> = Vec::new();
    closure(scopes, file, document, entity, &mut |kind, scope, name, entry| match entry {
        Some(entry) => {
            refs.push(Ref {
                kind,
                name: name.clone(),
                scope,
                revision: None,
                hash: Some(entry.hash.clone()),
                guid: None,
                copy: None,
            });
        }
        None => refs.extend(shared.get(&(kind, name.clone())).into_iter().flatten().cloned()),
    });
    let key = |found: &Ref| (found.kind, found.name.clone(), found.scope);
    refs.sort_by_key(key);
    refs.dedup_by_key(|found| key(found));
    refs
}
