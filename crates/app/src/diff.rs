//! Differences between definitions, field by field.

use async_recursion::async_recursion as boxed;
use std::collections::{BTreeMap, BTreeSet};

use persona::{AnyEntity, AssemblyRequest, Kind, Name, Scope, View};
use scopes::PieceKey;
use serde_json::{Map, Value};
use store::{Action, FullRevision, RevisionRef};

use crate::arcs::sort_stages;
use crate::documents::toml_of;
use crate::links::sort_parts;
use crate::outputs::{DiffSide, FieldChange, PieceDiff, PromptDiff, RevisionDiff};
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

/// The same for a definition that is new, or that goes.
pub(crate) fn changes_between(from: Option<&AnyEntity>, to: Option<&AnyEntity>) -> Vec<FieldChange> {
    let side = |entity: Option<&AnyEntity>| entity.map(fields).unwrap_or_default();
    differing(&side(from), &side(to))
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
    /// The changes between two revisions and their pieces: without any, the last change; with one, all
    /// changes since.
    #[boxed]
    pub async fn diff(
        &self,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
        from: Option<&RevisionRef>,
        to: Option<&RevisionRef>,
    ) -> Result<RevisionDiff> {
        let Compared { scope, before, after, until_now } = self.compared(kind, name, scope, from, to).await?;
        // A deletion records the deleted definition, but leaves nothing.
        let left = |revision: &FullRevision| {
            if is_deletion(revision) { Map::new() } else { fields(&revision.entity) }
        };
        Ok(RevisionDiff {
            kind,
            name: name.clone(),
            scope,
            from: side(name, &before)?,
            to: match until_now && before.about.reference() == after.about.reference() {
                // Only pieces can differ.
                true => DiffSide { label: format!("{name} now"), ..side(name, &after)? },
                false => side(name, &after)?,
            },
            fields: differing(&left(&before), &left(&after)),
            pieces: self.piece_diffs(scope, &before, &after, until_now).await?,
            compiled: None,
            note: deletions(kind, name, &before, &after),
        })
    }

    /// The compiled prompts of two revisions of a persona, chosen as in [`Library::diff`]. Fails for other
    /// kinds.
    #[boxed]
    pub async fn diff_prompts(
        &self,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
        from: Option<&RevisionRef>,
        to: Option<&RevisionRef>,
    ) -> Result<PromptDiff> {
        if kind != Kind::Persona {
            return Err(HistoryError::NoPrompt { kind, name: name.clone() }.into());
        }
        let compared = self.compared(kind, name, scope, from, to).await?;
        let Compared { scope, before, after, until_now } = compared;
        let to = match until_now && !is_deletion(&after) {
            true => {
                let now = self.load(name, Some(scope), &AssemblyRequest::default()).await?;
                persona::compile_view(&now.bundle.assembled(), View::Detail)
            }
            false => self.prompt_then(scope, &after).await?,
        };
        Ok(PromptDiff { from: self.prompt_then(scope, &before).await?, to })
    }

    /// The compiled prompt of a revision. Empty for a deletion.
    async fn prompt_then(&self, scope: Scope, revision: &FullRevision) -> Result<String> {
        if is_deletion(revision) {
            return Ok(String::new());
        }
        let bundle = self.scopes.frozen(scope, revision).await?;
        Ok(bundle.map(|bundle| persona::compile_view(&bundle.assembled(), View::Detail)).unwrap_or_default())
    }

    /// The two revisions to compare.
    async fn compared(
        &self,
        kind: Kind,
        name: &Name,
        scope: Option<Scope>,
        from: Option<&RevisionRef>,
        to: Option<&RevisionRef>,
    ) -> Result<Compared> {
        let scope = self.recorded_scope(kind, name, scope).await?;
        let history = self.scopes.history(scope, kind, name, 2).await?;
        let Some(newest) = history.first() else {
            return Err(self.missing_in(kind, name, Some(scope)).await);
        };
        let until_now = from.is_some() && to.is_none();
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
        Ok(Compared { scope, before, after, until_now })
    }

    /// The pieces that differ between two revisions.
    async fn piece_diffs(
        &self,
        scope: Scope,
        before: &FullRevision,
        after: &FullRevision,
        until_now: bool,
    ) -> Result<Vec<PieceDiff>> {
        let then = self.pieces_of(before).await?;
        let now = match until_now && !is_deletion(after) {
            true => self.pieces_now(scope, &after.entity).await?,
            false => self.pieces_of(after).await?,
        };
        let keys: BTreeSet<&PieceKey> = then.keys().chain(now.keys()).collect();
        let mut diffs = Vec::new();
        for key in keys {
            let (kind, name, scope) = key.clone();
            let (from, to) = match (then.get(key), now.get(key)) {
                // No history has it any more.
                (Some(None), _) | (_, Some(None)) => continue,
                (from, to) => (from.and_then(Option::as_ref), to.and_then(Option::as_ref)),
            };
            if from.zip(to).is_some_and(|(from, to)| same(from, to)) {
                continue;
            }
            let set = |side: Option<&AnyEntity>| side.map(fields).unwrap_or_default();
            let toml = |side: Option<&AnyEntity>| match side {
                Some(entity) => toml_of(std::slice::from_ref(entity)),
                None => Ok(String::new()),
            };
            let fields = differing(&set(from), &set(to));
            diffs.push(PieceDiff { kind, name, scope, fields, from_toml: toml(from)?, to_toml: toml(to)? });
        }
        Ok(diffs)
    }

    async fn pieces_of(&self, revision: &FullRevision) -> Result<Pieces> {
        if is_deletion(revision) {
            return Ok(Pieces::new());
        }
        Ok(self.scopes.pieces_then(revision).await?.into_iter().collect())
    }

    /// Everything that an entity refers to now.
    async fn pieces_now(&self, scope: Scope, entity: &AnyEntity) -> Result<Pieces> {
        let (kind, name) = (entity.kind(), entity.name());
        // Histories have no builtins.
        let everything = self.closure(kind, name, scope, |scope| scope != Scope::Builtin).await?;
        let pieces = everything.into_iter().map(|stored| {
            let key = (stored.entity.kind(), stored.entity.name().clone(), stored.meta.scope);
            (key, Some(stored.entity))
        });
        let itself = (kind, name.clone(), scope);
        Ok(pieces.filter(|(key, _)| *key != itself).collect())
    }
}

/// Two revisions of one entity.
struct Compared {
    scope: Scope,
    before: FullRevision,
    after: FullRevision,
    /// True if the pieces of the newer side are the current ones, which may have changed since.
    until_now: bool,
}

/// Pieces with their definitions, or `None` for what no history has.
type Pieces = BTreeMap<PieceKey, Option<AnyEntity>>;

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
