//! Rollback: restores an earlier revision, with or without its pieces.

use async_recursion::async_recursion as boxed;
use persona::{AnyEntity, Kind, Name, Rename, Scope};
use store::{Action, Forgotten, FullRevision, Referred, RevisionRef};

use crate::diff::same;
use crate::inputs::Rollback;
use crate::outputs::{EntityRef, PieceThen, RenamedPiece, RolledBack, ScopedEntityRef, Written};
use crate::{Author, Error, HistoryError, Library, Result};

/// A prefix of names that no entity has, for pieces that swapped names.
const BETWEEN: &str = "between-two-names-";

/// An earlier revision with its pieces, under their current names.
struct PastState {
    entity: AnyEntity,
    pieces: Vec<PieceThere>,
    renamed: Vec<RenamedPiece>,
    forgotten: Vec<ScopedEntityRef>,
}

struct PieceThere {
    entity: AnyEntity,
    /// Its scope and revision then.
    known: PieceThen,
    /// True if it has not changed since.
    as_then: bool,
}

impl Library {
    /// Restores an earlier revision as a new one. A deleted entity comes back with its tags. With
    /// `with_pieces`, its pieces of the same scope are restored too; those of other scopes stay,
    /// because other entities use them.
    #[boxed]
    pub async fn rollback(&self, author: &Author, input: Rollback) -> Result<RolledBack> {
        let Rollback { kind, name, scope, revision, with_pieces, message, if_revision } = input;
        let (scope, revision) = self.revision(kind, &name, scope, &revision.parse()).await?;
        let number = revision.about.reference();
        let PastState { entity, pieces, renamed, forgotten } = self.as_it_was(&name, scope, revision).await?;
        if let Some(piece) = forgotten.iter().find(|piece| with_pieces && piece.scope == scope) {
            return Err(HistoryError::PieceForgotten {
                kind,
                name,
                revision: number.to_string(),
                piece_kind: piece.kind,
                piece: piece.name.clone(),
            }
            .into());
        }
        let (back, differing): (Vec<PieceThere>, Vec<PieceThere>) = pieces
            .into_iter()
            .filter(|piece| !piece.as_then)
            .partition(|piece| with_pieces && piece.known.scope == scope);
        let message = message.unwrap_or_else(|| match back.is_empty() {
            true => format!("back to revision {number}"),
            false => format!("{} {name} goes back to revision {number}", kind.spoken()),
        });
        let mut restored = Vec::new();
        let mut entities = Vec::new();
        for PieceThere { entity, known, .. } in back {
            restored.push(EntityRef { kind: known.kind, name: known.name });
            entities.push(entity);
        }
        let differing: Vec<PieceThen> = differing.into_iter().map(|piece| piece.known).collect();
        let mut write = self.scopes.write(scope, author.because(Some(message))?).await?;
        let mut copied = Vec::new();
        let saved = async {
            self.put_all(&mut write, entities, Action::Restore, &mut copied, ("restore", &mut |_| ()))
                .await?;
            self.put_any(&mut write, &entity, Action::Restore, if_revision, &mut copied).await
        };
        let named = format!("revision {number} of {} {:?}", kind.spoken(), name.as_str());
        let written = saved.await.map_err(|error| needs_first(error, &named, scope, &differing))?;
        if written.changed || !restored.is_empty() {
            write.commit().await?;
        }
        Ok(RolledBack { written: Written { copied, ..written }, restored, renamed, differing, forgotten })
    }

    /// An earlier revision with its pieces. Renamed pieces have their current names.
    async fn as_it_was(&self, name: &Name, scope: Scope, revision: FullRevision) -> Result<PastState> {
        let (referred, forgotten) = self.scopes.referred(&revision).await?;
        let place = |Forgotten { scope, kind, name }| ScopedEntityRef { scope, kind, name };
        let forgotten = forgotten.into_iter().map(place).collect();
        let rename = |Referred { scope, then, name_now }: &Referred| {
            let (kind, old) = (then.entity.kind(), then.entity.name());
            let new = name_now.as_ref().filter(|new| *new != old)?;
            Some(Rename { kind, old: old.clone(), new: new.clone(), scope: *scope })
        };
        let renames = Renames {
            all: referred.iter().filter_map(rename).collect(),
            known: referred
                .iter()
                .map(|it| (it.then.entity.kind(), it.then.entity.name().clone(), it.scope))
                .collect(),
        };
        let mut entity = revision.entity;
        // Another entity may have its old name now.
        entity.set_name(name.clone());
        let renamed = renames
            .follow(&mut entity, scope)
            .into_iter()
            .map(|Rename { kind, old, new, .. }| RenamedPiece {
                kind: *kind,
                name: new.clone(),
                was: old.clone(),
            })
            .collect();
        let mut pieces = Vec::new();
        for Referred { scope, then, .. } in referred {
            pieces.push(self.piece_there(scope, then, &renames).await?);
        }
        Ok(PastState { entity, pieces, renamed, forgotten })
    }

    async fn piece_there(&self, scope: Scope, then: FullRevision, renames: &Renames) -> Result<PieceThere> {
        let FullRevision { mut entity, about, .. } = then;
        let kind = entity.kind();
        let own =
            |rename: &&Rename| rename.kind == kind && rename.scope == scope && rename.old == *entity.name();
        if let Some(rename) = renames.all.iter().find(own) {
            entity.set_name(rename.new.clone());
        }
        renames.follow(&mut entity, scope);
        let name = entity.name().clone();
        let now = self.scopes.get_any(kind, &name, Some(scope)).await?;
        let deleted = now.is_none();
        let as_then = now.is_some_and(|now| same(&now.entity, &entity));
        let reference = self.scopes.reference(scope, kind, &name, &about).await?;
        let number = RevisionRef::Number(about.revision);
        let ask_for = (reference != number).then(|| reference.to_string());
        let known = PieceThen { scope, kind, name, revision: about.revision, ask_for, deleted };
        Ok(PieceThere { entity, known, as_then })
    }
}

/// The renames of pieces since a revision.
struct Renames {
    all: Vec<Rename>,
    /// Every piece of the revision, with its name then and its scope.
    known: Vec<(Kind, Name, Scope)>,
}

impl Renames {
    /// Applies the renames to the references of an entity, and returns those that matched. The renames
    /// apply at once, because pieces may have swapped names.
    fn follow(&self, entity: &mut AnyEntity, scope: Scope) -> Vec<&Rename> {
        let mut followed = Vec::new();
        for (rename, place) in self.all.iter().filter(|rename| self.is_meant(rename, scope)).zip(0..) {
            let Ok(between) = Name::parse(&format!("{BETWEEN}{place}")) else { continue };
            if entity.follow_rename(&Rename { new: between.clone(), ..rename.clone() }) {
                followed.push((rename, between));
            }
        }
        for (rename, between) in &followed {
            entity.follow_rename(&Rename { old: between.clone(), ..(*rename).clone() });
        }
        followed.into_iter().map(|(rename, _)| rename).collect()
    }

    /// True if an entity of `scope` means the renamed piece by its old name, and not a piece of a scope
    /// between them.
    fn is_meant(&self, rename: &Rename, scope: Scope) -> bool {
        let between = |(kind, name, of): &(Kind, Name, Scope)| {
            *kind == rename.kind && *name == rename.old && *of > rename.scope && *of <= scope
        };
        rename.scope <= scope && !self.known.iter().any(between)
    }
}

/// Turns the error of a missing piece into one that names the revision to restore.
fn needs_first(error: Error, named: &str, scope: Scope, differing: &[PieceThen]) -> Error {
    let Error::NotFound { kind, name, .. } = &error else { return error };
    let Some(piece) = differing.iter().find(|piece| piece.kind == *kind && piece.name == *name) else {
        return error;
    };
    let PieceThen { scope: of, revision, ask_for, .. } = piece;
    HistoryError::PieceGone {
        referrer: named.to_owned(),
        kind: *kind,
        piece: name.clone(),
        scope: *of,
        revision: ask_for.clone().unwrap_or_else(|| revision.to_string()),
        // Pieces of other scopes are not restored with it.
        together: *of == scope,
    }
    .into()
}
