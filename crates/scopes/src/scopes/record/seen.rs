//! Changes that were made to a file by hand, entry by entry.

use std::collections::BTreeMap;

use persona::{AnyEntity, Kind, Name, Rename, Scope};

use super::{Head, Recorded, ScopeFile, Scopes};
use crate::Result;
use files::{Document, FileEntry};
use store::Action;

/// An entry that is no longer there under its name.
struct Gone {
    entity: AnyEntity,
    hash: String,
    /// Its content with the renames applied that are known so far.
    followed: FileEntry,
}

/// Entries by kind and name, in a stable order.
type ByName<T> = BTreeMap<(Kind, Name), T>;

impl Scopes {
    pub(super) async fn seen_changes(
        &self,
        file: &ScopeFile,
        heads: Vec<Head>,
        document: &Document,
    ) -> Result<Vec<Recorded>> {
        let mut heads: ByName<Head> =
            heads.into_iter().map(|head| ((head.kind, head.name.clone()), head)).collect();
        let mut changes = Vec::new();
        let mut new: ByName<&FileEntry> = BTreeMap::new();
        for (kind, entries) in &document.entries {
            for (name, entry) in entries {
                let key = (*kind, name.clone());
                match heads.remove(&key) {
                    Some(head) if head.hash == entry.hash => {}
                    Some(_) => changes.push(recorded(Action::Update, entry, None)),
                    None => {
                        new.insert(key, entry);
                    }
                }
            }
        }
        let mut gone = self.gone(file, heads).await?;
        for (old, name) in renames(file.scope, &mut gone, &new) {
            if let Some(entry) = new.remove(&(old.0, name)) {
                changes.push(recorded(Action::Rename, entry, Some(old.1)));
            }
        }
        changes.extend(new.into_values().map(|entry| recorded(Action::Create, entry, None)));
        let deleted =
            |Gone { entity, hash, .. }| Recorded { action: Action::Delete, entity, hash, renamed_from: None };
        changes.extend(gone.into_values().map(deleted));
        Ok(changes)
    }

    /// Entries that are gone, as last recorded.
    async fn gone(&self, file: &ScopeFile, heads: ByName<Head>) -> Result<ByName<Gone>> {
        if heads.is_empty() {
            return Ok(BTreeMap::new());
        }
        let names: Vec<&(Kind, Name)> = heads.keys().collect();
        let last = self.recorded(file, Some(&names)).await?;
        let gone = heads.into_iter().filter_map(|((kind, name), head)| {
            let entity = last.entries.get(&kind)?.get(&name)?.entity.clone();
            let followed = FileEntry { hash: head.hash.clone(), ..FileEntry::new(entity.clone()) };
            Some(((kind, name), Gone { entity, hash: head.hash, followed }))
        });
        Ok(gone.collect())
    }
}

fn recorded(action: Action, entry: &FileEntry, renamed_from: Option<Name>) -> Recorded {
    Recorded { action, entity: entry.entity.clone(), hash: entry.hash.clone(), renamed_from }
}

/// Removes entries from `gone` that the file has under another name: their history continues. An entry is
/// recognized by its content. References to a renamed entry have the new name in their content, so one
/// rename reveals the next. No name is both old and new, so the order does not matter.
fn renames(scope: Scope, gone: &mut ByName<Gone>, new: &ByName<&FileEntry>) -> Vec<((Kind, Name), Name)> {
    let mut free: BTreeMap<(Kind, String), Vec<&Name>> = BTreeMap::new();
    for ((kind, name), entry) in new {
        free.entry((*kind, entry.hash.clone())).or_default().push(name);
    }
    let mut found = Vec::new();
    loop {
        let mut fresh: Vec<Rename> = Vec::new();
        for ((kind, old), entry) in gone.iter() {
            let same = free.get_mut(&(*kind, entry.followed.hash.clone()));
            if let Some(names) = same.filter(|names| !names.is_empty()) {
                fresh.push(Rename { kind: *kind, old: old.clone(), new: names.remove(0).clone(), scope });
            }
        }
        if fresh.is_empty() {
            return found;
        }
        for Rename { kind, old, new, .. } in &fresh {
            let key = (*kind, old.clone());
            gone.remove(&key);
            found.push((key, new.clone()));
        }
        for entry in gone.values_mut() {
            let mut entity = entry.followed.entity.clone();
            let mut followed = false;
            for rename in &fresh {
                followed |= entity.follow_rename(rename);
            }
            if followed {
                entry.followed = FileEntry::new(entity);
            }
        }
    }
}
