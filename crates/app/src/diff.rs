//! What is different between two definitions, field by field.

use std::collections::BTreeSet;

use persona::{AnyEntity, Kind, Name, Scope};
use serde_json::Value;
use store::RevisionRef;

use crate::arcs::sort_stages;
use crate::documents::toml_of;
use crate::links::sort_parts;
use crate::outputs::{DiffSide, FieldChange, RevisionDiff};
use crate::{Error, Library, Result};

/// A definition with its lists as they count: by `order`, then name. The database reads them back
/// like that; a file may have them in another order, and means the same.
pub(crate) fn in_order(entity: &AnyEntity) -> AnyEntity {
    let mut entity = entity.clone();
    match &mut entity {
        AnyEntity::Persona(persona) => sort_parts(persona),
        AnyEntity::Arc(arc) => sort_stages(arc),
        _ => {}
    }
    entity
}

/// Whether two definitions say the same.
pub(crate) fn same(one: &AnyEntity, other: &AnyEntity) -> bool {
    one == other || in_order(one) == in_order(other)
}

/// The fields of a definition; those that are empty are not set.
pub(crate) fn fields(entity: &AnyEntity) -> serde_json::Map<String, Value> {
    let Value::Object(mut fields) = in_order(entity).to_json() else { return serde_json::Map::new() };
    fields.remove("name");
    fields.retain(|field, value| {
        let default = match field.as_str() {
            "system_prompt_mode" | "parts_mode" => value == "replace",
            _ => false,
        };
        !default && *value != Value::Array(Vec::new()) && !value.is_null()
    });
    fields
}

/// The fields in which two definitions differ.
pub(crate) fn changes(from: &AnyEntity, to: &AnyEntity) -> Vec<FieldChange> {
    let (from, to) = (fields(from), fields(to));
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
    /// What changed between two revisions. Without any: the last change. With one: since then.
    pub async fn diff(
        &self,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
        from: Option<&RevisionRef>,
        to: Option<&RevisionRef>,
    ) -> Result<RevisionDiff> {
        let scope = self.recorded_scope(kind, name, scope).await?;
        let history = self.history(kind, name, Some(scope), Some(2)).await?;
        let newest = history.revisions.first().map_or(0, |revision| revision.revision);
        let from = match (from, history.revisions.get(1)) {
            (Some(from), _) => from.clone(),
            (None, Some(previous)) => RevisionRef::Number(previous.revision),
            (None, None) => {
                return Err(Error::Absent(format!(
                    "{} {:?} has one revision only; there is nothing to compare it with",
                    kind.spoken(),
                    name.as_str()
                )));
            }
        };
        let to = to.cloned().unwrap_or(RevisionRef::Number(newest));
        let (_, before) = self.revision(kind, name, Some(scope), &from).await?;
        let (_, after) = self.revision(kind, name, Some(scope), &to).await?;
        let side = |revision: &store::FullRevision| {
            Ok::<_, Error>(DiffSide {
                label: format!("{name} revision {}", revision.about.revision),
                revision: revision.about.revision,
                toml: toml_of(std::slice::from_ref(&revision.entity))?,
            })
        };
        Ok(RevisionDiff {
            kind,
            name: name.clone(),
            scope,
            from: side(&before)?,
            to: side(&after)?,
            fields: changes(&before.entity, &after.entity),
        })
    }
}
