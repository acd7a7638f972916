//! Going back: an earlier revision, made the newest, with the pieces that it knew or without.

use persona::{AnyEntity, Kind, Name, Rename, Scope};
use store::{Action, FullRevision, Referred};

use crate::diff::same;
use crate::inputs::Rollback;
use crate::outputs::{Piece, PieceThen, RenamedPiece, RolledBack, Written};
use crate::{Author, Error, Library, Result};

/// What an earlier revision was made of, under the names that its pieces have now.
struct Then {
    entity: AnyEntity,
    pieces: Vec<PieceThere>,
    renamed: Vec<RenamedPiece>,
}

struct PieceThere {
    entity: AnyEntity,
    /// Where it was, and as which revision.
    known: PieceThen,
    /// Whether it is as it was.
    as_then: bool,
}

impl Library {
    /// Puts an entity back to what it was; that is a new revision. One that was deleted comes back
    /// as the one that it was, with its tags. Its pieces go back too where that is asked for, as far
    /// as they are of the same scope: those of other scopes are others' as well.
    pub async fn rollback(&self, author: &Author, input: Rollback) -> Result<RolledBack> {
        let Rollback { kind, name, scope, revision, with_pieces, message, if_revision } = input;
        let (scope, revision) = self.revision(kind, &name, scope, &revision.parse()).await?;
        let number = revision.about.reference();
        let Then { entity, pieces, renamed } = self.as_it_was(&name, revision).await?;
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
            restored.push(Piece { kind: known.kind, name: known.name });
            entities.push(entity);
        }
        let differing: Vec<PieceThen> = differing.into_iter().map(|piece| piece.known).collect();
        let mut write = self.scopes.write(scope, author.because(Some(message))?).await?;
        let mut copied = Vec::new();
        let saved = async {
            self.put_all(&mut write, entities, Action::Restore).await?;
            self.put_any(&mut write, &entity, Action::Restore, if_revision, &mut copied).await
        };
        let named = format!("revision {number} of {} {:?}", kind.spoken(), name.as_str());
        let written = saved.await.map_err(|error| needs_first(error, &named, &differing))?;
        if written.changed || !restored.is_empty() {
            write.commit().await?;
        }
        Ok(RolledBack { written: Written { copied, ..written }, restored, renamed, differing })
    }

    /// An earlier revision with its pieces. What has another name now is meant by that.
    async fn as_it_was(&self, name: &Name, revision: FullRevision) -> Result<Then> {
        let referred = self.scopes.referred(&revision).await?;
        let mut renames = Vec::new();
        for Referred { scope, then, newest_name } in &referred {
            let (kind, old) = (then.entity.kind(), then.entity.name());
            if newest_name != old
                && !self.has(kind, old, *scope).await?
                && self.has(kind, newest_name, *scope).await?
            {
                renames.push(Rename { kind, old: old.clone(), new: newest_name.clone(), scope: *scope });
            }
        }
        let mut entity = revision.entity;
        // What it was called then may be somebody else's name now.
        entity.set_name(name.clone());
        let mut renamed = Vec::new();
        for rename in &renames {
            if entity.follow_rename(rename) {
                let Rename { kind, old, new, .. } = rename.clone();
                renamed.push(RenamedPiece { kind, name: new, was: old });
            }
        }
        let mut pieces = Vec::new();
        for Referred { scope, then, .. } in referred {
            pieces.push(self.piece_there(scope, then, &renames).await?);
        }
        Ok(Then { entity, pieces, renamed })
    }

    async fn piece_there(&self, scope: Scope, then: FullRevision, renames: &[Rename]) -> Result<PieceThere> {
        let FullRevision { mut entity, about, .. } = then;
        let kind = entity.kind();
        let own =
            |rename: &&Rename| rename.kind == kind && rename.scope == scope && rename.old == *entity.name();
        if let Some(rename) = renames.iter().find(own) {
            entity.set_name(rename.new.clone());
        }
        for rename in renames {
            entity.follow_rename(rename);
        }
        let now = self.scopes.get_any(kind, entity.name(), Some(scope)).await?;
        let known = PieceThen {
            scope,
            kind,
            name: entity.name().clone(),
            revision: about.revision,
            deleted: now.is_none(),
        };
        let as_then = now.is_some_and(|now| same(&now.entity, &entity));
        Ok(PieceThere { entity, known, as_then })
    }

    async fn has(&self, kind: Kind, name: &Name, scope: Scope) -> Result<bool> {
        Ok(self.scopes.get_any(kind, name, Some(scope)).await?.is_some())
    }
}

/// A piece that is not there any more is told with the revision that brings it back.
fn needs_first(error: Error, named: &str, differing: &[PieceThen]) -> Error {
    let Error::Missing { kind, name, hint } = error else { return error };
    let Some(piece) = differing.iter().find(|piece| piece.kind == kind && piece.name == name) else {
        return Error::Missing { kind, name, hint };
    };
    let (kind, name) = (kind.spoken(), name.as_str());
    let PieceThen { scope, revision, .. } = piece;
    Error::Absent(format!(
        "{named} refers to {kind} {name:?} of {scope}, which is not there now; roll that back to its revision \
         {revision} first, or repeat with with_pieces"
    ))
}
