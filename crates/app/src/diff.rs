//! Differences between definitions, field by field.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeSet;

use persona::{AnyEntity, Kind, Name, Scope};
use serde_json::{Map, Value};
use store::{Action, FullRevision, RevisionRef};

use crate::arcs::sort_stages;
use crate::documents::toml_of;
use crate::links::sort_parts;
use crate::outputs::{DiffSide, FieldChange, RevisionDiff};
use crate::{HistoryError, Library, Result};

/// A definition with its lists sorted by `order`, then name, as the database returns them. A file may
/// list them in another order.
pub(crate) fn in_order(entity: &AnyEntity) -> AnyEntity {
    let mut entity = entity.clone();
    match &mut entity {
        AnyEntity::Persona(persona) => sort_parts(persona),
        AnyEntity::Arc(arc) => sort_stages(arc),
        _ => {}
    }
    entity
}

/// True if two definitions are equal, apart from the order in a file.
pub(crate) fn same(one: &AnyEntity, other: &AnyEntity) -> bool {
    one == other || in_order(one) == in_order(other)
}

/// The fields of a definition that are set.
pub(crate) fn fields(entity: &AnyEntity) -> Map<String, Value> {
    let Value::Object(mut fields) = in_order(entity).to_json() else { return Map::new() };
    fields.remove("name");
    let kind = entity.kind();
    fields.retain(|field, value| {
        let described = kind.fields().iter().find(|known| known.name == field);
        let is_unset = described.is_some_and(|known| *value == known.unset_json());
        !is_unset && !value.is_null()
    });
    fields
}

/// The fields in which two definitions differ.
pub(crate) fn changes(from: &AnyEntity, to: &AnyEntity) -> Vec<FieldChange> {
    differing(&fields(from), &fields(to))
}

fn differing(from: &Map<String, Value>, to: &Map<String, Value>) -> Vec<FieldChange> {
    let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
    let differing = names.into_iter().filter(|field| from.get(*field) != to.get(*field));
    differing
        .map(|field| FieldChange {
            field: field.clone(),
            from: from.get(field).cloned(),
            to: to.get(field).cloned(),
        })
        .collect()
}

impl Library {
    /// The changes between two revisions: without any, the last change; with one, all changes since.
    #[boxed]
    pub async fn diff(
        &self,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
        from: Option<&RevisionRef>,
        to: Option<&RevisionRef>,
    ) -> Result<RevisionDiff> {
        let scope = self.recorded_scope(kind, name, scope).await?;
        let history = self.scopes.history(scope, kind, name, 2).await?;
        let Some(newest) = history.first() else {
            return Err(self.missing_in(kind, name, Some(scope)).await);
        };
        let from = match (from, history.get(1)) {
            (Some(from), _) => from.clone(),
            (None, Some(previous)) => previous.reference(),
            (None, None) => {
                return Err(HistoryError::Single { kind, name: name.clone() }.into());
            }
        };
        let to = to.cloned().unwrap_or_else(|| newest.reference());
        let (_, before) = self.revision(kind, name, Some(scope), &from).await?;
        let (_, after) = self.revision(kind, name, Some(scope), &to).await?;
        // A deletion records the deleted definition, but leaves nothing.
        let left = |revision: &FullRevision| {
            if is_deletion(revision) { Map::new() } else { fields(&revision.entity) }
        };
        Ok(RevisionDiff {
            kind,
            name: name.clone(),
            scope,
            from: side(name, &before)?,
            to: side(name, &after)?,
            fields: differing(&left(&before), &left(&after)),
            note: deletions(kind, name, &before, &after),
        })
    }
}

fn side(name: &Name, revision: &FullRevision) -> Result<DiffSide> {
    let FullRevision { about, entity, .. } = revision;
    let (after, toml) = match is_deletion(revision) {
        true => (" (deleted)", String::new()),
        false => ("", toml_of(std::slice::from_ref(entity))?),
    };
    Ok(DiffSide {
        label: format!("{name} revision {}{after}", about.reference()),
        revision: about.revision,
        toml,
    })
}

fn is_deletion(revision: &FullRevision) -> bool {
    revision.about.action == Action::Delete.as_str()
}

/// A note that names the deletions among two revisions.
fn deletions(kind: Kind, name: &Name, before: &FullRevision, after: &FullRevision) -> Option<String> {
    let of = |revision: &FullRevision| {
        is_deletion(revision).then(|| format!("in revision {}", revision.about.reference()))
    };
    let mut revisions: Vec<String> = of(before).into_iter().chain(of(after)).collect();
    revisions.dedup();
    let note = format!("{} {name} was deleted {}", kind.spoken(), revisions.join(" and "));
    (!revisions.is_empty()).then_some(note)
}
