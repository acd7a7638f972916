//! What an entity of a file refers to, so that its revision freezes all of it.

use std::collections::{BTreeMap, BTreeSet};

use persona::{AnyEntity, Kind, Name, Scope};

use super::{ScopeFile, Scopes};
use files::{Document, Entry};
use store::Ref;

/// Takes kind, scope and name of what was found, and the entry where it is in a file.
type Visit<'a> = dyn FnMut(Kind, Scope, &Name, Option<&Entry>) + 'a;

/// Goes over everything that an entity of a file refers to, through the files, and hands over what
/// it finds there and, once, what must be looked up in shared.
pub(super) fn closure(
    scopes: &Scopes,
    file: &ScopeFile,
    document: &Document,
    entity: &AnyEntity,
    visit: &mut Visit<'_>,
) {
    let mut seen: BTreeSet<(Kind, Scope, Name)> = BTreeSet::new();
    let mut pending = vec![(file.scope, entity.clone())];
    while let Some((from, entity)) = pending.pop() {
        for reference in entity.references() {
            let wanted: Vec<Scope> = match reference.scope {
                Some(scope) => vec![scope],
                None => from.downwards().collect(),
            };
            for scope in wanted {
                let entry = if scope == file.scope {
                    document
                        .entries
                        .get(&reference.kind)
                        .and_then(|entries| entries.get(&reference.name))
                        .cloned()
                } else {
                    scopes.file(scope).and_then(|file| file.current().find(reference.kind, &reference.name))
                };
                if scope.is_file() && entry.is_none() {
                    continue;
                }
                if seen.insert((reference.kind, scope, reference.name.clone())) {
                    visit(reference.kind, scope, &reference.name, entry.as_deref());
                    pending.extend(entry.map(|entry| (scope, entry.entity.clone())));
                }
                break;
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
